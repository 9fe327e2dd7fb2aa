import { describe, expect, test } from 'vitest'
import { keyOf, list, products } from './client.ts'

const page = (number: number, limit = 7) => list(`${products}?fields=id&limit=${limit}&page=${number}`)

describe('the body of a list', () => {
  test('[4.1-25] data is the array of the records of the page, with the selected fields', async () => {
    expect((await page(5)).data).toEqual([{ id: 29 }, { id: 42 }])
  })

  test('[4.1-26] meta.count is the number of records in this response', async () => {
    expect((await page(1)).meta.count).toBe(7)
    expect((await page(5)).meta.count).toBe(2)
    expect((await list(`${products}?filter=id=42`)).meta.count).toBe(1)
  })

  test('[4.1-27] meta.total is the number of matching records, on every page', async () => {
    expect((await page(1)).meta.total).toBe(30)
    expect((await page(5)).meta.total).toBe(30)
    expect((await list(`${products}?filter=categ_id=7&limit=2`)).meta.total).toBe(8)
    expect((await list(`${products}?filter=id=999`)).meta.total).toBe(0)
  })

  test('[4.1-28] previousPage is the page before, null on the first', async () => {
    expect((await page(1)).pagination.previousPage).toBeNull()
    expect((await page(2)).pagination.previousPage).toBe(1)
    expect((await page(5)).pagination.previousPage).toBe(4)
  })

  test('[4.1-29] currentPage is the page returned', async () => {
    for (const number of [1, 3, 5]) expect((await page(number)).pagination.currentPage).toBe(number)
  })

  test('[4.1-30] nextPage is the page after, null on the last', async () => {
    expect((await page(1)).pagination.nextPage).toBe(2)
    expect((await page(4)).pagination.nextPage).toBe(5)
    expect((await page(5)).pagination.nextPage).toBeNull()
    expect((await page(3, 10)).pagination.nextPage).toBeNull()
  })

  test('[4.1-31] totalPages is the total divided by limit, rounded up', async () => {
    for (const [limit, pages] of [
      [1, 30],
      [7, 5],
      [10, 3],
      [29, 2],
      [30, 1],
      [31, 1],
      [1000, 1],
    ] as const) {
      expect((await page(1, limit)).pagination.totalPages).toBe(pages)
    }
    const bulk = await list(`${products}?fields=id&limit=999`, { host: 'bulk', key: keyOf('bulk') })
    expect(bulk.pagination.totalPages).toBe(3)
  })

  test('[4.1-25] the body has only data, meta and pagination', async () => {
    const body = await page(1)
    expect(Object.keys(body)).toEqual(['data', 'meta', 'pagination'])
    expect(Object.keys(body.meta)).toEqual(['count', 'total'])
    expect(Object.keys(body.pagination).toSorted()).toEqual([
      'currentPage',
      'nextPage',
      'previousPage',
      'totalPages',
    ])
  })
})
