import { describe, expect, inject, it } from 'vitest'
import { cloneDatabase } from '../src/cli/database/temporary-postgres.ts'
import { migrate, migrationNames } from '../src/postgres/migrations/migrate.ts'
import { connected } from './database.ts'

/**
 * Processes of the previous version continue to serve while the database is migrated, and a rollback may start them again. So
 * a migration only adds: everything that the previous version reads and writes still exists, and its writes still succeed.
 */

/** What a migration removes although the previous version has it, with the reason why no running process needs it. */
const contractions: Readonly<Record<string, readonly string[]>> = {
  // Since 0008 every write uses quartermaster_writer. The release notes say that older processes must be stopped first.
  '0011_read_only_server': [
    'api_key: DELETE',
    'api_key: INSERT',
    ...['expires_at', 'last_used_on', 'revoked_at', 'rotated_to'].map(
      (column) => `api_key: UPDATE of ${column}`,
    ),
    'audit: INSERT',
    'partner: INSERT',
    'request: DELETE',
    'request: INSERT',
    'idempotency: SELECT',
    ...['idempotency', 'usage'].flatMap((table) => [
      `${table}: DELETE`,
      `${table}: INSERT`,
      `${table}: UPDATE`,
    ]),
    ...['last_id', 'total', 'version'].map((column) => `tally: UPDATE of ${column}`),
  ].map((privilege) => `quartermaster_server, ${privilege} is missing`),
  // Replaced by one that allows every name that the previous version may write, and those of fields of the catalog.
  '0016_keys': [
    "field: CHECK ((name ~ '^x_[a-z][a-z0-9_]{0,58}$'::text)) is missing",
    "field: CHECK (((name ~ '^x_[a-z][a-z0-9_]{0,58}$'::text) OR ((((resource = 'product'::text) AND (name = 'default_code'::text)) OR ((resource = 'partner'::text) AND (name = 'email'::text))) OR ((resource = 'company'::text) AND (name = 'company_code'::text))))) is new",
  ],
  // Replaced by an index of the products that have a value. The previous version finds false by reading the products of the account.
  '0022_present_flags': [
    'CREATE INDEX product_is_rsd_product ON public.product USING btree (account_id, is_rsd_product, id) is missing',
  ],
}

const databaseName = `expands_${process.pid}_${Date.now()}`
const client = await connected(await cloneDatabase(inject('postgresUrl'), databaseName, 'template0'))

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
  readonly required: boolean
  readonly filled: boolean
}

interface Constraint {
  readonly table: string
  readonly definition: string
  readonly columns: readonly string[]
}

interface Schema {
  readonly columns: readonly Column[]
  readonly constraints: readonly Constraint[]
  /** Serving connections have sequential scans off. */
  readonly indexes: readonly string[]
  /** Privileges of the roles of serving connections on tables and columns. */
  readonly privileges: readonly string[]
}

const ours = `c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'migration'`

async function schema(): Promise<Schema> {
  const columns = await client.query<Column>(
    `select c.relname as table, a.attname as column, a.attnotnull as required,
       format_type(a.atttypid, a.atttypmod) || coalesce(' collate ' || (
         select collname from pg_collation where oid = a.attcollation and collname <> 'default'), '') as type,
       a.atthasdef or a.attidentity <> '' as filled
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where ${ours} and a.attnum > 0 and not a.attisdropped`,
  )
  const constraints = await client.query<Constraint>(
    `select c.relname as table, pg_get_constraintdef(k.oid) as definition, array(
       select a.attname::text from pg_attribute a where a.attrelid = k.conrelid and a.attnum = any(k.conkey)) as columns
     from pg_constraint k join pg_class c on c.oid = k.conrelid where ${ours}`,
  )
  const indexes = await client.query<{ definition: string }>(
    `select pg_get_indexdef(i.indexrelid) as definition from pg_index i join pg_class c on c.oid = i.indrelid
     where ${ours} and i.indisvalid`,
  )
  const privileges = await client.query<{ granted: string }>(
    `select format('%s, %s: %s', r.rolname, c.relname, g.privilege_type) as granted
     from pg_class c, aclexplode(c.relacl) g join pg_roles r on r.oid = g.grantee
     where ${ours} and r.rolname in ('quartermaster_server', 'quartermaster_writer')
     union all
     select format('%s, %s: %s of %s', r.rolname, c.relname, g.privilege_type, a.attname)
     from pg_class c join pg_attribute a on a.attrelid = c.oid, aclexplode(a.attacl) g join pg_roles r on r.oid = g.grantee
     where ${ours} and r.rolname in ('quartermaster_server', 'quartermaster_writer')`,
  )
  return {
    columns: columns.rows,
    constraints: constraints.rows,
    indexes: indexes.rows.map(({ definition }) => definition),
    privileges: privileges.rows.map(({ granted }) => granted),
  }
}

/** What the previous version would miss, or why its writes would fail. */
function broken(before: Schema, after: Schema): string[] {
  const faults: string[] = []
  const nameOf = ({ table, column }: Column) => `${table}.${column}`
  const columns = new Map(after.columns.map((one) => [nameOf(one), one]))
  const known = new Set(before.columns.map(nameOf))
  const tables = new Set(before.columns.map(({ table }) => table))
  for (const one of before.columns) {
    const now = columns.get(nameOf(one))
    if (now === undefined) faults.push(`${nameOf(one)} is missing`)
    else if (now.type !== one.type) faults.push(`${nameOf(one)} was ${one.type} and is ${now.type}`)
    else if (now.required && !one.required) faults.push(`${nameOf(one)} must not be null any more`)
    else if (one.required && !now.required) faults.push(`${nameOf(one)} may be null now`)
    else if (one.filled && !now.filled) faults.push(`${nameOf(one)} has no default any more`)
  }
  for (const one of after.columns) {
    if (known.has(nameOf(one)) || !tables.has(one.table) || !one.required || one.filled) continue
    faults.push(`${nameOf(one)} is new and required`)
  }
  const textOf = ({ table, definition }: Constraint) => `${table}: ${definition}`
  const constraintsBefore = new Set(before.constraints.map(textOf))
  const constraintsAfter = new Set(after.constraints.map(textOf))
  for (const text of constraintsBefore) if (!constraintsAfter.has(text)) faults.push(`${text} is missing`)
  for (const one of after.constraints) {
    const concerns = one.columns.some((column) => known.has(`${one.table}.${column}`))
    if (concerns && !constraintsBefore.has(textOf(one))) faults.push(`${textOf(one)} is new`)
  }
  for (const kind of ['indexes', 'privileges'] as const) {
    for (const one of before[kind]) if (!after[kind].includes(one)) faults.push(`${one} is missing`)
  }
  return faults
}

describe('a migration removes nothing that the previous version needs', () => {
  it.each(migrationNames)('%s', async (name) => {
    const before = await schema()
    const connection = new URL(`postgres://${client.user}@${client.host}:${client.port}/${client.database}`)
    expect(await migrate(connection.href, { count: 1 })).toEqual([name])
    expect(broken(before, await schema()).toSorted()).toEqual([...(contractions[name] ?? [])].toSorted())
  })
})

describe('every change that would break the previous version is detected', () => {
  it.each([
    ['alter table usage drop column unlogged', 'usage.unlogged is missing'],
    ['alter table usage rename column errors to failures', 'usage.errors is missing'],
    ['alter table request rename to requests', 'request.cached is missing'],
    ['alter table usage alter column requests type integer', 'usage.requests was bigint and is integer'],
    ['alter table partner alter column email type text', 'partner.email was text collate C and is text'],
    ['alter table partner alter column email set not null', 'partner.email must not be null any more'],
    ['alter table partner alter column name drop not null', 'partner.name may be null now'],
    ['alter table account alter column status drop default', 'account.status has no default any more'],
    ['alter table request add column host text not null', 'request.host is new and required'],
    ["alter table request add check (method <> 'PUT')", "request: CHECK ((method <> 'PUT'::text)) is new"],
    ['alter table partner add unique (account_id, email)', 'partner: UNIQUE (account_id, email) is new'],
    [
      'alter table idempotency drop constraint idempotency_pkey',
      'idempotency: PRIMARY KEY (account_id, key) is missing',
    ],
    ['drop index product_name', /product_name .* is missing/],
    [
      'revoke select on partner from quartermaster_server',
      'quartermaster_server, partner: SELECT is missing',
    ],
    [
      'revoke insert on partner from quartermaster_writer',
      'quartermaster_writer, partner: INSERT is missing',
    ],
    [
      'revoke update (total) on tally from quartermaster_writer',
      'quartermaster_writer, tally: UPDATE of total is missing',
    ],
  ])('%s', async (text, fault) => {
    const before = await schema()
    await client.query('begin')
    await client.query(text)
    const faults = broken(before, await schema())
    await client.query('rollback')
    expect(faults).toContainEqual(typeof fault === 'string' ? fault : expect.stringMatching(fault))
  })

  it.each([
    'alter table request add column host text',
    "alter table request add column host text not null default ''",
    'alter table request add column host text check (char_length(host) < 300)',
    'create table note (account_id bigint not null, id bigint not null, primary key (account_id, id))',
    'create index partner_name_length on partner (account_id, char_length(name), id)',
    'grant select on account to quartermaster_server',
  ])('except: %s', async (text) => {
    const before = await schema()
    await client.query('begin')
    await client.query(text)
    const faults = broken(before, await schema())
    await client.query('rollback')
    expect(faults).toEqual([])
  })
})

it('usage is added up by the statement before migration 0007, and by the current one', async () => {
  const add = `insert into usage as u (account_id, per, at, key_id, route, requests, errors, unlogged, classes, counts)
    values (1, 'day', '2026-01-01', 'k', 'GET /', 2, 1, 0, '{3}', '{2}')
    on conflict (account_id, per, at, key_id, route) do update
    set requests = u.requests + excluded.requests, errors = u.errors + excluded.errors`
  await client.query('set role quartermaster_writer')
  await client.query(add)
  await client.query(add)
  const { rows } = await client.query('select requests::int, errors::int, batches from usage')
  await client.query('reset role')
  expect(rows).toEqual([{ requests: 4, errors: 2, batches: [] }])
})
