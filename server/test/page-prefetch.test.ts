import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { account, connected, freshDatabase, insertProducts, type TestAccount } from './database.ts'
import { passes } from './eventually.ts'
import { productReads } from './product-reads.ts'
import { startTestService, type TestService } from './service.ts'

/** The next page is read while a client receives this one. */

const products = '/api/v1/inventory/product'
let client: pg.Client
let service: TestService
let acme: TestAccount
let accounts = 0

beforeAll(async () => {
  const url = await freshDatabase()
  client = await connected(url)
  await client.query('create extension if not exists pg_stat_statements')
  service = await startTestService(url)
})
afterAll(async () => {
  await service.close()
  await client.end()
})
beforeEach(async () => {
  acme = await account(client, `acme-${++accounts}`)
  await insertProducts(client, acme, 1_500)
  // Only of this database: other tests use the same server.
  await client.query(
    'select pg_stat_statements_reset(0, oid, 0) from pg_database where datname = current_database()',
  )
})

async function idsOf(page: number, query = ''): Promise<number[]> {
  const { status, body } = await service.request(
    acme,
    'GET',
    `${products}?limit=300&page=${page}&fields=id${query}`,
  )
  expect(status).toBe(200)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a test fails if it is not true
  return (body as { data: { id: number }[] }).data.map(({ id }) => id)
}

const expected = (page: number) => Array.from({ length: 300 }, (_, i) => (page - 1) * 300 + i + 1)

const reads = () => productReads(client)

it.each(['', '&filter=list_price>=0'])('reads each page once, and the next one ahead%s', async (filter) => {
  expect(await idsOf(1, filter)).toEqual(expected(1))
  expect(await reads()).toBe(1)
  expect(await idsOf(2, filter)).toEqual(expected(2))
  // The third page has not been requested yet.
  await passes(async () => expect(await reads()).toBe(3))
  expect(await idsOf(3, filter)).toEqual(expected(3))
  await passes(async () => expect(await reads()).toBe(4))
  expect(await idsOf(4, filter)).toEqual(expected(4))
  await passes(async () => expect(await reads()).toBe(5))
  // It is the last one.
  expect(await idsOf(5, filter)).toEqual(expected(5))
  expect(await idsOf(6, filter)).toEqual([])
  expect(await reads()).toBe(5)
})

it('does not use a page that was read ahead of a write', async () => {
  await idsOf(1)
  await idsOf(2)
  await passes(async () => expect(await reads()).toBe(3))
  const { status } = await service.request(acme, 'DELETE', `${products}/700`)
  expect(status).toBe(204)
  expect(await idsOf(3)).toEqual([...expected(3).filter((id) => id !== 700), 901])
})

it('does not read ahead of a client that jumps', async () => {
  for (const page of [1, 3, 2, 5]) expect(await idsOf(page)).toEqual(expected(page))
  expect(await reads()).toBe(4)
})
