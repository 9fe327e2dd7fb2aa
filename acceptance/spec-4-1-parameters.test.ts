import { describe, expect, test } from 'vitest'
import { companies, encoded, keyOf, list, partners, problemIn, products, send } from './client.ts'

const productFields = [
  'id',
  'name',
  'default_code',
  'list_price',
  'qty_available',
  'active',
  'categ_id',
  'product_tmpl_id',
  'is_rsd_product',
  'create_date',
  'write_date',
]

const idsAt = async (path: string) => (await list(path)).data.map((row) => row['id'])
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

describe('fields', () => {
  test('[4.1-1] records have only the requested fields', async () => {
    const { data } = await list(`${products}?fields=name,list_price`)
    expect(data).toHaveLength(10)
    for (const row of data) expect(Object.keys(row)).toEqual(['name', 'list_price'])
    expect(data[0]).toEqual({ name: 'Hex bolt M8', list_price: 0.1 })
  })

  test('[4.1-2] without fields, records have all fields', async () => {
    const { data } = await list(`${products}?limit=1`)
    expect(Object.keys(data[0] ?? {})).toEqual(productFields)
  })
})

describe('filter', () => {
  test('[4.1-3] a filter narrows the result', async () => {
    expect(await idsAt(`${products}?filter=categ_id=8`)).toEqual([4, 5, 6])
  })

  test('[4.1-4] without filter, all records are returned', async () => {
    expect(await idsAt(`${products}?limit=1000`)).toEqual([...upTo(29), 42])
  })
})

describe('page and limit', () => {
  test('[4.1-5][8-3] without page, it is page 1', async () => {
    const body = await list(`${products}?fields=id&limit=3`)
    expect(body.data).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
    expect(body.pagination.currentPage).toBe(1)
    expect(body).toEqual(await list(`${products}?fields=id&limit=3&page=1`))
  })

  test('[4.1-6] page selects the page', async () => {
    expect(await idsAt(`${products}?limit=7&page=2`)).toEqual([8, 9, 10, 11, 12, 13, 14])
    expect(await idsAt(`${products}?limit=7&page=5`)).toEqual([29, 42])
  })

  test('[4.1-7][8-1] without limit, a page has 10 records', async () => {
    expect(await idsAt(products)).toEqual(upTo(10))
    expect(await idsAt(`${products}?page=3`)).toEqual([21, 22, 23, 24, 25, 26, 27, 28, 29, 42])
  })

  test('[4.1-8] limit sets the records per page', async () => {
    for (const limit of [1, 2, 25, 29]) {
      expect(await idsAt(`${products}?limit=${limit}`)).toEqual(upTo(limit))
    }
  })

  test('[4.1-9][8-2] 1000 is the highest limit', async () => {
    const options = { host: 'bulk', key: keyOf('bulk') }
    const full = await list(`${products}?fields=id&limit=1000&page=2`, options)
    expect(full.meta).toEqual({ count: 1000, total: 2500 })
    expect([full.data[0], full.data.at(-1)]).toEqual([{ id: 1001 }, { id: 2000 }])
    problemIn(await send(`${products}?limit=1001`, options), 400)
  })
})

describe('on every list', () => {
  const lists = [
    { path: products, name: 'Gold reserve', id: 20 },
    { path: partners, name: 'Lone Record', id: 12 },
    { path: companies, name: 'Harbour Works', id: 2 },
  ]
  for (const { path, name, id } of lists) {
    test(`[4.1-32] ${path} accepts fields, filter, page and limit`, async () => {
      const found = await list(`${path}?fields=id,name&filter=${encoded(`name="${name}"`)}&page=1&limit=2`)
      expect(found).toEqual({
        data: [{ id, name }],
        meta: { count: 1, total: 1 },
        pagination: { previousPage: null, currentPage: 1, nextPage: null, totalPages: 1 },
      })
    })

    test(`[4.1-32] ${path} rejects invalid values of each`, async () => {
      for (const wrong of ['fields=nosuch', 'filter=nosuch=1', 'page=0', 'limit=0', 'nosuch=1']) {
        problemIn(await send(`${path}?${wrong}`), 400)
      }
    })
  }
})
