import { expect, it } from 'vitest'
import { type ResourceName, resources } from '../src/catalog/resources.ts'
import type { ImportRow } from '../src/import/net-effect.ts'
import { ImportSession } from '../src/import/session.ts'
import { limits } from '../src/limits/limits.ts'
import { addEnd, type CachedList, carryTo, hintsToCarry } from '../src/lists/page-cache.ts'
import { parseListRequest } from '../src/query/list-request.ts'
import { planList } from '../src/query/plan.ts'
import type { ListHints } from '../src/query/sql/access-path.ts'
import { type ListRow, listStatement } from '../src/query/sql/list-statement.ts'
import { account, connected, freshDatabase, insertProducts } from './database.ts'
import { rowParts } from './row-parts.ts'

/** Cached totals and page ends, carried across writes, compared with counts of the same snapshot. */

const resource: ResourceName = 'product'
const records = limits.filterSortRecordsMax + 10_000
/** Each filter, and the same condition in SQL. */
const conditions: Readonly<Record<string, string>> = {
  '': 'true',
  'active=true': 'active',
  'name*"product"': `name ilike '%product%'`,
  'list_price<50': 'list_price < 50',
  'qty_available>=0&id>100': 'qty_available >= 0 and id > 100',
}

const reader = await connected(await freshDatabase())
const scope = await account(reader, 'acme')
await insertProducts(reader, scope, records)
await write([row(1, 'product', '1')])
await reader.query('analyze product')

function row(id: number, name: string, price: string): ImportRow {
  return resources[resource].fields.map((field) => {
    if (field.name === 'id') return String(id)
    if (field.name === 'name') return name
    return field.name === 'list_price' ? price : undefined
  })
}

async function write(rows: readonly ImportRow[]): Promise<void> {
  const session = await ImportSession.open(reader, scope, resources.product, {
    trackIds: false,
    mode: 'load',
  })
  await session.write(rowParts(rows))
}

async function remove(from: number, to: number): Promise<void> {
  const session = await ImportSession.open(reader, scope, resources.product, { trackIds: true, mode: 'load' })
  await reader.query(
    'insert into import_ids select id from product where account_id = $1 and id not between $2 and $3',
    [scope.accountId, from, to],
  )
  await session.deleteMissing(() => {})
}

interface Seen {
  readonly row: ListRow
  /** Counted in the same snapshot. */
  readonly total: number
  readonly firstId: string | undefined
}

/** Reads a page, and in the same snapshot what it must contain, by a plain statement. */
async function read(filter: string, page: number, hints?: ListHints): Promise<Seen> {
  const query = filter === '' ? '' : `&filter=${encodeURIComponent(filter)}`
  const request = parseListRequest(`fields=id&limit=100&page=${page}${query}`, 'url')
  const plan = planList(resources[resource], request)
  await reader.query('begin isolation level repeatable read')
  const { text, values } = listStatement(scope, plan, page, hints)
  const { rows } = await reader.query<ListRow>(text, [...values])
  const matching = `from product where account_id = ${scope.accountId} and ${conditions[filter]}`
  const count = await reader.query<{ n: string }>(`select count(*) as n ${matching}`)
  const first = await reader.query<{ id: string }>(
    `select id ${matching} order by id offset ${(page - 1) * 100} limit 1`,
  )
  await reader.query('commit')
  const [found] = rows
  if (found === undefined) throw new Error('no row')
  return { row: found, total: Number(count.rows[0]?.n), firstId: first.rows[0]?.id }
}

function firstIdOf({ records: json }: ListRow): string | undefined {
  return /"id":(\d+)/.exec(json.toString())?.[1]
}

/** What is cached after a request for the page, which is far enough from the start for a list without a filter. */
async function counted(filter: string): Promise<CachedList> {
  const page = 20
  const { row: found, total } = await read(filter, page)
  const { epoch, version, xid, lineage } = found
  if (lineage == null) throw new Error('no lineage')
  const entry: CachedList = { epoch, version, xid, lineage, total, ends: [] }
  if (found.last_id !== null) addEnd(entry, page * 100, found.last_id)
  return entry
}

/** Carries the entry to the present; undefined if the statement had to count. */
async function carry(filter: string, entry: CachedList, page: number): Promise<CachedList | undefined> {
  const hints = hintsToCarry(entry, (page - 1) * 100, filter !== '')
  if (hints === undefined) throw new Error('cannot be carried')
  const { row: found, total, firstId } = await read(filter, page, hints)
  expect([filter, page, firstIdOf(found)]).toEqual([filter, page, firstId])
  const { gained, lost, lineage = null } = found
  if (gained == null || lost == null) {
    if (filter !== '') expect([filter, Number(found.total)]).toEqual([filter, total])
    return undefined
  }
  const carried = carryTo(entry, { ...found, lineage }, gained, lost)
  expect([filter, carried.total]).toEqual([filter, total])
  if (Number(found.count) === 100 && found.last_id !== null) addEnd(carried, page * 100, found.last_id)
  return carried
}

it('are equal to the count after records were inserted, changed and deleted', async () => {
  const writes = [
    () => write([row(records + 1, 'product', '1'), row(records + 2, 'other', '99')]),
    () => write([row(5, 'x', '99'), row(records - 5, 'x', '99'), row(records + 2, 'product', '1')]),
    () => remove(10, 12),
    () => remove(records + 1, records + 1),
  ]
  const entries = new Map<string, CachedList>()
  for (const filter of Object.keys(conditions)) entries.set(filter, await counted(filter))
  for (const [n, change] of writes.entries()) {
    await change()
    for (const [filter, entry] of entries) {
      const later = await carry(filter, entry, 20 + 80 * n)
      if (later === undefined) throw new Error(`${filter} was counted again`)
      entries.set(filter, later)
    }
  }
})

it.each([
  ['an increment without a journal', `update tally set version = version + 1 where account_id = $1`],
  ['a deletion of before-images', `delete from product_before where account_id = $1`],
])('are counted again after %s', async (_, statement) => {
  await write([row(7, `changed ${Math.random()}`, '1')])
  const entry = await counted('active=true')
  await write([row(7, `changed ${Math.random()}`, '1')])
  expect(await carry('active=true', entry, 3)).toBeDefined()
  await reader.query(statement, [scope.accountId])
  expect(await carry('active=true', entry, 3)).toBeUndefined()
})

it('are counted again after a write of too many records', async () => {
  await write([row(7, `changed ${Math.random()}`, '1')])
  const entry = await counted('active=true')
  const many = Array.from({ length: limits.imagesOfWriteMax + 1 }, (_, i) =>
    row(i + 1, `many ${Math.random()}`, '1'),
  )
  await write(many)
  expect(await carry('active=true', entry, 3)).toBeUndefined()
})
