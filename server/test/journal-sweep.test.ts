import { expect, it } from 'vitest'
import { sweepStatements } from '../src/activity/retention.ts'
import { changes } from './changes-fixture.ts'
import { account, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { freshService } from './service.ts'

/** What must not stay in an account that writes nothing more. */

const products = '/api/v1/inventory/product'

const { client, service } = await freshService({}, { journalSweepMs: 50 })
const quiet = await account(client, 'quiet')
const recent = await account(client, 'recent')

async function images({ accountId }: TestAccount): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::int as count from product_before where account_id = $1',
    [accountId],
  )
  return rows[0]?.count ?? -1
}

async function total(by: TestAccount): Promise<number> {
  const response = await service.request(by, 'GET', `${products}?limit=1&filter=categ_id=1`)
  const { meta }: { meta: { total: number } } = JSON.parse(JSON.stringify(response.body))
  return meta.total
}

it('the images of deleted records are deleted, and nothing else changes', async () => {
  for (const by of [quiet, recent]) {
    for (const name of ['One', 'Two', 'Three', 'Four'])
      expect((await service.post(by, products, { name, categ_id: 1 })).status).toBe(201)
    expect(await total(by)).toBe(4)
  }
  const before = await changes(service, quiet, { fields: 'name' })
  for (const by of [quiet, recent]) {
    expect((await service.request(by, 'DELETE', `${products}/1`)).status).toBe(204)
    const changed = { body: '{"categ_id":2}', headers: { 'content-type': 'application/json' } }
    expect((await service.request(by, 'PATCH', `${products}/2`, changed)).status).toBe(200)
  }
  expect([await images(quiet), await images(recent)]).toEqual([2, 2])
  await client.query(`update product_before set at = now() - interval '16 minutes' where account_id = $1`, [
    quiet.accountId,
  ])
  await eventually(async () => (await images(quiet)) === 0)
  expect(await images(recent)).toBe(2)
  // A total that was cached before the images cannot be carried across them, and is counted.
  expect(await total(quiet)).toBe(2)
  expect(await total(recent)).toBe(2)
  const after = await changes(service, quiet, { since: before.cursor, fields: 'name' })
  expect(after.data.map(({ change, id }) => [change, id])).toEqual([
    ['deleted', 1],
    ['updated', 2],
  ])
  expect((await service.post(quiet, products, { name: 'Five', categ_id: 1 })).status).toBe(201)
  expect(await total(quiet)).toBe(3)
})

it('expired tombstones are deleted, also without images, and only cursors before them expire', async () => {
  const tombstones = async ({ accountId }: TestAccount) => {
    const { rows } = await client.query<{ id: string }>(
      `select id from tombstone where account_id = $1 and resource = 'product' order by id`,
      [accountId],
    )
    return rows.map(({ id }) => Number(id))
  }
  const [long, kept] = [await account(client, 'long-quiet'), await account(client, 'kept')]
  const cursors: string[] = []
  for (const by of [long, kept]) {
    for (const name of ['One', 'Two', 'Three'])
      expect((await service.post(by, products, { name })).status).toBe(201)
    cursors.push((await changes(service, by, { fields: 'name' })).cursor)
    expect((await service.request(by, 'DELETE', `${products}/1`)).status).toBe(204)
  }
  const between = await changes(service, long, { fields: 'name' })
  expect((await service.request(long, 'DELETE', `${products}/2`)).status).toBe(204)
  await client.query('delete from product_before where account_id = any($1)', [
    [long.accountId, kept.accountId],
  ])
  const age =
    'update tombstone set at = now() - make_interval(days => $2::int) where account_id = $1 and id = 1'
  await client.query(age, [long.accountId, 31])
  await client.query(age, [kept.accountId, 29])
  await eventually(async () => (await tombstones(long)).join() === '2')
  expect(await tombstones(kept)).toEqual([1])
  const since = (by: TestAccount, cursor: string | undefined) =>
    service.request(by, 'GET', `${products}/changes?fields=id&since=${cursor}`)
  expect(await since(long, cursors[0])).toMatchObject({ status: 410, body: { code: 'cursor_expired' } })
  expect(await since(long, between.cursor)).toMatchObject({
    status: 200,
    body: { data: [{ change: 'deleted', id: 2 }] },
  })
  expect(await since(kept, cursors[1])).toMatchObject({
    status: 200,
    body: { data: [{ change: 'deleted', id: 1 }] },
  })
})

it('results of idempotent writes are deleted after their 24 hours', async () => {
  const insert = `insert into idempotency (account_id, key, request_hash, record_id, created_at) values ($1, $2, '', 1, now() - $3::interval)`
  await client.query(insert, [quiet.accountId, 'old', '25 hours'])
  await client.query(insert, [quiet.accountId, 'new', '23 hours'])
  for (const { text, values } of sweepStatements([quiet.accountId])) await client.query(text, [...values])
  const { rows } = await client.query('select key from idempotency where account_id = $1', [quiet.accountId])
  expect(rows).toEqual([{ key: 'new' }])
})
