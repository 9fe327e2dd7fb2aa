import { describe, expect, test } from 'vitest'
import { companies, idsOf, keyOf, list, partners, problemIn, products, send } from './client.ts'

test('[4-1] all paths are relative to the account address, and no other path exists', async () => {
  for (const path of [products, partners, companies]) {
    expect((await send(path)).status).toBe(200)
    problemIn(await send(path.replace('/api/v1', '')), 404)
  }
})

test('[4-2] every operation needs authentication', async () => {
  for (const path of [products, partners, companies]) {
    problemIn(await send(path, { key: null }), 401)
    problemIn(await send(`${path}/1`, { key: null }), 401)
    problemIn(await send(path, { key: null, method: 'QUERY' }), 401)
  }
  const headers = { 'content-type': 'application/json' }
  problemIn(await send(partners, { key: null, method: 'POST', headers, body: '{"name":"x"}' }), 401)
})

describe('4.2 get many products', () => {
  test('[4.2-1] GET /api/v1/inventory/product returns 200 with a list', async () => {
    const body = await list('/api/v1/inventory/product')
    expect(body.meta).toEqual({ count: 10, total: 30 })
    expect(body.data[0]).toEqual({
      id: 1,
      name: 'Hex bolt M8',
      default_code: 'BLT-M8',
      list_price: 0.1,
      qty_available: 310,
      active: true,
      categ_id: 7,
      product_tmpl_id: 101,
      is_rsd_product: null,
      create_date: '2026-01-05T08:00:00.000Z',
      write_date: '2026-02-01T00:00:00.000Z',
    })
  })

  test('[4.2-2] it accepts fields, filter, limit and page', async () => {
    const body = await list(`${products}?fields=id&filter=id>3&limit=2&page=2`)
    expect(body.data).toEqual([{ id: 6 }, { id: 7 }])
  })

  test('[4.2-3] invalid parameters are a 400', async () => {
    expect(problemIn(await send(`${products}?filter=name`), 400).code).toBe('request_invalid')
  })

  test('[4.2-4] without authentication it is a 401', async () => {
    expect(problemIn(await send(products, { key: null }), 401).code).toBe('unauthenticated')
  })
})

describe('4.4 get many partners', () => {
  test('[4.4-1] GET /api/v1/resources/partner returns 200 with a list', async () => {
    const body = await list('/api/v1/resources/partner')
    expect(body.meta).toEqual({ count: 10, total: 20 })
    expect(body.data[0]).toEqual({
      id: 1,
      name: 'Ada Lovelace',
      is_company: false,
      is_patient: false,
      is_customer: false,
      is_vendor: false,
      is_employee: true,
      email: 'ada@acme.example',
      phone: '+44 20 5550 001',
      active: true,
      create_date: '2026-04-01T06:30:00.000Z',
      write_date: '2026-05-01T18:45:30.250Z',
    })
  })

  test('[4.4-2] it accepts fields, filter, limit and page', async () => {
    const body = await list(`${partners}?fields=name&filter=is_customer=true&limit=3&page=2`)
    expect(body.data).toEqual([{ name: "Finn O'Hara" }, { name: 'Kontor 100% AG' }, { name: 'Mia Customer' }])
    expect(body.meta.total).toBe(13)
  })

  test('[4.4-3] invalid parameters are a 400', async () => {
    expect(problemIn(await send(`${partners}?page=x`), 400).code).toBe('request_invalid')
  })

  test('[4.4-4] without authentication it is a 401', async () => {
    expect(problemIn(await send(partners, { key: null }), 401).code).toBe('unauthenticated')
  })

  test('[4.4-5] partners include customers, vendors and employees', async () => {
    expect(await idsOf('is_customer=true', partners)).toEqual([
      3, 4, 5, 6, 11, 13, 14, 15, 16, 17, 18, 19, 42,
    ])
    expect(await idsOf('is_vendor=true', partners)).toEqual([2, 7, 8, 11, 42])
    expect(await idsOf('is_employee=true', partners)).toEqual([1, 9, 10])
  })
})

describe('4.5 get many companies', () => {
  test('[4.5-1] GET /api/v1/resources/company returns 200 with a list', async () => {
    const body = await list('/api/v1/resources/company')
    expect(body.meta).toEqual({ count: 6, total: 6 })
    expect(body.data[5]).toEqual({
      id: 42,
      name: 'Quayside Trading Ltd',
      company_code: 'QST',
      branch_user: '00417',
      create_date: '2026-03-02T08:15:00.000Z',
      write_date: '2026-11-14T09:30:00.000Z',
    })
  })

  test('[4.5-2] it accepts fields, filter, limit and page', async () => {
    const body = await list(`${companies}?fields=branch_user&filter=id<42&limit=2&page=3`)
    expect(body.data).toEqual([{ branch_user: '417' }])
  })

  test('[4.5-3] invalid parameters are a 400', async () => {
    expect(problemIn(await send(`${companies}?limit=1e3`), 400).code).toBe('request_invalid')
  })

  test('[4.5-4] without authentication it is a 401', async () => {
    expect(problemIn(await send(companies, { key: null }), 401).code).toBe('unauthenticated')
  })

  test('[4.5-5] companies cannot be replaced, and changed only with company:write', async () => {
    const headers = { 'content-type': 'application/json' }
    const body = '{"name":"x","branch_user":"1"}'
    for (const path of [companies, `${companies}/1`]) problemIn(await send(path, { method: 'PUT' }), 405)
    const key = keyOf('partnerCreate')
    problemIn(await send(companies, { method: 'POST', key, headers, body }), 403)
    for (const method of ['PATCH', 'DELETE']) {
      problemIn(await send(`${companies}/1`, { method, key, headers, body }), 403)
    }
    expect((await list(companies)).meta.total).toBe(6)
  })
})
