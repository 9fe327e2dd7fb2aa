import type pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { account, connected, freshDatabase } from './database.ts'

/** Each role can do what requests need, and nothing else. */

const url = await freshDatabase()
const client = await connected(url)
await account(client, 'acme')

/** s: select, i: insert, u: update, d: delete; columns that may be updated if it is not the whole row. */
const needed: Readonly<Record<string, readonly [reads: string, writes: string, columns?: string]>> = {
  account: ['s', 's'],
  cors_origins: ['s', 'siu'],
  api_key: ['s', 'sid', 'expires_at revoked_at rotated_to last_used_on'],
  tally: [
    's',
    's',
    'version total last_id lineages lineage_starts writer_epoch writer_xid changes_from images_from own_last_id written_at schema',
  ],
  field: ['s', 'sid', 'label state dropped_at unique_state build_after built_to'],
  product: ['s', 'siud'],
  partner: ['s', 'siud'],
  company: ['s', 'siud'],
  tombstone: ['s', 'sid'],
  erasure: ['s', 'siu'],
  product_before: ['s', 'sid'],
  product_key: ['s', 'sid'],
  partner_key: ['s', 'sid'],
  company_key: ['s', 'sid'],
  product_value: ['s', 'sid'],
  partner_value: ['s', 'sid'],
  company_value: ['s', 'sid'],
  value_index: ['s', 'sid', 'version id'],
  partner_before: ['s', 'sid'],
  company_before: ['s', 'sid'],
  idempotency: ['', 'siud'],
  audit: ['s', 'si'],
  request: ['s', 'sid', 'path query filter error_detail'],
  usage: ['s', 'siud'],
  webhook: ['s', 'siud'],
  delivery: ['s', 'sid'],
  account_deletion: ['', ''],
  operator_token: ['', ''],
  operator_audit: ['', ''],
  migration: ['s', 's'],
}

const letters: Readonly<Record<string, string>> = { s: 'SELECT', i: 'INSERT', u: 'UPDATE', d: 'DELETE' }

it('the grants in the catalog are exactly those of the table', async () => {
  const { rows } = await client.query<{ granted: string }>(
    `with roles as (select oid, rolname from pg_roles union all select 0, 'public'),
      ours as (select * from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S', 'f'))
     select format('%s: %s on %s', r.rolname, g.privilege_type, c.relname) as granted
     from ours c, aclexplode(c.relacl) g join roles r on r.oid = g.grantee where g.grantee <> c.relowner
     union all
     select format('%s: %s on %s.%s', r.rolname, g.privilege_type, c.relname, a.attname)
     from ours c join pg_attribute a on a.attrelid = c.oid, aclexplode(a.attacl) g join roles r on r.oid = g.grantee`,
  )
  const expected = Object.entries(needed).flatMap(([table, [reads, writes, columns]]) => [
    ...reads.split('').map((one) => `quartermaster_server: ${letters[one]} on ${table}`),
    ...writes.split('').map((one) => `quartermaster_writer: ${letters[one]} on ${table}`),
    ...(columns?.split(' ') ?? []).map((name) => `quartermaster_writer: UPDATE on ${table}.${name}`),
  ])
  expect(rows.map(({ granted }) => granted).toSorted()).toEqual(expected.toSorted())
})

it('the table has every table, and no function runs with the rights of its owner', async () => {
  const tables = await client.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
  )
  expect(tables.rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(needed).toSorted())
  const functions = await client.query('select proname from pg_proc where prosecdef')
  expect(functions.rows).toEqual([])
})

it('neither role logs in, has an attribute, is a member of another role, or creates objects', async () => {
  const { rows } = await client.query(
    `select rolname, rolcanlogin or rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls as can,
       exists (select from pg_auth_members m where m.member = r.oid) as inherits,
       has_schema_privilege(r.oid, 'public', 'create') or has_database_privilege(r.oid, current_database(), 'create') as creates
     from pg_roles r where rolname like 'quartermaster\\_%' order by 1`,
  )
  const none = { can: false, inherits: false, creates: false }
  expect(rows).toEqual([
    { rolname: 'quartermaster_server', ...none },
    { rolname: 'quartermaster_writer', ...none },
  ])
})

describe.each([
  [
    'quartermaster_server',
    [
      `insert into api_key (account_id, key_id, hash, name, scopes) values (1, 'x', sha256('x'), 'x', '{account:manage}')`,
      `update api_key set revoked_at = null`,
      `delete from api_key`,
      `insert into audit (account_id, id, action, subject, actor, actor_id) values (1, 'x', 'key.create', 'x', 'key', 'x')`,
      `delete from request`,
      `insert into request (account_id) values (1)`,
      `delete from usage`,
      `update tally set version = version + 1`,
      `select * from idempotency`,
      `insert into cors_origins (account_id, origins) values (1, '{https://evil.example}')`,
      `insert into partner (account_id, id, version) values (1, 1, 1)`,
      `update webhook set url = 'https://evil.example'`,
    ],
  ],
  [
    'quartermaster_writer',
    [
      `insert into account (name) values ('evil')`,
      `update account set status = 'suspended'`,
      `update api_key set scopes = '{account:manage}'`,
      `update api_key set hash = sha256('x')`,
      `update audit set details = 'x'`,
      `delete from audit`,
      `delete from cors_origins`,
      `update tally set account_id = 2`,
      `delete from tally`,
      `truncate product`,
      `drop table product_before`,
      `update tombstone set version = 0`,
      `alter table audit disable row level security`,
      `create table t ()`,
      `select pg_read_file('/etc/passwd')`,
    ],
  ],
])('%s', (role, statements) => {
  let restricted: pg.Client
  beforeAll(async () => {
    restricted = await connected(url)
    await restricted.query(`set role ${role}`)
  })

  it.each(statements)('may not %s', async (text) => {
    await expect(restricted.query(text)).rejects.toThrow(/permission denied|must be owner/)
  })
})
