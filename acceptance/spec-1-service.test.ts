import { expect, test } from 'vitest'
import { companies, create, createdId, keyOf, list, partners, products, recordIn, send } from './client.ts'

test('[1-1] every response is JSON', async () => {
  const good = await send(products)
  expect(good.headers['content-type']).toMatch(/^application\/json\b/)
  expect(() => JSON.parse(good.text)).not.toThrow()
  const bad = await send(`${products}?limit=0`)
  expect(bad.headers['content-type']).toMatch(/^application\/problem\+json\b/)
  expect(() => JSON.parse(bad.text)).not.toThrow()
})

test('[1-2] products, partners and companies can be read', async () => {
  expect((await list(products)).meta.total).toBe(30)
  expect((await list(partners)).meta.total).toBe(20)
  expect((await list(companies)).meta.total).toBe(6)
})

test('[1-3] a list is selected, filtered and paged in one request', async () => {
  const body = await list(`${products}?fields=id,name&filter=categ_id=7&limit=3&page=2`)
  expect(body).toEqual({
    data: [
      { id: 10, name: 'Nuts & bolts' },
      { id: 13, name: 'Screws, assorted [box]' },
      { id: 15, name: '螺栓 M8' },
    ],
    meta: { count: 3, total: 8 },
    pagination: { previousPage: 1, currentPage: 2, nextPage: 3, totalPages: 3 },
  })
})

test('[1-4] one partner is fetched by its identifier', async () => {
  expect(recordIn(await send(`${partners}/42`))['name']).toBe('Nordwind Logistics')
})

test('[1-5] a partner that was created can be read', async () => {
  const id = createdId(await create('{"name":"Created in section one"}'))
  const created = await send(`${partners}/${id}?fields=id,name`, { host: 'initech', key: keyOf('initech') })
  expect(recordIn(created)).toEqual({ id, name: 'Created in section one' })
})

test('[1-6] a partner is a customer, a vendor or an employee', async () => {
  const response = await send(`${partners}?fields=id,is_customer,is_vendor,is_employee&filter=id[1,2,3]`)
  expect(JSON.parse(response.text).data).toEqual([
    { id: 1, is_customer: false, is_vendor: false, is_employee: true },
    { id: 2, is_customer: false, is_vendor: true, is_employee: false },
    { id: 3, is_customer: true, is_vendor: false, is_employee: false },
  ])
})

test('[1-7] the same path on two hosts returns the data of two accounts', async () => {
  const path = `${products}/1?fields=name`
  expect(recordIn(await send(path))).toEqual({ name: 'Hex bolt M8' })
  const other = await send(path, { host: 'globex', key: keyOf('globex') })
  expect(recordIn(other)).toEqual({ name: 'globex turbine' })
})
