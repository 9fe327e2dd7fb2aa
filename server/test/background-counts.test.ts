import { expect, it } from 'vitest'
import { account, connected, freshDatabase, insertProducts } from './database.ts'
import { eventually } from './eventually.ts'
import { sampleOf, scrape } from './exposition.ts'
import { startTestService, type TestResponse, type TestService } from './service.ts'

/** Totals and summaries that take longer to count than a request may wait. */

const records = 21_000
const url = await freshDatabase()
const client = await connected(url)
const acme = await account(client, 'acme')
await insertProducts(client, acme, records, 'x'.repeat(500))

/** It matches every record, and takes seconds. */
const slow = encodeURIComponent(Array.from({ length: 20 }, (_, i) => `name!*q${i}`).join('&'))
const path = `/api/v1/inventory/product?fields=id&limit=2&filter=${slow}`

it('is counted to the end, so that the request is answered when it is repeated', async () => {
  const service = await startTestService(url, { QUARTERMASTER_READ_MS_MAX: '60' })
  const late = await service.request(acme, 'GET', path)
  expect([late.status, late.body]).toMatchObject([504, { code: 'total_pending' }])
  expect(late.headers.get('retry-after')).toBe('5')
  // A request for the rest of the same list waits for the same count.
  const rest = await service.request(acme, 'GET', `${path}&after_id=10`)
  if (rest.status !== 200) expect(rest.body).toMatchObject({ code: 'total_pending' })
  expect(await answer('/api/v1/inventory/product?fields=id&filter=id=77')).toMatchObject({
    data: [{ id: 77 }],
    meta: { total: 1 },
  })
  expect(await answer(path)).toMatchObject({ data: [{ id: 1 }, { id: 2 }], meta: { total: records } })
  expect(await answer(`${path}&after_id=10`)).toMatchObject({
    data: [{ id: 11 }, { id: 12 }],
    meta: { total: records - 10 },
  })
  await service.close()

  async function answer(of: string): Promise<unknown> {
    return (await answered(service, of)).body
  }
})

/** Repeats the request until it is answered. */
async function answered(service: TestService, of: string): Promise<TestResponse> {
  let response = await service.request(acme, 'GET', of)
  await eventually(async () => {
    if (response.status === 200) return true
    expect([response.status, response.body]).toMatchObject([504, { code: 'total_pending' }])
    response = await service.request(acme, 'GET', of)
    return response.status === 200
  })
  return response
}

const summary = (measures: string) => `/api/v1/inventory/product/summary?${measures}&filter=${slow}`
const quick = { QUARTERMASTER_READ_MS_MAX: '60', QUARTERMASTER_ADMIN_PORT: '0' }
const group = { count: records, sum: { qty_available: 0 } }

it('is a summary, too, which stays known after a write', async () => {
  const service = await startTestService(url, quick)
  const counted = async (step: string) =>
    sampleOf((await scrape(service.adminPort)).samples, 'quartermaster_background_counts_total', { step })
  expect([await counted('started'), await counted('finished'), await counted('failed')]).toEqual([0, 0, 0])
  // The first write of this service begins a lineage: before it, nothing can be carried.
  await patch(service, { categ_id: 3 })
  const late = await service.request(acme, 'GET', summary('sum=qty_available'))
  expect([late.status, late.headers.get('retry-after'), late.body]).toMatchObject([
    504,
    '5',
    { code: 'total_pending', detail: expect.stringContaining('This summary') },
  ])
  const first = await answered(service, summary('sum=qty_available'))
  expect(first.body).toMatchObject({ data: [group], meta: { total: records } })
  expect([await counted('started'), await counted('finished'), await counted('failed')]).toEqual([1, 1, 0])
  await patch(service, { qty_available: 5 })
  const carried = await answered(service, summary('sum=qty_available'))
  expect(carried.body).toMatchObject({ data: [{ ...group, sum: { qty_available: 5 } }] })
  const { samples } = await scrape(service.adminPort)
  expect(sampleOf(samples, 'quartermaster_background_counts_running')).toBe(0)
  await service.close()
})

it('is a maximum only if nothing was written meanwhile', async () => {
  const service = await startTestService(url, quick)
  const highest = summary('max=qty_available')
  const late = await service.request(acme, 'GET', highest)
  expect([late.status, late.body]).toMatchObject([504, { code: 'total_pending' }])
  expect((await answered(service, highest)).body).toMatchObject({ data: [{ max: { qty_available: 5 } }] })
  await patch(service, { qty_available: 7 })
  const changed = await service.request(acme, 'GET', highest)
  expect([changed.status, changed.body]).toMatchObject([
    504,
    { code: 'deadline_exceeded', detail: expect.stringContaining('records were written meanwhile') },
  ])
  await service.close()
})

async function patch(service: TestService, fields: object): Promise<void> {
  const { status } = await service.request(acme, 'PATCH', '/api/v1/inventory/product/7', {
    body: JSON.stringify(fields),
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  expect(status).toBe(200)
}
