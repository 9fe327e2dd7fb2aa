import { describe, expect, inject, test } from 'vitest'
import {
  companies,
  create,
  createdId,
  faultIn,
  idsOf,
  keyOf,
  list,
  partners,
  problemIn,
  products,
  recordIn,
  send,
} from './client.ts'
import { issueKey, quartermaster } from './operator.ts'

describe('R1: types', () => {
  test('[R1] a product without optional values has nulls and defaults', async () => {
    expect(recordIn(await send(`${products}/21`))).toEqual({
      id: 21,
      name: 'No code at all',
      default_code: null,
      list_price: 0,
      qty_available: 0,
      active: true,
      categ_id: null,
      product_tmpl_id: null,
      is_rsd_product: null,
      create_date: '2026-01-21T10:00:00.000Z',
      write_date: '2026-02-02T00:00:00.000Z',
    })
  })

  test('[R1] a partner that was created has the defaults', async () => {
    const before = Date.now()
    const id = createdId(await create('{"name":"Defaults"}'))
    const { create_date, write_date, ...rest } = recordIn(
      await send(`${partners}/${id}`, { host: 'initech', key: keyOf('initech') }),
    )
    expect(rest).toEqual({
      id,
      name: 'Defaults',
      is_company: false,
      is_patient: false,
      is_customer: false,
      is_vendor: false,
      is_employee: false,
      email: null,
      phone: null,
      active: true,
    })
    expect(write_date).toBe(create_date)
    // The service may run on another machine, whose clock differs by up to a minute.
    expect(Date.parse(String(create_date))).toBeGreaterThan(before - 60_000)
    expect(Date.parse(String(create_date))).toBeLessThan(Date.now() + 60_000)
  })

  test('[R1] every field of every resource can be selected and filtered by', async () => {
    for (const path of [products, partners, companies]) {
      const one = recordIn(await send(`${path}/42`))
      for (const [field, value] of Object.entries(one)) {
        expect(recordIn(await send(`${path}/42?fields=${field}`))).toEqual({ [field]: value })
        expect(await idsOf(`id=42&${field}="${value}"`, path)).toEqual([42])
        expect(await idsOf(`id=42&${field}!="${value}"`, path)).toEqual([])
      }
    }
  })
})

test('[R2] decimals are exact JSON numbers without trailing zeros', async () => {
  const { text } = await send(`${products}?fields=list_price&filter=id[5,8,19,20,21,23,29,42]`)
  const prices = [...text.matchAll(/"list_price":([^,}]+)/g)].map((match) => match[1])
  expect(prices).toEqual([
    '100',
    '15.000001',
    '-3.25',
    '123456789012345678.123456',
    '0',
    '36',
    '41.1',
    '12.5',
  ])
  const gold = await send(`${products}/20?fields=qty_available`)
  expect(gold.text).toBe('{"data":{"qty_available":123456789012345678.123457}}')
})

test('[R3] timestamps are UTC with milliseconds', async () => {
  const { data } = await list(`${products}?fields=create_date,write_date&filter=id[1,2,29,42]`)
  expect(data).toEqual([
    { create_date: '2026-01-05T08:00:00.000Z', write_date: '2026-02-01T00:00:00.000Z' },
    { create_date: '2026-01-05T08:00:00.500Z', write_date: '2026-02-01T00:00:00.001Z' },
    { create_date: '2026-01-29T10:00:00.000Z', write_date: '2026-02-03T09:08:07.006Z' },
    { create_date: '2026-03-02T08:15:00.000Z', write_date: '2026-11-14T09:30:00.000Z' },
  ])
})

describe('R4: ids', () => {
  test('[R4] are per account and resource', async () => {
    const globex = { host: 'globex', key: keyOf('globex') }
    expect(recordIn(await send(`${partners}/1?fields=id,name`, globex))).toEqual({
      id: 1,
      name: 'globex sales',
    })
    expect(recordIn(await send(`${partners}/1?fields=id,name`))).toEqual({ id: 1, name: 'Ada Lovelace' })
    expect(recordIn(await send(`${products}/1?fields=id`))).toEqual({ id: 1 })
  })

  test.skipIf(inject('target').local === undefined)('[R4] begin with 1 and are never reused', async () => {
    const environment = { DATABASE_URL: inject('target').local?.databaseUrl ?? '' }
    const account = 'counting'
    await quartermaster(environment, 'account', 'create', account)
    const { key } = await issueKey(environment, account, 'counts')
    const next = async () => createdId(await create('{"name":"Counted"}', { host: account, key }))
    expect([await next(), await next(), await next()]).toEqual([1, 2, 3])
    for (const id of [2, 3]) await send(`${partners}/${id}`, { host: account, key, method: 'DELETE' })
    const remaining = await list(`${partners}?fields=id`, { host: account, key })
    expect(remaining.data).toEqual([{ id: 1 }])
    expect(remaining.meta.total).toBe(1)
    expect(await next()).toBe(4)
  })
})

test('[R5] inactive records are listed and can be fetched', async () => {
  expect(recordIn(await send(`${products}/25?fields=id,active`))).toEqual({ id: 25, active: false })
  expect((await list(`${products}?limit=1`)).meta.total).toBe(30)
})

describe('R7: an id that is not a positive integer', () => {
  for (const id of [
    '0',
    '-1',
    'abc',
    '1.5',
    '1e0',
    '0x1',
    '9007199254740993',
    '99999999999999999999',
    '1%20',
    "1'",
  ]) {
    test(`[R7] ${id} is a 404`, async () => {
      for (const path of [products, partners, companies]) {
        expect(problemIn(await send(`${path}/${id}`), 404).code).toBe('record_unknown')
      }
    })
  }
})

test('[R8] other query parameters on get one are a 400', async () => {
  for (const path of [products, partners, companies]) {
    for (const query of ['limit=1', 'page=1', 'filter=id=1', 'nosuch=1', 'fields=id&expand=all']) {
      expect(faultIn(await send(`${path}/1?${query}`)).code).toBe('parameter_unknown')
    }
    expect(faultIn(await send(`${path}/1?fields=id&fields=name`)).code).toBe('parameter_repeated')
  }
})
