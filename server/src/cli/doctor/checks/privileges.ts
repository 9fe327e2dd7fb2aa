import type pg from 'pg'
import { resources } from '../../../catalog/resources.ts'
import { type Config, writeRoleOf } from '../../../config/config.ts'
import { targetOf } from '../../database/database-fault.ts'
import { type Finding, ok, problem } from '../finding.ts'

type Privilege = 'select' | 'insert' | 'update' | 'delete' | 'truncate'

/** What one role may do: exactly what requests need, as the migrations grant it. */
interface Rights {
  /** The role of the migrations that has these rights. */
  readonly grantee: string
  readonly tables: Readonly<Record<string, readonly Privilege[]>>
  /** In these tables requests may update only these columns: never the account of a tally, nor the hash or scopes of a key. */
  readonly updatableColumns: Readonly<Record<string, readonly string[]>>
  /** Batches stage rows in a temporary table. PostgreSQL grants this to everybody, but some operators revoke it. */
  readonly createsTemporaryTables: boolean
}

const records = Object.keys(resources)
const images = records.map((name) => `${name}_before`)
const keys = records.map((name) => `${name}_key`)
const values = ['value_index', ...records.map((name) => `${name}_value`)]
const forAll = (names: readonly string[], granted: readonly Privilege[]) =>
  Object.fromEntries(names.map((name) => [name, granted]))

/** Connections for reads can change nothing at all. */
const reading: Rights = {
  grantee: 'quartermaster_server',
  tables: forAll(
    'account api_key cors_origins tally audit field request usage webhook delivery tombstone erasure migration'
      .split(' ')
      .concat(records, images, keys, values),
    ['select'],
  ),
  updatableColumns: {},
  createsTemporaryTables: false,
}

const tallyColumns =
  'version total last_id lineages lineage_starts writer_epoch writer_xid changes_from images_from own_last_id written_at schema'

/** Also reads what connections for reads do: without `QUARTERMASTER_DATABASE_ROLE`, one login does both. */
const writing: Rights = {
  grantee: 'quartermaster_writer',
  tables: {
    ...reading.tables,
    api_key: ['select', 'insert', 'delete'],
    audit: ['select', 'insert'],
    ...forAll(['cors_origins', 'erasure'], ['select', 'insert', 'update']),
    ...forAll(
      ['request', 'delivery', 'tombstone', 'field', ...images, ...keys, ...values],
      ['select', 'insert', 'delete'],
    ),
    ...forAll([...records, 'usage', 'idempotency', 'webhook'], ['select', 'insert', 'update', 'delete']),
  },
  updatableColumns: {
    request: ['path', 'query', 'filter', 'error_detail'],
    tally: tallyColumns.split(' '),
    api_key: ['expires_at', 'revoked_at', 'rotated_to', 'last_used_on'],
    field: ['label', 'state', 'dropped_at', 'unique_state', 'build_after', 'built_to'],
    value_index: ['version', 'id'],
  },
  createsTemporaryTables: true,
}

/** Only operators use them, as the owner. */
const operatorTables = ['account_deletion', 'operator_token', 'operator_audit']

/** Every table: a privilege on one that requests do not need is superfluous. */
export const tableNames = [...Object.keys(writing.tables), ...operatorTables]

/** With a missing privilege requests fail; a superfluous one makes a defect of the service more dangerous. */
export async function checkPrivileges(client: pg.Client, config: Config): Promise<Finding[]> {
  const login = config.DATABASE_URL === undefined ? '' : targetOf(config.DATABASE_URL).user
  const role = config.QUARTERMASTER_DATABASE_ROLE || login
  const writeRole = writeRoleOf(config) || login
  if (role === writeRole) return await checkRole(client, config, role, writing)
  return [
    ...(await checkRole(client, config, role, reading)),
    ...(await checkRole(client, config, writeRole, writing)),
  ]
}

async function checkRole(
  client: pg.Client,
  config: Config,
  role: string,
  rights: Rights,
): Promise<Finding[]> {
  if (role === '') return []
  const attributes = await roleAttributes(client, role)
  if (attributes === undefined) {
    const repair = `create role ${role} nologin; then run quartermaster doctor again, which lists the missing grants`
    return [problem('rights', `There is no role ${role}.`, repair)]
  }
  const findings =
    attributes.superuser || attributes.owner
      ? [tooPowerful(role, attributes.superuser, config)]
      : await privilegeFaults(client, role, rights)
  const served = rights === reading ? 'Requests are' : 'Writes are'
  return findings.length > 0
    ? findings
    : [ok('rights', `${served} served as ${role}, with the privileges they need.`)]
}

async function roleAttributes(
  client: pg.Client,
  role: string,
): Promise<{ superuser: boolean; owner: boolean } | undefined> {
  const { rows } = await client.query<{ superuser: boolean; owner: boolean }>(
    `select r.rolsuper as superuser,
            exists (select from pg_class c where c.oid = any (select to_regclass(name) from unnest($2::text[]) name)
                      and pg_has_role(r.oid, c.relowner, 'usage')) as owner
       from pg_roles r where r.rolname = $1`,
    [role, tableNames],
  )
  return rows[0]
}

function tooPowerful(role: string, superuser: boolean, config: Config): Finding {
  const attribute = superuser ? 'a superuser' : 'the owner of the tables'
  const message = `Requests are served as ${role}, ${attribute}: it has far more privileges than they need.`
  return config.QUARTERMASTER_DATABASE_ROLE === reading.grantee
    ? problem('rights', message, `alter role ${role} nosuperuser; then change the owner of its tables`)
    : problem('rights', message, `export QUARTERMASTER_DATABASE_ROLE=${reading.grantee}`)
}

/** For a custom role, one problem for all missing privileges: a single grant adds them. */
async function privilegeFaults(client: pg.Client, role: string, rights: Rights): Promise<Finding[]> {
  const { lacking, excess } = await privileges(client, role, rights)
  const name = client.escapeIdentifier(role)
  const missing =
    role === rights.grantee || lacking.length === 0
      ? lacking.map((it) =>
          problem('rights', `${role} lacks the privilege ${it}.`, `grant ${it} to ${name};`),
        )
      : [
          problem(
            'rights',
            `${role} lacks ${lacking.length} privileges that requests need, such as ${lacking[0]}.`,
            `grant ${rights.grantee} to ${name};`,
          ),
        ]
  const superfluous = excess.map((it) =>
    problem(
      'rights',
      `${role} has the privilege ${it}, which no request needs.`,
      `revoke ${it} from ${name}, public;`,
    ),
  )
  return [...missing, ...superfluous]
}

/** Privileges as in a grant: `insert on partner`. */
async function privileges(
  client: pg.Client,
  role: string,
  { tables: required, updatableColumns, createsTemporaryTables }: Rights,
): Promise<{ lacking: string[]; excess: string[] }> {
  const { rows: tables } = await client.query<{
    table: string
    privilege: Privilege
    granted: boolean | null
  }>(
    `select t as table, p as privilege, has_table_privilege($1, to_regclass(t), p) as granted
       from unnest($2::text[]) with ordinality a (t, n),
            unnest(array['select', 'insert', 'update', 'delete', 'truncate']) with ordinality b (p, m)
      order by n, m`,
    [role, tableNames],
  )
  const { rows: others } = await client.query<{ privilege: string; granted: boolean }>(
    `select 'connect on database ' || quote_ident(current_database()) as privilege,
            has_database_privilege($1, current_database(), 'connect') as granted
      union all
     select 'temporary on database ' || quote_ident(current_database()),
            not $4 or has_database_privilege($1, current_database(), 'temporary')
      union all
     select 'usage on schema ' || quote_ident(current_schema()), has_schema_privilege($1, current_schema(), 'usage')
      union all
     select 'update (' || c.columns || ') on ' || c.t,
            (select bool_and(has_column_privilege($1, c.t, name, 'update')) from string_to_table(c.columns, ', ') name)
       from unnest($2::text[], $3::text[]) c (t, columns)`,
    [
      role,
      Object.keys(updatableColumns),
      Object.values(updatableColumns).map((columns) => columns.join(', ')),
      createsTemporaryTables,
    ],
  )
  const { rows: columns } = await client.query<{ table: string; privilege: Privilege; columns: string }>(
    `select t as table, p as privilege, string_agg(a.attname, ', ' order by a.attnum) as columns
       from unnest($2::text[]) with ordinality x (t, n)
       join pg_attribute a on a.attrelid = to_regclass(t) and a.attnum > 0 and not a.attisdropped,
            unnest(array['select', 'insert', 'update']) with ordinality b (p, m)
      where has_column_privilege($1, a.attrelid, a.attnum, p) and not has_table_privilege($1, a.attrelid, p)
        and not (p = 'update' and t || '.' || a.attname = any ($3))
      group by n, t, m, p order by n, m`,
    [
      role,
      tableNames,
      Object.entries(updatableColumns).flatMap(([table, names]) => names.map((name) => `${table}.${name}`)),
    ],
  )
  const isRequired = (table: string, privilege: Privilege) => required[table]?.includes(privilege) === true
  const asGrant = ({ table, privilege }: { table: string; privilege: Privilege }) =>
    `${privilege} on ${table}`
  return {
    lacking: [
      ...tables.filter((it) => isRequired(it.table, it.privilege) && it.granted !== true).map(asGrant),
      ...others.filter((it) => !it.granted).map((it) => it.privilege),
    ],
    excess: [
      ...tables.filter((it) => !isRequired(it.table, it.privilege) && it.granted === true).map(asGrant),
      ...columns
        .filter((it) => !isRequired(it.table, it.privilege))
        .map((it) => `${it.privilege} (${it.columns}) on ${it.table}`),
    ],
  }
}
