import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { importRecords } from '../src/import/import-records.ts'
import { limits } from '../src/limits/limits.ts'
import { account, type TestAccount } from './database.ts'
import { freshService } from './service.ts'

/** Whatever is cached of a list, its pages equal those of one plain statement: the ids in order, split at the limit. */

let created = 0

const { url, client, service } = await freshService()

/** A filter, and its condition written by hand in SQL. */
interface Condition {
  readonly filter: string
  readonly where: string
}

const id = fc.integer({ min: 1, max: 30_000 })
const plain: fc.Arbitrary<Condition> = fc.oneof(
  fc.constantFrom<Condition>(
    { filter: 'is_customer=true', where: 'is_customer' },
    { filter: 'is_company!=true', where: 'not is_company' },
    { filter: 'email=null', where: 'email is null' },
    { filter: 'email!=null', where: 'email is not null' },
    { filter: 'phone![1,5]', where: `(phone is null or phone not in ('1', '5'))` },
    { filter: 'phone[null,3]', where: `(phone is null or phone = '3')` },
    { filter: 'name*BOLT', where: `strpos(lower(name), 'bolt') > 0` },
    { filter: 'name!*nut', where: `strpos(lower(name), 'nut') = 0` },
  ),
  id.map((border) => ({ filter: `id>${border}`, where: `id > ${border}` })),
  id.map((border) => ({ filter: `id<=${border}`, where: `id <= ${border}` })),
  id.map((one) => ({ filter: `id!=${one}`, where: `id <> ${one}` })),
)
const condition: fc.Arbitrary<Condition | undefined> = fc.oneof(
  fc.constant(undefined),
  plain,
  fc.tuple(plain, plain, fc.boolean()).map(([one, other, both]) => ({
    filter: `${one.filter}${both ? '&' : '|'}${other.filter}`,
    where: `(${one.where} ${both ? 'and' : 'or'} ${other.where})`,
  })),
)

interface List {
  readonly condition: Condition | undefined
  readonly limit: number
  /** Undefined: by id. */
  readonly sort?: { readonly parameter: string; readonly order: string } | undefined
}

/** An order, and the same written by hand in SQL. */
const sort = fc.constantFrom<List['sort']>(
  undefined,
  undefined,
  { parameter: '-id', order: 'id desc' },
  { parameter: 'name', order: 'name collate "C", id' },
  { parameter: '-name', order: 'name collate "C" desc, id desc' },
  { parameter: 'phone', order: 'phone collate "C" nulls last, id' },
  { parameter: '-phone', order: 'phone collate "C" desc nulls last, id desc' },
  { parameter: '-email', order: 'email collate "C" desc nulls last, id desc' },
  { parameter: 'is_customer', order: 'is_customer, id' },
  { parameter: '-write_date', order: 'write_date desc, id desc' },
)

interface Body {
  readonly data: readonly { readonly id: number }[]
  readonly meta: { readonly count: number; readonly total: number }
}

async function idsOf({ accountId }: TestAccount, { condition: one, sort: by }: List): Promise<number[]> {
  const { rows } = await client.query<{ id: number }>(
    `select id::int from partner where account_id = $1 and ${one?.where ?? 'true'} order by ${by?.order ?? 'id'}`,
    [accountId],
  )
  return rows.map((row) => row.id)
}

/** Requests the page and compares it with the same slice of all ids. */
async function checkPage(of: TestAccount, list: List, ids: readonly number[], page: number): Promise<void> {
  const filter = list.condition === undefined ? '' : `&filter=${encodeURIComponent(list.condition.filter)}`
  const order = list.sort === undefined ? '' : `&sort=${list.sort.parameter}`
  const path = `/api/v1/resources/partner?fields=id&limit=${list.limit}&page=${page}${order}${filter}`
  const response = await service.request(of, 'GET', path)
  const expected = ids.slice((page - 1) * list.limit, page * list.limit)
  expect(response, path).toMatchObject({
    status: 200,
    body: {
      data: expected.map((one) => ({ id: one })),
      meta: { count: expected.length, total: ids.length },
    } satisfies Body,
  })
}

/** Checks all pages and the one after the last, first those at `offsets`: fractions of the number of pages. */
async function checkAllPages(of: TestAccount, list: List, offsets: readonly number[]): Promise<void> {
  const ids = await idsOf(of, list)
  const pages = Math.ceil(ids.length / list.limit) + 1
  const jumps = offsets.map((offset) => 1 + Math.floor(offset * pages))
  for (const page of new Set([...jumps, ...Array.from({ length: pages }, (_, at) => at + 1)]))
    await checkPage(of, list, ids, page)
}

const fields = {
  name: fc.constantFrom<string>('Hex bolt', 'BOLT', 'Nut', 'nuts and bolts', 'Pin'),
  is_company: fc.boolean(),
  is_customer: fc.boolean(),
  email: fc.constantFrom(null, '', 'a@example.com'),
  phone: fc.constantFrom(null, '1', '3', '5'),
}
const partner = fc.record({ id: fc.integer({ min: 1, max: 300 }), ...fields })
const partners = fc.uniqueArray(partner, { selector: (one) => one.id, minLength: 1, maxLength: 120 })
/** Enough records that the account is no longer a small account. */
const others = Array.from({ length: limits.smallAccountRecordsMax }, (_, at) => ({
  id: 1001 + at,
  name: at % 3 === 0 ? 'Bolt' : 'Pin',
  is_company: at % 7 === 0,
  is_customer: at % 2 === 0,
  email: at % 5 === 0 ? 'a@example.com' : null,
  phone: at % 4 === 0 ? String(at % 6) : null,
}))
const offset = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const offsets = fc.array(offset, { maxLength: 8 })

async function create(of: TestAccount, name: string): Promise<void> {
  const { status } = await service.request(of, 'POST', '/api/v1/resources/partner', {
    body: JSON.stringify({ name }),
    headers: { 'content-type': 'application/json' },
  })
  expect(status).toBe(201)
}

describe('pages', () => {
  it('equal one ordered statement, in whatever order they are requested, also after writes', async () => {
    const write = fc.oneof(
      fc.record({ records: partners, replace: fc.boolean() }),
      fc.record({ name: fc.constantFrom('Bolt', 'Nut') }),
    )
    const lists = fc.array(fc.record({ condition, sort, limit: fc.integer({ min: 1, max: 40 }) }), {
      minLength: 1,
      maxLength: 3,
    })
    await fc.assert(
      fc.asyncProperty(
        partners,
        lists,
        fc.array(fc.tuple(offsets, write), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (records, sampled, rounds, isSmallAccount) => {
          // Most records of the larger account are fixed; its pages are longer.
          const wanted = isSmallAccount
            ? sampled
            : sampled.map((list) => ({ ...list, limit: list.limit * 10 }))
          const acme = await account(client, `pages-${++created}`)
          const load = { ownerUrl: url, account: acme.name, resource: 'partner' as const }
          if (!isSmallAccount) await importRecords({ ...load, records: others })
          await importRecords({ ...load, records })
          for (const [jumps, change] of rounds) {
            for (const list of wanted) await checkAllPages(acme, list, jumps)
            if ('name' in change) await create(acme, change.name)
            else await importRecords({ ...load, ...change })
          }
          for (const list of wanted) await checkAllPages(acme, list, [])
        },
      ),
      { numRuns: 25 },
    )
  })
})

const largeRecords = limits.filterSortRecordsMax + 5_000
const large = await account(client, 'large')
// Every 50th record differs, so that some filters match more than filterSortRecordsMax and others fewer.
await client.query(
  `insert into partner
   select $1, g, 1, case g % 50 when 0 then 'Nut' else 'Bolt' end || g, g % 50 = 0, false, g % 50 <> 7, false, false,
     case when g % 50 = 3 then 'a@example.com' end, case when g % 50 = 9 then '5' end, true, now(), now()
   from generate_series(1, $2::int) g`,
  [large.accountId, largeRecords],
)
await client.query(
  `update tally set version = 1, total = $2, last_id = $2 where account_id = $1 and resource = 'partner'`,
  [large.accountId, largeRecords],
)
await client.query('analyze partner')

describe('pages of more records than filterSortRecordsMax', () => {
  it('equal one ordered statement, also if requested in random order', async () => {
    const limit = fc.oneof(fc.constantFrom(1, 10, 999, 1000), fc.integer({ min: 2, max: 1000 }))
    const jumps = fc.array(offset, { minLength: 1, maxLength: 6 })
    const mostRecords: Condition = { filter: 'is_company!=true', where: 'not is_company' }
    const byPhone = { parameter: '-phone', order: 'phone collate "C" desc nulls last, id desc' }
    const byName = { parameter: 'name', order: 'name collate "C", id' }
    // Records that move within the orders, and into and out of the filters.
    const moved = fc.uniqueArray(
      fc.record(
        { id: fc.integer({ min: 1, max: largeRecords }), ...fields },
        { requiredKeys: ['id', 'name'] },
      ),
      { selector: (one) => one.id, maxLength: 20 },
    )
    const toTheStart = Array.from({ length: 40 }, (_, at) => ({ id: 600 * at + 7, name: `A${at}` }))
    let aboveThreshold = 0
    await fc.assert(
      fc.asyncProperty(
        condition,
        sort,
        limit,
        jumps,
        jumps,
        moved,
        async (one, by, pageLimit, before, after, records) => {
          const list: List = { condition: one, sort: by, limit: pageLimit }
          for (const shares of [before, after]) {
            const ids = await idsOf(large, list)
            if (one !== undefined && ids.length > limits.filterSortRecordsMax) aboveThreshold += 1
            const pages = Math.ceil(ids.length / pageLimit) + 1
            for (const share of shares) await checkPage(large, list, ids, 1 + Math.floor(share * pages))
            await create(large, 'Bolt')
            await importRecords({ ownerUrl: url, account: large.name, resource: 'partner', records })
          }
        },
      ),
      // The examples are among the runs. Each list is checked twice.
      {
        numRuns: 40,
        examples: [
          [mostRecords, undefined, 1, [0.99], [0.5], []],
          [mostRecords, undefined, 10, [0.2, 0.9], [0.9, 0], []],
          [mostRecords, undefined, 999, [0, 0.95], [0.95], []],
          [mostRecords, byPhone, 999, [0, 0.1, 0.95], [0.95, 0.2], []],
          [undefined, byPhone, 10, [0.001, 0.01, 0.5, 0.02], [0.95, 0.01], []],
          [mostRecords, byName, 10, [0.5, 0.1, 0.9], [0.91, 0.11, 0.5], toTheStart],
          [undefined, byName, 10, [0.5, 0.1, 0.9], [0.91, 0.11, 0.5], toTheStart],
        ],
      },
    )
    expect(aboveThreshold).toBeGreaterThan(5)
  })

  it('together contain every record exactly once', async () => {
    const byName = { parameter: '-name', order: 'name collate "C" desc, id desc' }
    for (const one of [undefined, { filter: 'is_customer=true', where: 'is_customer' }])
      for (const by of [undefined, byName])
        await checkAllPages(large, { condition: one, sort: by, limit: 1000 }, [0.7, 0.2, 0.9, 0.5])
  })
})

describe('pages after an id', () => {
  /** Requests the page after the id and compares it with the same slice of all ids. Returns the last id of the page. */
  async function checkRest(
    of: TestAccount,
    list: List,
    ids: readonly number[],
    after: number,
    page = 1,
  ): Promise<number | undefined> {
    const filter = list.condition === undefined ? '' : `&filter=${encodeURIComponent(list.condition.filter)}`
    const path = `/api/v1/resources/partner?fields=id&limit=${list.limit}&after_id=${after}&page=${page}${filter}`
    const response = await service.request(of, 'GET', path)
    const rest = ids.filter((one) => one > after)
    const expected = rest.slice((page - 1) * list.limit, page * list.limit)
    expect(response, path).toMatchObject({
      status: 200,
      body: {
        data: expected.map((one) => ({ id: one })),
        meta: { count: expected.length, total: rest.length },
      } satisfies Body,
    })
    return expected.at(-1)
  }

  it('have the total of the rest, in whatever order they are requested, also after writes', async () => {
    const limit = fc.oneof(fc.constantFrom(1, 10, 999, 1000), fc.integer({ min: 2, max: 1000 }))
    const after = fc.integer({ min: 0, max: largeRecords + 20 })
    const step = fc.record({
      after: fc.oneof(after, fc.constant('next' as const), fc.constant('whole' as const)),
      page: fc.constantFrom(1, 1, 1, 2, 5),
      write: fc.boolean(),
    })
    const mostRecords: Condition = { filter: 'is_company!=true', where: 'not is_company' }
    const walk = { after: 'next', page: 1, write: false } as const
    let fromWhole = 0
    await fc.assert(
      fc.asyncProperty(
        condition,
        limit,
        fc.array(step, { minLength: 2, maxLength: 8 }),
        async (one, pageLimit, steps) => {
          const list: List = { condition: one, limit: pageLimit }
          let ids = await idsOf(large, list)
          if (ids.length > limits.filterSortRecordsMax && steps.some((each) => each.after === 'whole'))
            fromWhole += 1
          let last: number | undefined
          for (const { after: from, page, write } of steps) {
            if (from === 'whole') {
              await checkPage(large, list, ids, page)
              last = ids.slice((page - 1) * pageLimit, page * pageLimit).at(-1)
            } else {
              last = await checkRest(large, list, ids, from === 'next' ? (last ?? 0) : from, page)
            }
            if (!write) continue
            // A record that matches now and did not before, or the other way round, somewhere among the pages.
            await create(large, 'Bolt')
            await importRecords({
              ownerUrl: url,
              account: large.name,
              resource: 'partner',
              records: [
                {
                  id: 1 + ((last ?? 7) % largeRecords),
                  name: pageLimit % 2 === 0 ? 'Nut' : 'Bolt',
                  is_company: page === 1,
                },
              ],
            })
            ids = await idsOf(large, list)
          }
        },
      ),
      {
        numRuns: 40,
        examples: [
          [mostRecords, 10, [{ ...walk, after: 'whole' }, walk, walk, { ...walk, write: true }, walk, walk]],
          [mostRecords, 1000, [{ ...walk, after: 20_000 }, walk, walk, { ...walk, after: 3 }, walk]],
          [
            undefined,
            1000,
            [{ ...walk, after: 20_000 }, walk, { ...walk, write: true }, walk, { ...walk, after: 3 }],
          ],
        ],
      },
    )
    expect(fromWhole).toBeGreaterThan(0)
  })
})
