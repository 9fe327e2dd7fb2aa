import { expect, it } from 'vitest'
import { account, connected, freshDatabase, insertProducts } from './database.ts'
import { eventually } from './eventually.ts'
import { startTestService } from './service.ts'

/** Totals that take longer to count than a request may wait. */

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

  /** Repeats the request until it is answered. */
  async function answer(of: string): Promise<unknown> {
    let response = late
    await eventually(async () => {
      response = await service.request(acme, 'GET', of)
      if (response.status !== 200) expect(response.status).toBe(504)
      return response.status === 200
    })
    return response.body
  }
})
