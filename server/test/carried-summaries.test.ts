import { expect, it } from 'vitest'
import { resources } from '../src/catalog/resources.ts'
import type { CachedGroups } from '../src/query/sql/summary-carry.ts'
import { type SummaryRow, summaryStatement } from '../src/query/sql/summary-statement.ts'
import { planSummary } from '../src/query/summary-plan.ts'
import { parseSummaryRequest } from '../src/query/summary-request.ts'
import { account, insertProducts } from './database.ts'
import { freshService } from './service.ts'

/** Groups that are carried across writes, compared with those of all records in the same snapshot. */

const products = '/api/v1/inventory/product'
const records = 2_000
const { client, service } = await freshService()
const acme = await account(client, 'acme')
await insertProducts(client, acme, records)
await client.query(
  `update product set categ_id = nullif(id % 5, 0), list_price = id % 7, create_date = '2026-01-01'::timestamptz + id * interval '1 hour'
   where account_id = $1`,
  [acme.accountId],
)
const write = async (method: string, path: string, body?: object) => {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const headers = { 'content-type': type }
  const options = body === undefined ? {} : { body: JSON.stringify(body), headers }
  const sent = await service.request(acme, method, products + path, options)
  expect([method, path, sent.status < 300]).toEqual([method, path, true])
}
// The first tick: before it, no version belongs to a lineage.
await write('PATCH', '/1', { list_price: 3 })

const queries = [
  '',
  'sum=list_price&avg=list_price',
  'group=categ_id&sum=list_price,id',
  'group=name&filter=id<=900&avg=qty_available',
  'group=create_date:week,active&sum=qty_available&filter=list_price>=2',
  'group=categ_id,is_rsd_product&filter=active=true&avg=categ_id',
]

interface Read {
  readonly row: SummaryRow
  /** Without anything cached, in the same snapshot. */
  readonly expected: string
}

async function read(query: string, cached?: CachedGroups): Promise<Read> {
  const plan = planSummary(resources.product, parseSummaryRequest(query, 'url'))
  const rowOf = async (hint: CachedGroups | undefined) => {
    const { text, values } = summaryStatement(acme, plan, { cached: hint })
    const { rows } = await client.query<SummaryRow>(text, [...values])
    const [row] = rows
    if (row === undefined) throw new Error('no row')
    return row
  }
  await client.query('begin isolation level repeatable read')
  const row = await rowOf(cached)
  const expected = await rowOf(undefined)
  await client.query('commit')
  return { row, expected: expected.records.toString() }
}

function cachedOf({ row: { version, lineage, groups } }: Read): CachedGroups {
  if (lineage == null || groups == null) throw new Error('cannot be carried')
  return { version, lineage, groups }
}

it('are equal to those of all records after each kind of write', async () => {
  const cached = new Map<string, CachedGroups>()
  for (const query of queries) cached.set(query, cachedOf(await read(query)))
  const writes = [
    () => write('POST', '', { name: 'Product 7', list_price: '4.5', categ_id: 3 }),
    () => write('PATCH', '/2', { list_price: '0.000000000001', categ_id: 99 }),
    () => write('PATCH', '/2', { categ_id: null, active: false, qty_available: -3 }),
    () => write('DELETE', '/3'),
    () => write('PATCH', '/4', { name: 'New name', list_price: 0 }),
    () => write('DELETE', '/5'),
    () => write('PATCH', `/${records + 1}`, { list_price: 1, is_rsd_product: true }),
    () => write('DELETE', `/${records + 1}`),
  ]
  for (const one of writes) {
    await one()
    for (const query of queries) {
      const found = await read(query, cached.get(query))
      expect([query, found.row.records.toString()]).toEqual([query, found.expected])
    }
  }
  // Carried from a version to the next, as in the service.
  for (const query of queries) cached.set(query, cachedOf(await read(query, cached.get(query))))
  await write('PATCH', '/6', { qty_available: 12, name: 'x' })
  for (const query of queries) {
    const found = await read(query, cached.get(query))
    expect([query, found.row.records.toString()]).toEqual([query, found.expected])
  }
})

/** Whether the statement uses what is cached: with a wrong number of records, its result is wrong. */
async function isCarried(cached: CachedGroups): Promise<boolean> {
  const [[count = 0, ...others] = []]: number[][] = JSON.parse(cached.groups)
  const { row, expected } = await read('sum=id', {
    ...cached,
    groups: JSON.stringify([[count + 1, ...others]]),
  })
  return row.records.toString() !== expected
}

it('are carried, and counted again after a gap in the journal', async () => {
  const cached = cachedOf(await read('sum=id'))
  await write('PATCH', '/7', { name: 'changed' })
  expect(await isCarried(cached)).toBe(true)
  expect(await isCarried({ ...cached, lineage: '1' })).toBe(false)
  await client.query('delete from product_before where account_id = $1', [acme.accountId])
  expect(await isCarried(cached)).toBe(false)
  const { row, expected } = await read('sum=id', cached)
  expect(row.records.toString()).toBe(expected)
})

it('are not returned of a minimum or maximum', async () => {
  expect((await read('sum=id&max=id')).row.groups).toBeUndefined()
})
