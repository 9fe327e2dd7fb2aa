import { describe, expect, test } from 'vitest'
import { companies, faultIn, keyOf, partners, problemIn, products, recordIn, send } from './client.ts'

describe('4.3 get one product', () => {
  test('[4.3-1] the record is directly in data, without meta or pagination', async () => {
    const response = await send('/api/v1/inventory/product/42')
    expect(recordIn(response)).toEqual({
      id: 42,
      name: 'Hex bolt M8 × 40, zinc',
      default_code: 'BLT-M8-040',
      list_price: 12.5,
      qty_available: 310,
      active: true,
      categ_id: 7,
      product_tmpl_id: 1042,
      is_rsd_product: false,
      create_date: '2026-03-02T08:15:00.000Z',
      write_date: '2026-11-14T09:30:00.000Z',
    })
    expect(Object.keys(JSON.parse(response.text))).toEqual(['data'])
  })

  test('[4.3-2][R6] it accepts fields, and returns 200, 400, 401 or 404', async () => {
    expect(recordIn(await send(`${products}/3?fields=qty_available,id`))).toEqual({
      qty_available: 25.5,
      id: 3,
    })
    expect(faultIn(await send(`${products}/3?fields=id,qty`)).code).toBe('field_unknown')
    problemIn(await send(`${products}/3`, { key: null }), 401)
    expect(problemIn(await send(`${products}/999`), 404).code).toBe('record_unknown')
  })
})

describe('4.6 get one partner', () => {
  test('[4.6-1] GET with an id returns 200 with the record directly in data', async () => {
    const response = await send('/api/v1/resources/partner/5')
    expect(recordIn(response)).toEqual({
      id: 5,
      name: 'Émile Patient',
      is_company: false,
      is_patient: true,
      is_customer: true,
      is_vendor: false,
      is_employee: false,
      email: null,
      phone: '+33 1 5550 005',
      active: true,
      create_date: '2026-04-05T06:30:00.000Z',
      write_date: '2026-05-05T18:45:30.250Z',
    })
    expect(Object.keys(JSON.parse(response.text))).toEqual(['data'])
  })

  test('[4.6-2] the id in the path selects the record', async () => {
    for (const [id, name] of [
      [1, 'Ada Lovelace'],
      [19, '山田 太郎'],
      [42, 'Nordwind Logistics'],
    ] as const) {
      expect(recordIn(await send(`${partners}/${id}?fields=id,name`))).toEqual({ id, name })
    }
  })

  test('[4.6-3] fields selects what is returned', async () => {
    const one = recordIn(await send(`${partners}/2?fields=is_vendor,name`))
    expect(Object.entries(one)).toEqual([
      ['is_vendor', true],
      ['name', 'Bolt & Nut GmbH'],
    ])
  })

  test('[4.6-4] without fields, all fields are returned', async () => {
    expect(Object.keys(recordIn(await send(`${partners}/2`)))).toEqual([
      'id',
      'name',
      'is_company',
      'is_patient',
      'is_customer',
      'is_vendor',
      'is_employee',
      'email',
      'phone',
      'active',
      'create_date',
      'write_date',
    ])
  })

  test('[4.6-5][7-2] invalid fields are a 400', async () => {
    const fault = faultIn(await send(`${partners}/2?fields=name,is_compny`))
    expect(fault).toMatchObject({ parameter: 'fields', code: 'field_unknown' })
    expect(fault.suggestion).toContain('is_company')
  })

  test('[4.6-6] without authentication it is a 401', async () => {
    problemIn(await send(`${partners}/2`, { key: null }), 401)
  })

  test('[4.6-7][7-5] an id that no record has is a 404', async () => {
    expect(problemIn(await send(`${partners}/43`), 404).code).toBe('record_unknown')
    expect(problemIn(await send(`${partners}/777`), 404).code).toBe('record_unknown')
    const theirs = await send(`${partners}/777?fields=name`, { host: 'globex', key: keyOf('globex') })
    expect(recordIn(theirs)).toEqual({ name: 'globex director' })
  })
})

test('[R6] one company can be fetched too', async () => {
  expect(recordIn(await send(`${companies}/3?fields=id,company_code`))).toEqual({ id: 3, company_code: '' })
  problemIn(await send(`${companies}/3?fields=code`), 400)
  problemIn(await send(`${companies}/3`, { key: null }), 401)
  expect(problemIn(await send(`${companies}/6`), 404).code).toBe('record_unknown')
})
