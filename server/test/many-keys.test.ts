import { expect, it } from 'vitest'
import { limits } from '../src/limits/limits.ts'
import { account } from './database.ts'
import { freshService } from './service.ts'

/** An account with the maximum number of keys, among accounts with two each. */

const { client, service } = await freshService()
await client.query('create extension if not exists pg_stat_statements')
const acme = await account(client, 'acme')
await client.query(`insert into account (name) select 'other-' || g from generate_series(1, 2000) g`)
await client.query(
  `insert into api_key (account_id, key_id, hash, name, scopes, revoked_at)
   select account_id, 'key-' || g, sha256(convert_to(account_id || '-' || g, 'UTF8')), 'test', '{product:read}',
     case when g >= $2::int then now() end
   from account, generate_series(1, case account_id when $1::bigint then $3::int else 2 end) g`,
  [acme.accountId, limits.keysValidMax, limits.keysStoredMax - 1],
)
await client.query('analyze')

async function verificationBlocks(): Promise<{ calls: number; blocks: number }> {
  const { rows } = await client.query<{ calls: string; blocks: string }>(
    `select coalesce(sum(calls), 0) as calls, coalesce(sum(shared_blks_hit + shared_blks_read), 0) as blocks
     from pg_stat_statements s join pg_database d on d.oid = s.dbid
     where d.datname = current_database() and s.query like '%decode(q.hash%'`,
  )
  return { calls: Number(rows[0]?.calls), blocks: Number(rows[0]?.blocks) }
}

it('verifying one key does not read the others', async () => {
  // The first verification on a connection reads the system catalogs, too.
  for (let i = 0; i < 20; i++) await service.request(acme, 'GET', '/api/v1/inventory/product')
  const before = await verificationBlocks()
  for (let i = 0; i < 20; i++) {
    expect((await service.request(acme, 'GET', '/api/v1/inventory/product')).status).toBe(200)
  }
  const after = await verificationBlocks()
  expect(after.calls - before.calls).toBe(20)
  // Three index lookups, of less than 7 blocks each. Reading all keys of the account would be 300 blocks or more.
  expect((after.blocks - before.blocks) / 20).toBeLessThan(20)
})
