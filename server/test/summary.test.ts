import { expect, it } from 'vitest'
import { lineOf, randomOwnSet } from '../../verification/src/fields/own-fields.ts'
import { compareSummaries } from '../../verification/src/order/compare-summaries.ts'
import { Random } from '../../verification/src/random.ts'
import { limits } from '../src/limits/limits.ts'
import { account, connected, insertProducts, type TestAccount } from './database.ts'
import { freshService, startTestService } from './service.ts'

/** Summaries of the real service on accounts of all sizes. The check `summary_exact` is the large form of the first test. */

const summary = '/api/v1/inventory/product/summary'
const { url, client, service } = await freshService()
const large = await account(client, 'large')
const records = limits.summaryGroupsMax + 500
await insertProducts(client, large, records)
await client.query(`update product set categ_id = nullif(id % 4, 0), list_price = id where account_id = $1`, [
  large.accountId,
])

interface SummaryBody {
  readonly data: readonly object[]
  readonly meta: { readonly count: number; readonly total: number }
}

async function read(of: TestAccount, query: string): Promise<SummaryBody> {
  const { status, body } = await service.request(of, 'GET', `${summary}?${query}`)
  expect([query, status]).toEqual([query, 200])
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the tests compare its members
  return body as SummaryBody
}

it.each([
  [1, 150],
  [2, 1_200],
])('random summaries of random fields equal those of the evaluator: %i, %i records', async (n, rowsCount) => {
  const random = new Random(34, n)
  const set = randomOwnSet(random, rowsCount)
  const of = await account(client, `random${n}`)
  for (const { name, type } of set.own) {
    const declared = await service.post(of, '/manage/v1/fields', { resource: 'company', name, type })
    expect(declared.status).toBe(201)
  }
  const path = `http://127.0.0.1:${service.port}${set.resource.path}`
  const headers = { 'x-forwarded-host': `${of.name}.localhost`, authorization: `Bearer ${of.key}` }
  const batch = await fetch(`${path}/batch`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-ndjson' },
    body: set.rows.map((row) => `${lineOf(set.resource, row)}\n`).join(''),
  })
  expect(await batch.text()).toContain(`"inserted":${rowsCount}`)
  const { compared, groups, faults } = await compareSummaries(set, random, 60, async (query) => {
    const response = await fetch(`${path}/summary?${query}`, { headers })
    return { status: response.status, text: await response.text() }
  })
  expect(faults).toEqual([])
  expect(compared).toBeGreaterThan(40)
  expect(groups).toBeGreaterThan(compared)
})

it('groups times by day, week and month in UTC, and null values last', async () => {
  const of = await account(client, 'times')
  await insertProducts(client, of, 4)
  const dates = [
    '2024-12-30T00:00:00Z',
    '2025-01-05T23:59:59.999Z',
    '2025-01-06T00:00:00Z',
    '0001-01-01T00:00:00Z',
  ]
  for (const [at, date] of dates.entries()) {
    await client.query(
      `update product set create_date = $3, categ_id = $4 where account_id = $1 and id = $2`,
      [of.accountId, at + 1, date, at === 0 ? 3 : null],
    )
  }
  const group = async (by: string) => (await read(of, `group=${by}`)).data
  const counted = (field: string, ...groups: readonly (readonly [unknown, number])[]) =>
    groups.map(([value, count]) => ({ group: { [field]: value }, count }))
  expect(await group('create_date:week')).toEqual(
    counted('create_date', ['0001-01-01', 1], ['2024-12-30', 2], ['2025-01-06', 1]),
  )
  expect(await group('create_date:month')).toEqual(
    counted('create_date', ['0001-01-01', 1], ['2024-12-01', 1], ['2025-01-01', 2]),
  )
  expect(await group('create_date:day')).toEqual(
    counted('create_date', ['0001-01-01', 1], ['2024-12-30', 1], ['2025-01-05', 1], ['2025-01-06', 1]),
  )
  expect(await group('categ_id')).toEqual(counted('categ_id', [3, 1], [null, 3]))
})

it('rounds averages once, and sums nothing to 0', async () => {
  const of = await account(client, 'averages')
  await insertProducts(client, of, 3)
  const big = '999999999999999999999999.999999999999'
  await client.query(
    `update product set list_price = $2, qty_available = -2 where account_id = $1 and id = 1`,
    [of.accountId, big],
  )
  const response = await fetch(
    `http://127.0.0.1:${service.port}${summary}?sum=list_price&avg=list_price,qty_available`,
    {
      headers: { 'x-forwarded-host': 'averages.localhost', authorization: `Bearer ${of.key}` },
    },
  )
  expect(await response.text()).toBe(
    `{"data":[{"group":{},"count":3,"sum":{"list_price":${big}},"avg":{"list_price":333333333333333333333333.333333333333,"qty_available":-0.666666666667}}],"meta":{"count":1,"total":3}}`,
  )
  expect(await read(of, 'filter=id>9&sum=id&min=id&max=create_date&avg=id')).toEqual({
    data: [
      {
        group: {},
        count: 0,
        sum: { id: 0 },
        min: { id: null },
        max: { create_date: null },
        avg: { id: null },
      },
    ],
    meta: { count: 1, total: 0 },
  })
  expect(await read(of, 'filter=id>9&group=active')).toEqual({ data: [], meta: { count: 0, total: 0 } })
})

it('is 400 with the number of groups if there are more than 1000', async () => {
  const { status, body } = await service.request(large, 'GET', `${summary}?group=id`)
  expect(status).toBe(400)
  expect(body).toMatchObject({
    code: 'request_invalid',
    detail: `The records have ${records} groups; the maximum is 1000. Narrow the filter, or group by a field with fewer values.`,
    errors: [{ parameter: 'group', code: 'groups_too_many' }],
  })
  expect((await read(large, 'group=id&filter=id<=1000')).meta).toEqual({ count: 1000, total: 1000 })
})

it('has an ETag that changes with every write, and responses of the cache are never stale', async () => {
  const query = 'group=categ_id&sum=list_price&filter=id<=8'
  const get = (etag: string) =>
    service.request(large, 'GET', `${summary}?${query}`, { headers: { 'if-none-match': etag } })
  const first = await get('')
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toMatch(/^W\/"[0-9a-f]{12}-\d+-[\w-]{16}"$/)
  expect((await get(etag)).status).toBe(304)
  expect((await service.request(large, 'HEAD', `${summary}?${query}`)).headers.get('etag')).toBe(etag)
  // In another order of parameters, and by QUERY, it is the same request.
  const same = 'filter=id<=8&sum=list_price&group=categ_id'
  const queried = await service.request(large, 'QUERY', summary, {
    body: same,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect(queried.headers.get('etag')).toBe(etag)
  expect(queried.body).toEqual(first.body)
  const patched = await service.request(large, 'PATCH', '/api/v1/inventory/product/1', {
    body: '{"list_price":0.001}',
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  expect(patched.status).toBe(200)
  const later = await get(etag)
  expect(later.status).toBe(200)
  expect(later.body).toMatchObject({
    data: [
      { group: { categ_id: 1 }, count: 2, sum: { list_price: 5.001 } },
      { group: { categ_id: 2 }, count: 2, sum: { list_price: 8 } },
      { group: { categ_id: 3 }, count: 2, sum: { list_price: 10 } },
      { group: { categ_id: null }, count: 2, sum: { list_price: 12 } },
    ],
  })
})

it('is logged with its parameters, and counts as a request of its route', async () => {
  const id = `summary-${Date.now()}`
  await service.request(large, 'GET', `${summary}?group=active&sum=list_price&filter=id<=8`, {
    headers: { 'x-request-id': id },
  })
  await expect
    .poll(async () => {
      const { body } = await service.request(large, 'GET', `/manage/v1/requests?filter=request_id=${id}`)
      return body
    })
    .toMatchObject({
      data: [
        { path: summary, query: 'group=active&sum=list_price', filter: 'id<=8', records: 1, status: 200 },
      ],
    })
})

it('is a long read: it waits for a seat of its account, and ends at the timeout', async () => {
  const impatient = await startTestService(url, { QUARTERMASTER_READ_MS_MAX: '300' })
  const lock = await connected(url)
  await lock.query('begin; lock table product in access exclusive mode')
  const late = await impatient.request(large, 'GET', `${summary}?group=active&max=id`)
  expect([late.status, late.body]).toMatchObject([504, { code: 'deadline_exceeded' }])
  const inFlight = limits.accountReadsMax + limits.accountReadsWaitingMax
  const all = Array.from({ length: inFlight + 1 }, (_, n) =>
    service.request(large, 'GET', `${summary}?sum=id&filter=id>${n}`),
  )
  const busy = await Promise.race(all)
  expect([busy.status, busy.body]).toMatchObject([429, { code: 'account_busy' }])
  await lock.query('rollback')
  const statuses = (await Promise.all(all)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(inFlight)
})
