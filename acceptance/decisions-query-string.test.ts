import { describe, expect, test } from 'vitest'
import { encoded, faultIn, keyOf, list, problemIn, products, send } from './client.ts'

const idsAt = async (query: string) => (await list(`${products}?${query}`)).data.map((row) => row['id'])

describe('Q1: & inside a filter', () => {
  for (const query of [
    'filter=list_price>10&active=true&limit=5',
    'limit=5&filter=list_price>10&active=true',
    'filter=list_price>10&active=true&limit=5&fields=id',
    '&filter=list_price>10&&active=true&limit=5&',
    `filter=${encoded('list_price>10&active=true')}&limit=5`,
    'filter=list_price%3E10&active%3Dtrue&limit=5',
    'filter=list_price>10%26active=true&limit=5',
  ]) {
    test(`[Q1] ${query}`, async () => {
      expect(await idsAt(query)).toEqual([4, 5, 7, 8, 9])
    })
  }

  test('[Q1] segments after the filter belong to it until the next parameter', async () => {
    expect(await idsAt('filter=categ_id=7&active=true&list_price>4&list_price<32&limit=9')).toEqual([
      10, 15, 42,
    ])
    expect(await idsAt('filter=id=1|id=2&categ_id=7&fields=id')).toEqual([1, 2])
  })

  test('[Q1] an unknown segment that does not follow a filter is a 400', async () => {
    for (const query of [
      'active=true',
      'active=true&filter=list_price>10',
      'filter=list_price>10&limit=5&active=true',
      'fields=id&list_price>10',
      'Filter=id=1',
      'order=name',
    ]) {
      expect(faultIn(await send(`${products}?${query}`)).code).toBe('parameter_unknown')
    }
  })

  test('[Q1] empty segments are ignored', async () => {
    expect(await idsAt('&&limit=2&&page=2&')).toEqual([3, 4])
    expect((await list(`${products}?`)).meta.count).toBe(10)
  })

  test('[Q1] a filter is decoded once', async () => {
    expect(await idsAt('filter=name*10%25')).toEqual([5])
    expect(await idsAt('filter=name*10%2525')).toEqual([])
    expect(await idsAt('filter=name=Gr%C3%B6%C3%9Fe%20%C3%84%20Ventil')).toEqual([14])
  })

  test('[Q1] a plus is a space, %2B is a plus', async () => {
    expect(await idsAt('filter=name=Hex+bolt+M8')).toEqual([1])
    expect(await idsAt('filter=name=Plus+%2B+minus')).toEqual([22])
    expect(await idsAt('filter=default_code=P%2BM')).toEqual([22])
    expect(await idsAt('filter=default_code=P+M')).toEqual([])
  })

  test('[Q1] a filter that cannot be decoded is a 400', async () => {
    for (const query of ['filter=name=%', 'filter=name=%zz', 'filter=name=%E4', 'filter=name=%C3%28']) {
      expect(faultIn(await send(`${products}?${query}`)).code).toBe('parameter_encoding')
    }
  })
})

test('[Q2] the same parameter twice is a 400', async () => {
  for (const query of [
    'limit=5&limit=5',
    'page=1&limit=2&page=2',
    'fields=id&fields=name',
    'filter=id=1&filter=id=2',
    'filter=id=1&limit=3&filter=id=1',
  ]) {
    expect(faultIn(await send(`${products}?${query}`)).code).toBe('parameter_repeated')
  }
})

describe('Q3: fields', () => {
  test('[Q3] an empty fields parameter returns all fields', async () => {
    expect(await list(`${products}?fields=&limit=2`)).toEqual(await list(`${products}?limit=2`))
  })

  test('[Q3] a repeated name is returned once', async () => {
    const { text } = await send(`${products}?fields=name,id,name&limit=1`)
    expect(text).toContain('[{"name":"Hex bolt M8","id":1}]')
  })

  test('[Q3] records have the fields in the requested order', async () => {
    const { text } = await send(`${products}?fields=list_price,id,active&limit=1`)
    expect(text).toContain('[{"list_price":0.1,"id":1,"active":true}]')
  })

  test('[Q3] id is not added if it was not requested', async () => {
    expect((await list(`${products}?fields=name&limit=1`)).data).toEqual([{ name: 'Hex bolt M8' }])
  })

  test('[Q3] all unknown names are reported, with the most similar name', async () => {
    const { errors } = problemIn(await send(`${products}?fields=nam,id,list_prise`), 400)
    expect(errors).toMatchObject([
      { parameter: 'fields', code: 'field_unknown' },
      { parameter: 'fields', code: 'field_unknown' },
    ])
    expect(errors?.[0]?.suggestion).toContain('name')
    expect(errors?.[1]?.suggestion).toContain('list_price')
  })
})

describe('Q4: page and limit', () => {
  for (const value of [
    '1001',
    '0',
    '-1',
    'abc',
    '1.5',
    '1e2',
    '',
    ' ',
    '10x',
    '99999999999999999999',
    'null',
  ]) {
    test(`[Q4] limit=${value} is a 400 that states the limit`, async () => {
      const fault = faultIn(await send(`${products}?limit=${encoded(value)}`))
      expect(fault).toMatchObject({ parameter: 'limit', code: 'limit_invalid' })
      expect(fault.message).toMatch(/\b1\b.*\b1,?000\b/)
    })
  }

  for (const value of ['0', '-1', 'abc', '1.5', '1e2', '', '1x', '99999999999999999999']) {
    test(`[Q4] page=${value} is a 400 that states the limit`, async () => {
      const fault = faultIn(await send(`${products}?page=${encoded(value)}`))
      expect(fault).toMatchObject({ parameter: 'page', code: 'page_invalid' })
      expect(fault.message).toMatch(/\b1\b/)
    })
  }
})

describe('B14: after_id and max_id', () => {
  test('[B14] return the records with greater ids up to max_id, and their total', async () => {
    const all = (await list(`${products}?fields=id&limit=1000`)).data.map(({ id }) => Number(id))
    const [after, max] = [all[3] ?? 0, all[8] ?? 0]
    const window = `after_id=${after}&max_id=${max}`
    const found = await list(`${products}?fields=id&${window}&limit=2&page=2`)
    expect(found.data.map(({ id }) => id)).toEqual(all.slice(6, 8))
    expect(found.meta).toEqual({ count: 2, total: 5 })
    const narrower = await list(`${products}?fields=id&filter=id!=${all[5]}&${window}`)
    expect(narrower.data.map(({ id }) => id)).toEqual([4, 6, 7, 8].map((at) => all[at]))
    expect((await list(`${products}?after_id=${max}&max_id=${after}`)).meta.total).toBe(0)
  })

  test('[B14] are part of the Link header', async () => {
    const response = await send(`${products}?after_id=1&max_id=9&limit=2`)
    expect(String(response.headers['link'])).toContain('?after_id=1&max_id=9&page=2&limit=2>; rel="next"')
  })

  test('[B14] do not count towards the limits of the filter', async () => {
    const widest = ['id>0', ...Array.from({ length: 199 }, () => 'id!=0')].join('&')
    const plain = await list(`${products}?filter=${encoded(widest)}`)
    const within = await list(`${products}?filter=${encoded(widest)}&after_id=0&max_id=9007199254740991`)
    expect(within).toEqual(plain)
    problemIn(await send(`${products}?filter=${encoded(`${widest}&id!=0`)}`), 400)
  })

  for (const value of ['-1', 'abc', '1.5', '', '9007199254740992', '99999999999999999999']) {
    test(`[B14] after_id=${value} and max_id=${value} are a 400 that states the limit`, async () => {
      for (const name of ['after_id', 'max_id']) {
        const fault = faultIn(await send(`${products}?${name}=${encoded(value)}`))
        expect(fault).toMatchObject({ parameter: name, code: `${name}_invalid` })
        expect(fault.message).toContain('from 0 to 9007199254740991')
      }
    })
  }

  test('[B14] are unknown for the lists of administrators, which are not ordered by id', async () => {
    const fault = faultIn(await send('/manage/v1/audit?after_id=1', { key: keyOf('accountManage') }))
    expect(fault).toMatchObject({ parameter: 'after_id', code: 'parameter_unknown' })
  })
})

describe('Q5: a page beyond the last', () => {
  test('[Q5] is empty, with the true total and the last page as the previous one', async () => {
    for (const page of [4, 5, 1_000_000]) {
      expect(await list(`${products}?page=${page}`)).toEqual({
        data: [],
        meta: { count: 0, total: 30 },
        pagination: { previousPage: 3, currentPage: page, nextPage: null, totalPages: 3 },
      })
    }
    const filtered = await list(`${products}?filter=categ_id=7&limit=3&page=9`)
    expect(filtered.meta).toEqual({ count: 0, total: 8 })
    expect(filtered.pagination.previousPage).toBe(3)
  })

  test('[Q5] if nothing matches, there are no pages', async () => {
    const none = { data: [], meta: { count: 0, total: 0 } }
    expect(await list(`${products}?filter=id=999`)).toEqual({
      ...none,
      pagination: { previousPage: null, currentPage: 1, nextPage: null, totalPages: 0 },
    })
    expect(await list(`${products}?filter=id=999&page=7`)).toEqual({
      ...none,
      pagination: { previousPage: null, currentPage: 7, nextPage: null, totalPages: 0 },
    })
  })
})

describe('Q6: order', () => {
  test('[Q6] records are ordered by id, with any filter', async () => {
    expect(await idsAt('filter=list_price[250,12.5,-3.25]&limit=9')).toEqual([4, 19, 25, 42])
    expect(await idsAt('filter=name*hex&limit=9')).toEqual([1, 2, 3, 4, 42])
  })

  test('[Q6] reading all pages returns every record once', async () => {
    const options = { host: 'bulk', key: keyOf('bulk') }
    const ids: unknown[] = []
    for (let page: number | null = 1; page !== null; ) {
      const body = await list(`${products}?fields=id&limit=611&filter=active=true&page=${page}`, options)
      ids.push(...body.data.map((row) => row['id']))
      page = body.pagination.nextPage
    }
    expect(ids).toEqual(Array.from({ length: 2500 }, (_, i) => i + 1))
  })
})
