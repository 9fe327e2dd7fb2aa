import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  companies,
  createdId,
  faultIn,
  type HttpResponse,
  keyOf,
  list,
  partners,
  problemIn,
  products,
  recordIn,
  send,
} from './client.ts'

const initech = () => ({ host: 'initech', key: keyOf('initech') })
const json = { 'content-type': 'application/json' }
const write = (method: string, path: string, body?: string, headers: Record<string, string> = {}) =>
  send(path, {
    ...initech(),
    method,
    headers: { ...(body === undefined ? {} : json), ...headers },
    ...(body === undefined ? {} : { body }),
  })
const created = async (path: string, body: string) => createdId(await write('POST', path, body))
const etagOf = ({ headers }: HttpResponse) => headers.etag ?? ''

describe('POST', () => {
  test('[W1] creates a product, a partner and a company with any writable field', async () => {
    const bodies = {
      [products]:
        '{"name":"Bolt","default_code":"B-1","list_price":12.5,"qty_available":-3,"active":false,"categ_id":7,"product_tmpl_id":8,"is_rsd_product":true}',
      [partners]:
        '{"name":"Ada","is_company":true,"is_vendor":true,"email":"ada@example.com","phone":"+49 40 1"}',
      [companies]: '{"name":"Quayside","company_code":null,"branch_user":"00417"}',
    }
    for (const [path, body] of Object.entries(bodies)) {
      const response = await write('POST', path, body)
      const id = createdId(response)
      expect(response.headers.location).toBe(`${path}/${id}`)
      const read = await send(`${path}/${id}`, initech())
      expect(recordIn(read)).toMatchObject({ ...JSON.parse(body), id })
      expect(etagOf(read)).toBe(etagOf(response))
    }
  })

  test('[W1] reports every fault at once, and what the service assigns cannot be set', async () => {
    const { errors } = problemIn(
      await write(
        'POST',
        products,
        '{"id":5,"write_date":"2026-01-01","list_price":"1,5","qty_available":null,"nmae":"x","categ_id":1.5}',
      ),
      400,
    )
    expect(errors?.map(({ pointer, code }) => `${pointer} ${code}`).toSorted()).toEqual([
      '/categ_id member_invalid',
      '/id member_unknown',
      '/list_price member_invalid',
      '/name member_required',
      '/nmae member_unknown',
      '/qty_available member_invalid',
      '/write_date member_unknown',
    ])
  })

  test('[W1] needs the scope of the resource', async () => {
    const options = { method: 'POST', key: keyOf('partnerCreate'), headers: json, body: '{"name":"x"}' }
    expect(problemIn(await send(products, options), 403).detail).toContain('product:write')
  })

  test('[W6] decimals are stored without loss, as a number or as a string', async () => {
    for (const price of [
      '123456789012345678901234.123456789012',
      '"123456789012345678901234.123456789012"',
    ]) {
      const id = await created(products, `{"name":"Precise","list_price":${price}}`)
      const { text } = await send(`${products}/${id}?fields=list_price`, initech())
      expect(text).toBe('{"data":{"list_price":123456789012345678901234.123456789012}}')
    }
    const id = await created(products, '{"name":"Precise"}')
    const { text } = await write('PATCH', `${products}/${id}`, '{"qty_available":0.1000000000010}')
    expect(text).toContain('"qty_available":0.100000000001,')
  })
})

describe('PATCH', () => {
  test('[W2] changes the fields that it has, and null clears a field', async () => {
    const id = await created(products, '{"name":"Bolt","default_code":"B-1","categ_id":7}')
    const before = recordIn(await send(`${products}/${id}`, initech()))
    for (const type of ['application/json', 'application/merge-patch+json']) {
      const body = '{"name":" Screw ","default_code":null}'
      const patched = await write('PATCH', `${products}/${id}`, body, { 'content-type': type })
      const record = recordIn(patched)
      expect(record).toEqual({
        ...before,
        name: 'Screw',
        default_code: null,
        write_date: record['write_date'],
      })
      const read = await send(`${products}/${id}`, initech())
      expect([recordIn(read), etagOf(read)]).toEqual([record, etagOf(patched)])
    }
  })

  test('[W2] a patch that changes nothing keeps ETag and write_date', async () => {
    const id = await created(products, '{"name":"Bolt","list_price":2}')
    const before = await send(`${products}/${id}`, initech())
    for (const body of ['{}', '{"list_price":2.0}']) {
      const patched = await write('PATCH', `${products}/${id}`, body)
      expect([recordIn(patched), etagOf(patched)]).toEqual([recordIn(before), etagOf(before)])
    }
  })

  test('[W2] an unknown or invalid member is a 400, and no record a 404', async () => {
    const id = await created(products, '{"name":"Bolt"}')
    expect(faultIn(await write('PATCH', `${products}/${id}`, '{"id":7}'))).toMatchObject({
      pointer: '/id',
      code: 'member_unknown',
    })
    expect(faultIn(await write('PATCH', `${products}/${id}`, '{"name":null}')).pointer).toBe('/name')
    problemIn(await write('PATCH', `${products}/999999999`, '{"name":"x"}'), 404)
    problemIn(await write('PATCH', `${products}/x`, '{"name":"x"}'), 404)
  })
})

describe('DELETE', () => {
  test('[W3] deletes the record; a second time it is a 404', async () => {
    const id = await created(partners, '{"name":"Gone"}')
    const deleted = await write('DELETE', `${partners}/${id}`)
    expect([deleted.status, deleted.text]).toEqual([204, ''])
    problemIn(await send(`${partners}/${id}`, initech()), 404)
    problemIn(await write('DELETE', `${partners}/${id}`), 404)
    problemIn(await write('PATCH', `${partners}/${id}`, '{"name":"x"}'), 404)
    expect((await list(`${partners}?filter=id=${id}`, initech())).meta.total).toBe(0)
  })
})

describe('If-Match', () => {
  test('[W4] a change or delete with an outdated ETag is a 412 and writes nothing', async () => {
    const id = await created(products, '{"name":"Bolt"}')
    const path = `${products}/${id}`
    const first = etagOf(await send(path, initech()))
    const second = etagOf(await write('PATCH', path, '{"name":"Screw"}', { 'if-match': first }))
    for (const method of ['PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? '{"name":"Lost"}' : undefined
      expect(problemIn(await write(method, path, body, { 'if-match': first }), 412).code).toBe(
        'precondition_failed',
      )
    }
    expect(recordIn(await send(`${path}?fields=name`, initech()))).toEqual({ name: 'Screw' })
    expect((await write('DELETE', path, undefined, { 'if-match': `"x", ${second}` })).status).toBe(204)
  })

  test('[W4] of concurrent changes with the same ETag one succeeds', async () => {
    const id = await created(products, '{"name":"Bolt"}')
    const path = `${products}/${id}`
    const headers = { 'if-match': etagOf(await send(`${path}?fields=id`, initech())) }
    const statuses = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const response = await write('PATCH', path, `{"list_price":${n + 1}}`, headers)
        return response.status
      }),
    )
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 412)).toHaveLength(7)
  })
})

test('[W5] a retry with the same Idempotency-Key gets the same response and writes nothing', async () => {
  const id = await created(products, '{"name":"Bolt"}')
  const path = `${products}/${id}`
  const headers = { 'idempotency-key': randomUUID() }
  const first = await write('PATCH', path, '{"list_price":5}', headers)
  await write('PATCH', path, '{"list_price":6}')
  const again = await write('PATCH', path, '{"list_price":5}', headers)
  expect([again.status, again.text, etagOf(again)]).toEqual([200, first.text, etagOf(first)])
  expect(again.headers['idempotent-replayed']).toBe('true')
  problemIn(await write('PATCH', path, '{"list_price":7}', headers), 422)
  problemIn(await write('DELETE', path, undefined, headers), 422)
  expect(recordIn(await send(`${path}?fields=list_price`, initech()))).toEqual({ list_price: 6 })
  const once = { 'idempotency-key': randomUUID() }
  expect((await write('DELETE', path, undefined, once)).status).toBe(204)
  expect((await write('DELETE', path, undefined, once)).status).toBe(204)
})

describe('a condition that a write does not support is a 400, and nothing is written', () => {
  const key = { 'Idempotency-Key': 'k1' }
  const match = { 'If-Match': '"2-fe0fd3f9e5d7b8a1-1-P9jZTv7tDCCkBM8W"' }
  const ndjson = { 'content-type': 'application/x-ndjson' }
  const webhook = '{"resource":"product","url":"https://example.com/hook"}'
  const cases: [string, string, Record<string, string>, Record<string, string>, string?][] = [
    ['POST', `${products}/batch`, match, ndjson, '{"id":1,"name":"ignored"}'],
    ['POST', `${products}/batch`, key, ndjson, '{"id":1,"name":"ignored"}'],
    ['POST', products, match, json, '{"name":"ignored"}'],
    ['POST', products, { 'If-None-Match': '*' }, json, '{"name":"ignored"}'],
    ['PATCH', `${products}/1`, { 'If-None-Match': '*' }, json, '{"name":"ignored"}'],
    [
      'PATCH',
      `${products}/1`,
      { 'If-Unmodified-Since': 'Sat, 14 Nov 2026 09:30:00 GMT' },
      json,
      '{"name":"ignored"}',
    ],
    ['PATCH', `${products}/1`, { 'Content-Range': 'bytes 0-1/2' }, json, '{"name":"ignored"}'],
    ['DELETE', `${products}/1`, { 'If-Modified-Since': 'Sat, 14 Nov 2026 09:30:00 GMT' }, {}],
    ['POST', '/manage/v1/keys', match, json, '{"name":"ignored","scopes":["product:read"]}'],
    ['POST', '/manage/v1/webhooks', key, json, webhook],
    ['POST', '/manage/v1/keys/abcdefgh/revoke', key, {}],
  ]
  for (const [method, path, condition, headers, body] of cases) {
    const [name = ''] = Object.keys(condition)
    test(`[W12] ${name} on ${method} ${path}`, async () => {
      const options = {
        method,
        headers: { ...headers, ...condition },
        ...(body === undefined ? {} : { body }),
      }
      const fault = faultIn(await send(path, options))
      expect(fault).toMatchObject({ parameter: name, code: 'header_invalid' })
      expect((await list(`${products}?filter=name=ignored`)).meta.total).toBe(0)
    })
  }

  test('[W12] but 404 and 405 come first', async () => {
    problemIn(await send('/api/v1/unknown', { method: 'POST', headers: match }), 404)
    problemIn(await send(products, { method: 'PUT', headers: match }), 405)
  })
})
