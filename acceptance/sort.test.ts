import { describe, expect, test } from 'vitest'
import { encoded, faultIn, list, problemIn, products, send } from './client.ts'

type Row = Record<string, unknown>

/** Nulls last in both directions; records with equal values by id, in the direction of the order. */
function inOrder(rows: readonly Row[], field: string, isDescending: boolean): unknown[] {
  const direction = isDescending ? -1 : 1
  const compare = (a: unknown, b: unknown): number => {
    if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
    return Number(a) - Number(b)
  }
  return rows
    .toSorted((one, other) => {
      const [a, b] = [one[field], other[field]]
      if ((a === null) !== (b === null)) return a === null ? 1 : -1
      const byValue = a === null ? 0 : compare(a, b)
      return direction * (byValue === 0 ? compare(one['id'], other['id']) : byValue)
    })
    .map(({ id }) => id)
}

describe('L1: sort', () => {
  test('[L1] by any field, in both directions, over all pages', async () => {
    const { data } = await list(`${products}?limit=1000`)
    for (const field of Object.keys(data[0] ?? {})) {
      for (const isDescending of [false, true]) {
        const sort = `${isDescending ? '-' : ''}${field}`
        const found: unknown[] = []
        for (let page = 1; page <= Math.ceil(data.length / 20); page++) {
          const part = await list(`${products}?fields=id&limit=20&page=${page}&sort=${sort}`)
          expect(part.meta.total).toBe(data.length)
          found.push(...part.data.map(({ id }) => id))
        }
        expect(found, sort).toEqual(inOrder(data, field, isDescending))
      }
    }
  })

  test('[L1] with a filter, and the same links, ETag and total as any list', async () => {
    const filter = encoded('list_price>=0&name!*zzz')
    const { data } = await list(`${products}?limit=1000&filter=${filter}`)
    const path = `${products}?fields=id&limit=3&page=2&sort=-list_price&filter=${filter}`
    const response = await send(path)
    const body: { data: Row[]; meta: { total: number } } = JSON.parse(response.text)
    expect(body.data.map(({ id }) => id)).toEqual(inOrder(data, 'list_price', true).slice(3, 6))
    expect(body.meta.total).toBe(data.length)
    expect(String(response.headers['link'])).toContain('sort=-list_price')
    const again = await send(path, { headers: { 'if-none-match': String(response.headers['etag']) } })
    expect(again.status).toBe(304)
  })

  test('[L1] sort=id is the default', async () => {
    const [plain, sorted] = [await send(`${products}?limit=2`), await send(`${products}?limit=2&sort=id`)]
    expect(sorted.headers['etag']).toBe(plain.headers['etag'])
    expect(sorted.headers['link']).toBe(plain.headers['link'])
  })

  test('[L1] what cannot be sorted is a 400 that says why', async () => {
    expect(faultIn(await send(`${products}?sort=-nam`))).toMatchObject({
      code: 'field_unknown',
      parameter: 'sort',
      suggestion: '-name',
    })
    expect(faultIn(await send(`${products}?sort=etag`)).code).toBe('field_not_sortable')
    for (const sort of ['name,id', '', '-'])
      expect(faultIn(await send(`${products}?sort=${sort}`)).code).toBe('sort_invalid')
    expect(faultIn(await send(`${products}?sort=name&after_id=5`)).code).toBe('sort_invalid')
    const csv = await send(`${products}?sort=name`, { headers: { accept: 'text/csv' } })
    expect(problemIn(csv, 400).errors?.[0]).toMatchObject({
      code: 'parameter_not_for_export',
      parameter: 'sort',
    })
  })
})

describe('L2: search', () => {
  test('[L2] each word must occur in a text field, in whichever, ignoring case', async () => {
    const { data } = await list(`${products}?limit=1000&fields=id,name,default_code`)
    const has = (row: Row, word: string) =>
      [row['name'], row['default_code']].some(
        (text) => typeof text === 'string' && text.toLowerCase().includes(word),
      )
    for (const words of [['bolt'], ['hex', 'm8'], ['o'], ['mix'], ['nosuchword']]) {
      const found = await list(
        `${products}?fields=id&limit=1000&search=${encoded(words.join(' ').toUpperCase())}`,
      )
      const expected = data.filter((row) => words.every((word) => has(row, word))).map(({ id }) => ({ id }))
      expect(found.data, words.join()).toEqual(expected)
      expect(found.meta.total).toBe(expected.length)
    }
  })

  test('[L2] with a filter and a sort, and in an export', async () => {
    const both = await list(
      `${products}?fields=id&limit=1000&search=bolt&filter=${encoded('active=true|active=false')}&sort=-id`,
    )
    const plain = await list(`${products}?fields=id&limit=1000&search=bolt`)
    expect(both.data).toEqual(plain.data.toReversed())
    const exported = await send(`${products}?fields=id&search=bolt`, {
      headers: { accept: 'application/x-ndjson' },
    })
    const lines = exported.text
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line))
    expect(lines.slice(0, -1)).toEqual(plain.data)
  })

  test('[L2] no word, or too many, is a 400', async () => {
    for (const search of ['', '%20', 'a%20b%20c%20d%20e%20f%20g%20h%20i', 'x'.repeat(257)])
      expect(faultIn(await send(`${products}?search=${search}`)).code).toBe('search_invalid')
  })
})
