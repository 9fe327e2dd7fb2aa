import { expect, it } from 'vitest'
import { connected, freshDatabase } from './database.ts'

/** What the schema must satisfy so that `create_distributed_table(…, 'account_id')` is all that Citus needs. */

const client = await connected(await freshDatabase())

const accountTables = [
  'api_key',
  'audit',
  'company',
  'cors_origins',
  'field',
  'idempotency',
  'tombstone',
  'webhook',
  'delivery',
  'erasure',
  'product_before',
  'partner_before',
  'company_before',
  'product_key',
  'partner_key',
  'company_key',
  'product_value',
  'partner_value',
  'company_value',
  'value_index',
  'partner',
  'product',
  'request',
  'tally',
  'usage',
]

/** The operator's, without data of accounts: on Citus they stay on the coordinator. */
const operatorTables = ['account_deletion', 'operator_audit', 'operator_token']

async function names(text: string): Promise<string[]> {
  return (await client.query<{ name: string }>(text)).rows.map((row) => row.name)
}

it("every table is either per account, the account directory, the operator's, or the list of migrations", async () => {
  const tables = await names(`select tablename as name from pg_tables where schemaname = 'public' order by 1`)
  expect(tables).toEqual(['account', ...accountTables, ...operatorTables, 'migration'].toSorted())
})

const others = ['account', 'migration', ...operatorTables].map((name) => `'${name}'`).join()
const ownTables = `c.relnamespace = 'public'::regnamespace and c.relname not in (${others})`

it('account_id is the first column of every primary key, unique constraint and index', async () => {
  const indexes = await client.query<{ name: string; first: string }>(
    `select i.indexrelid::regclass::text as name, a.attname as first
     from pg_index i join pg_class c on c.oid = i.indrelid
     left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
     where ${ownTables}`,
  )
  expect(indexes.rows.length).toBeGreaterThan(30)
  expect(indexes.rows.filter((index) => index.first !== 'account_id')).toEqual([])
})

it('account_id is the first column of every foreign key, which references the account directory', async () => {
  const keys = await client.query<{ name: string; first: string; target: string }>(
    `select k.conname as name, a.attname as first, k.confrelid::regclass::text as target
     from pg_constraint k join pg_class c on c.oid = k.conrelid
     join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
     where k.contype = 'f' and ${ownTables}`,
  )
  expect(keys.rows.length).toBeGreaterThan(0)
  expect(keys.rows.filter((key) => key.first !== 'account_id' || key.target !== 'account')).toEqual([])
})

it('no table has a trigger, rule, sequence, row-level policy or default that calls a function', async () => {
  expect(
    await names(
      `select t.tgname as name from pg_trigger t join pg_class c on c.oid = t.tgrelid where not t.tgisinternal and ${ownTables}`,
    ),
  ).toEqual([])
  expect(
    await names(
      `select r.rulename as name from pg_rewrite r join pg_class c on c.oid = r.ev_class where ${ownTables}`,
    ),
  ).toEqual([])
  expect(
    await names(
      `select p.polname as name from pg_policy p join pg_class c on c.oid = p.polrelid where ${ownTables}`,
    ),
  ).toEqual([])
  expect(
    await names(`select a.attname as name from pg_attribute a join pg_class c on c.oid = a.attrelid
                 where (a.attidentity <> '' or a.attgenerated <> '') and c.relkind = 'r' and ${ownTables}`),
  ).toEqual([])
})
