import { describe, expect, test } from 'vitest'
import { companies, create, createdId, faultIn, list, partners, products, recordIn, send } from './client.ts'

const isoUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

async function everyValue(path: string, field: string) {
  const { data } = await list(`${path}?fields=${field}&limit=1000`)
  expect(data.length).toBeGreaterThan(0)
  return data.map((row) => row[field])
}

describe('2.1 product', () => {
  test('[2.1-1] id is an integer that identifies the record', async () => {
    const values = await everyValue(products, 'id')
    expect(values.every(Number.isInteger)).toBe(true)
    expect(new Set(values).size).toBe(30)
  })

  test('[2.1-2] name is a string', async () => {
    const values = await everyValue(products, 'name')
    expect(values.every((value) => typeof value === 'string')).toBe(true)
    expect(values[0]).toBe('Hex bolt M8')
  })

  test('[2.1-3] default_code is a string, or null', async () => {
    const values = await everyValue(products, 'default_code')
    expect(values[0]).toBe('BLT-M8')
    expect(values.filter((value) => typeof value !== 'string')).toEqual([null])
  })

  test('[2.1-4] list_price is a decimal number', async () => {
    const values = await everyValue(products, 'list_price')
    expect(values.every((value) => typeof value === 'number')).toBe(true)
    expect(values.slice(0, 4)).toEqual([0.1, 0.2, 0.3, 12.5])
  })

  test('[2.1-5] qty_available is a number', async () => {
    const values = await everyValue(products, 'qty_available')
    expect(values.every((value) => typeof value === 'number')).toBe(true)
    expect(values.slice(0, 7)).toEqual([310, 0, 25.5, 40, 1000, 5, -2])
  })

  test('[2.1-6] active is a boolean', async () => {
    const values = await everyValue(products, 'active')
    expect(values.filter((value) => value === false)).toHaveLength(3)
    expect(values.filter((value) => value === true)).toHaveLength(27)
  })

  test('[2.1-7] categ_id is an integer, or null', async () => {
    const values = await everyValue(products, 'categ_id')
    expect(values.filter((value) => !Number.isInteger(value))).toEqual([null])
    expect(values[0]).toBe(7)
  })

  test('[2.1-8] product_tmpl_id is an integer, or null', async () => {
    const values = await everyValue(products, 'product_tmpl_id')
    expect(values.filter((value) => !Number.isInteger(value))).toEqual([null])
    expect(values.at(-1)).toBe(1042)
  })

  test('[2.1-9] is_rsd_product is null or a value', async () => {
    const values = await everyValue(products, 'is_rsd_product')
    expect(values.slice(0, 4)).toEqual([null, true, false, false])
    expect(values.filter((value) => value === null)).toHaveLength(25)
  })

  test('[2.1-10] create_date is an ISO 8601 timestamp in UTC', async () => {
    const values = await everyValue(products, 'create_date')
    for (const value of values) expect(value).toMatch(isoUtc)
    expect(values[1]).toBe('2026-01-05T08:00:00.500Z')
  })

  test('[2.1-11] write_date is an ISO 8601 timestamp in UTC', async () => {
    const values = await everyValue(products, 'write_date')
    for (const value of values) expect(value).toMatch(isoUtc)
    expect(values[28]).toBe('2026-02-03T09:08:07.006Z')
  })

  test('[2.1-12] products are at inventory/product, and nowhere else', async () => {
    expect((await send('/api/v1/inventory/product')).status).toBe(200)
    expect((await send('/api/v1/resources/product')).status).toBe(404)
    expect((await send('/api/v1/product')).status).toBe(404)
  })
})

describe('2.2 partner', () => {
  test('[2.2-1] id is an integer, and creation returns it', async () => {
    const values = await everyValue(partners, 'id')
    expect(values.every(Number.isInteger)).toBe(true)
    expect(Number.isInteger(createdId(await create('{"name":"Has an id"}')))).toBe(true)
  })

  test('[2.2-2] name is a string, and the only field that a creation needs', async () => {
    expect((await everyValue(partners, 'name')).every((value) => typeof value === 'string')).toBe(true)
    expect((await create('{"name":"Only a name"}')).status).toBe(201)
    expect(faultIn(await create('{"email":"a@example.com"}')).pointer).toBe('/name')
    for (const member of ['id', 'create_date', 'company']) {
      const fault = faultIn(await create(`{"name":"More","${member}":1}`))
      expect(fault.pointer).toBe(`/${member}`)
    }
  })

  test('[2.2-3] is_company is a boolean', async () => {
    const values = await everyValue(partners, 'is_company')
    expect(values.filter((value) => value === true)).toHaveLength(5)
    expect(values.filter((value) => value === false)).toHaveLength(15)
  })

  test('[2.2-4] is_patient is a boolean', async () => {
    const values = await everyValue(partners, 'is_patient')
    expect(values.filter((value) => value === true)).toHaveLength(2)
    expect(values.filter((value) => value === false)).toHaveLength(18)
  })

  test('[2.2-5] partners are at resources/partner, and nowhere else', async () => {
    expect((await send('/api/v1/resources/partner')).status).toBe(200)
    expect((await send('/api/v1/inventory/partner')).status).toBe(404)
  })
})

describe('2.3 company', () => {
  test('[2.3-1] name is a string', async () => {
    expect(await everyValue(companies, 'name')).toEqual([
      'Quartermaster Holding',
      'Harbour Works',
      'Überseehandel AG',
      "O'Brien & Sons",
      'Null Island Ltd',
      'Quayside Trading Ltd',
    ])
  })

  test('[2.3-2] company_code is a string or null', async () => {
    expect(await everyValue(companies, 'company_code')).toEqual(['QMH', null, '', 'OB&S', 'null', 'QST'])
  })

  test('[2.3-3] branch_user is a string of digits, with leading zeros', async () => {
    const expected = ['00001', '00017', '17', '000417', '417', '00417']
    expect(await everyValue(companies, 'branch_user')).toEqual(expected)
  })

  test('[2.3-4] companies are at resources/company, and nowhere else', async () => {
    expect(recordIn(await send('/api/v1/resources/company/42?fields=id'))).toEqual({ id: 42 })
    expect((await send('/api/v1/inventory/company')).status).toBe(404)
  })
})
