import { expect, test } from 'vitest'
import { companies, create, partners, problemIn, products, send } from './client.ts'

test('[7-1] a list request with invalid parameters is a 400', async () => {
  const wrong = [
    'fields=nosuch',
    'fields=name,,id',
    'filter=nosuch=1',
    'filter=name',
    'filter=id>x',
    'page=0',
    'limit=1001',
    'nosuch=1',
    'limit=1&limit=1',
  ]
  for (const path of [products, partners, companies]) {
    for (const query of wrong) {
      expect(problemIn(await send(`${path}?${query}`), 400).code).toBe('request_invalid')
    }
  }
})

test('[7-2] a single-record request with invalid fields is a 400', async () => {
  for (const path of [products, partners, companies]) {
    expect(problemIn(await send(`${path}/1?fields=id,nosuch`), 400).code).toBe('request_invalid')
  }
})

test('[7-3] a malformed create request is a 400', async () => {
  expect(problemIn(await create('name=x'), 400).code).toBe('body_invalid')
})

test('[7-4] missing or invalid authentication is a 401', async () => {
  expect(problemIn(await send(products, { key: null }), 401).code).toBe('unauthenticated')
  expect(problemIn(await send(products, { key: 'not-a-key' }), 401).code).toBe('unauthenticated')
})

test('[7-5] a single-record request for an id that does not exist is a 404', async () => {
  for (const path of [products, partners, companies]) {
    expect(problemIn(await send(`${path}/1000`), 404).code).toBe('record_unknown')
  }
})

test('[7-6] every error has the same members', async () => {
  const shape = ['code', 'detail', 'request_id', 'status', 'title', 'type']
  for (const [path, status] of [
    [`${products}?limit=0`, 400],
    [`${products}/1000`, 404],
    ['/api/v1/nothing', 404],
  ] as const) {
    const { errors: _, ...rest } = problemIn(await send(path), status)
    expect(Object.keys(rest).toSorted()).toEqual(shape)
    expect(rest.status).toBe(status)
  }
})
