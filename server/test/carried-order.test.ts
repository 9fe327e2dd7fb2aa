import fc from 'fast-check'
import { expect, it } from 'vitest'
import { resources } from '../src/catalog/resources.ts'
import { importRecords } from '../src/import/import-records.ts'
import { ImportSession } from '../src/import/session.ts'
import { limits } from '../src/limits/limits.ts'
import { addSortedEnd, type CachedList, carryOrderTo, sortedHintsToCarry } from '../src/lists/page-cache.ts'
import { parseListRequest } from '../src/query/list-request.ts'
import { planList } from '../src/query/plan.ts'
import type { ListHints } from '../src/query/sql/access-path.ts'
import { type ListRow, listStatement } from '../src/query/sql/list-statement.ts'
import { account, connected, freshDatabase, insertProducts } from './database.ts'

/** Page ends of sorted lists, carried across writes, compared with plain statements in the same snapshot. */

const records = limits.filterSortRecordsMax + 5_000
const limit = 100
const url = await freshDatabase()
const client = await connected(url)
const acme = await account(client, 'acme')
await insertProducts(client, acme, records)
await client.query(
  `update product set list_price = trim_scale((id % 700) * 0.5), categ_id = nullif(id % 40, 0), is_rsd_product = nullif(id % 3, 0) = 1,
     default_code = case when id % 4 > 0 then chr(64 + id::int % 200) || id % 90 end, create_date = '2026-01-01'::timestamptz + id % 900 * interval '1 hour'
   where account_id = $1`,
  [acme.accountId],
)
await write([{ id: 1, name: 'first' }])
await client.query('analyze product')
// As on connections of the service: parallel workers would mix the records with and without a value.
await client.query('set max_parallel_workers_per_gather = 0; set enable_seqscan = off; set jit = off')

async function write(rows: readonly object[]): Promise<void> {
  await importRecords({ ownerUrl: url, account: 'acme', resource: 'product', records: rows })
}

async function remove(ids: readonly number[]): Promise<void> {
  const session = await ImportSession.open(client, acme, resources.product, { trackIds: true, mode: 'load' })
  await client.query(
    'insert into import_ids select id from product where account_id = $1 and id <> all($2::bigint[])',
    [acme.accountId, ids],
  )
  await session.deleteMissing(() => {})
}

interface Order {
  readonly sort: string
  readonly column: string
  readonly isDescending: boolean
}
const columns = [
  'id',
  'name',
  'default_code',
  'list_price',
  'categ_id',
  'is_rsd_product',
  'create_date',
  'write_date',
]
// The order of ids is no sorted list, but the reverse is.
const orders = columns
  .flatMap((column): Order[] => [
    { sort: column, column, isDescending: false },
    { sort: `-${column}`, column, isDescending: true },
  ])
  .filter(({ sort }) => sort !== 'id')
/** Each filter, and the same condition in SQL. */
const conditions: Readonly<Record<string, string>> = {
  '': 'true',
  'active=true': 'active',
  'list_price<340&categ_id!=7': 'list_price < 340 and categ_id is distinct from 7',
}

interface Seen {
  readonly row: ListRow
  /** By plain statements in the same snapshot. */
  readonly ids: readonly number[]
  readonly total: number
}

async function read(filter: string, order: Order, page: number, hints?: ListHints): Promise<Seen> {
  const query = filter === '' ? '' : `&filter=${encodeURIComponent(filter)}`
  const request = parseListRequest(`fields=id&sort=${order.sort}&limit=${limit}&page=${page}${query}`, 'url')
  await client.query('begin isolation level repeatable read')
  const { text, values } = listStatement(acme, planList(resources.product, request), page, hints)
  const { rows } = await client.query<ListRow>(text, [...values])
  const ids = await idsAt(filter, order, (page - 1) * limit)
  const total = await count(filter, 'true', [])
  await client.query('commit')
  const [row] = rows
  if (row === undefined) throw new Error('no row')
  return { row, ids, total }
}

async function idsAt(filter: string, { column, isDescending }: Order, skipped: number): Promise<number[]> {
  const direction = isDescending ? 'desc' : 'asc'
  const { rows } = await client.query<{ id: number }>(
    `select id::int from product where account_id = $1 and ${conditions[filter]}
     order by ${column} ${direction} nulls last, id ${direction} offset $2 limit $3`,
    [acme.accountId, skipped, limit],
  )
  return rows.map(({ id }) => id)
}

async function count(filter: string, condition: string, values: readonly unknown[]): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    `select count(*)::int as n from product where account_id = $1 and ${conditions[filter]} and ${condition}`,
    [acme.accountId, ...values],
  )
  return rows[0]?.n ?? -1
}

function idsOf({ records: json }: ListRow): number[] {
  return Array.from(json.toString().matchAll(/"id":(\d+)/g), ([, id]) => Number(id))
}

function addEndOf(entry: CachedList, row: ListRow, page: number): void {
  if (row.last_id !== null && row.last_value != null && Number(row.count) === limit)
    addSortedEnd(entry, page * limit, row.last_id, row.last_value)
}

/** What is cached after requests for the pages. */
async function cached(filter: string, order: Order, pages: readonly number[]): Promise<CachedList> {
  let entry: CachedList | undefined
  for (const page of pages) {
    const { row, ids, total } = await read(filter, order, page)
    expect([filter, order.sort, page, idsOf(row)]).toEqual([filter, order.sort, page, ids])
    const { epoch, version, xid, lineage } = row
    if (lineage == null) throw new Error('no lineage')
    entry ??= { epoch, version, xid, lineage, total, ends: [] }
    addEndOf(entry, row, page)
  }
  if (entry === undefined) throw new Error('no page')
  return entry
}

/** Carries the entry to the present; undefined if that was not possible. */
async function carry(
  filter: string,
  order: Order,
  entry: CachedList,
  page: number,
): Promise<CachedList | undefined> {
  const hints = sortedHintsToCarry(entry, (page - 1) * limit, filter !== '')
  if (hints === undefined) throw new Error('cannot be carried')
  const { row, ids, total } = await read(filter, order, page, hints)
  const { gained, lost, ranks, lineage = null } = row
  if (gained == null || lost == null || ranks == null) {
    expect([row.count, row.last_id]).toEqual(['0', null])
    return undefined
  }
  expect([filter, order.sort, page, idsOf(row)]).toEqual([filter, order.sort, page, ids])
  const carried = carryOrderTo(entry, { ...row, lineage }, { gained, lost, ranks })
  expect([filter, order.sort, carried.total]).toEqual([filter, order.sort, total])
  for (const { id, rank, value } of carried.ends) {
    // The record may have changed meanwhile.
    const upTo = `(${order.column}, id) ${order.isDescending ? '>=' : '<='} ($2, $3)`
    const counted = await count(filter, upTo, [value, id])
    expect([filter, order.sort, value, id, rank]).toEqual([filter, order.sort, value, id, counted])
  }
  addEndOf(carried, row, page)
  return carried
}

/** Records that move anywhere in every order, into and out of the filters, and lose or gain values. */
const row = fc.record(
  {
    name: fc.constantFrom('Product 1', 'Product 20500', 'product', '', 'Ätna', 'zz\u{10000}', 'zz\uffff'),
    default_code: fc.constantFrom(null, '', 'A1', 'é9', '\u{10000}'),
    list_price: fc.constantFrom('0', '9.50', '10', '339.999999999999', '340', '-0.5', '1e5'),
    categ_id: fc.constantFrom(null, 7, 8, 39, 4_000_000_000),
    is_rsd_product: fc.constantFrom(null, true, false),
    active: fc.boolean(),
    create_date: fc.constantFrom('2020-01-01', '2026-01-10T03:00:00Z', '2026-01-10T03:00:00.500Z'),
  },
  { requiredKeys: ['name'] },
)
const id = fc.integer({ min: 1, max: records })
const change = fc.record({
  rows: fc.dictionary(id.map(String), row, { minKeys: 1, maxKeys: 30 }),
  deletes: fc.uniqueArray(id, { maxLength: 5 }),
})
const page = fc.integer({ min: 12, max: records / limit + 1 })

it('are equal to those of a plain statement after records were inserted, changed and deleted', async () => {
  const lists = fc.tuple(
    ...orders.map((order) =>
      fc.record({
        order: fc.constant(order),
        filter: fc.constantFrom(...Object.keys(conditions)),
        pages: fc.tuple(page, page, page),
      }),
    ),
  )
  await fc.assert(
    fc.asyncProperty(lists, change, change, async (all, first, second) => {
      const entries: CachedList[] = []
      for (const { filter, order, pages } of all) entries.push(await cached(filter, order, [15, ...pages]))
      for (const { rows, deletes } of [first, second]) {
        await write(Object.entries(rows).map(([one, fields]) => ({ id: Number(one), ...fields })))
        if (deletes.length > 0) await remove(deletes)
        for (const [at, { filter, order, pages }] of all.entries()) {
          const entry = entries[at]
          if (entry === undefined || entry.ends.length === 0) continue
          const carried = await carry(filter, order, entry, pages[1])
          if (carried === undefined) throw new Error(`${filter} ${order.sort} was not carried`)
          entries[at] = carried
        }
      }
    }),
    { numRuns: 1, endOnFailure: true },
  )
})

const byPrice: Order = { sort: '-list_price', column: 'list_price', isDescending: true }

it('are used: the scan starts at the nearest one', async () => {
  const entry = await cached('active=true', byPrice, [150])
  await write([{ id: 5, name: 'x', list_price: '1e6' }])
  const { ends, ...rest } = entry
  // With a wrong rank the page is another one.
  const wrong = { ...rest, ends: ends.map((end) => ({ ...end, rank: end.rank + 7 })) }
  const { row: found } = await read('active=true', byPrice, 160, sortedHintsToCarry(wrong, 15_900, true))
  expect(idsOf(found)).toEqual(await idsAt('active=true', byPrice, 15_900 - 7))
})

it('are not carried over a gap in the journal, or by another lineage', async () => {
  const entry = await cached('', byPrice, [150])
  await write([{ id: 6, name: `changed ${Math.random()}`, list_price: '3' }])
  expect(await carry('', byPrice, entry, 160)).toBeDefined()
  expect(await carry('', byPrice, { ...entry, lineage: '1' }, 160)).toBeUndefined()
  await client.query('delete from product_before where account_id = $1', [acme.accountId])
  expect(await carry('', byPrice, entry, 160)).toBeUndefined()
})
