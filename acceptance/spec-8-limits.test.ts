import { expect, test } from 'vitest'
import { keyOf, list, problemIn, products, send } from './client.ts'

const bulk = () => ({ host: 'bulk', key: keyOf('bulk') })

test('[8-1] the default limit is 10', async () => {
  expect((await list(products, bulk())).meta).toEqual({ count: 10, total: 2500 })
})

test('[8-2] the maximum limit is 1000', async () => {
  expect((await list(`${products}?limit=1000`, bulk())).meta.count).toBe(1000)
  problemIn(await send(`${products}?limit=1001`, bulk()), 400)
})

test('[8-3] the default page is 1', async () => {
  const body = await list(`${products}?limit=2`, bulk())
  expect(body.pagination.currentPage).toBe(1)
  expect(body.data.map((row) => row['id'])).toEqual([1, 2])
})

test('[8-4] the guidance on page sizes is not enforced: any limit up to the maximum is accepted', async () => {
  for (const limit of [1, 9, 10, 25, 100, 101, 499, 500, 501, 999]) {
    expect((await list(`${products}?fields=id&limit=${limit}`, bulk())).meta.count).toBe(limit)
  }
})

test('[8-5] a limit above 1000 is rejected, a page beyond the last is empty', async () => {
  problemIn(await send(`${products}?limit=2500`, bulk()), 400)
  const beyond = await list(`${products}?limit=1000&page=4`, bulk())
  expect(beyond.meta).toEqual({ count: 0, total: 2500 })
})
