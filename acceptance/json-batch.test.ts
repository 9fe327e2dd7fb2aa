import { describe, expect, test } from 'vitest'
import {
  createdId,
  faultIn,
  type HttpResponse,
  keyOf,
  problemIn,
  products,
  recordIn,
  send,
} from './client.ts'

const initech = () => ({ host: 'initech', key: keyOf('initech') })
const json = { 'content-type': 'application/json' }

async function created(body: object): Promise<number> {
  return createdId(
    await send(products, { ...initech(), method: 'POST', headers: json, body: JSON.stringify(body) }),
  )
}

async function etagOf(id: number): Promise<string> {
  const { etag } = (await send(`${products}/${id}`, initech())).headers
  expect(etag).toMatch(/^"/)
  return etag ?? ''
}

async function jsonBatch(body: string, query = '', headers: Readonly<Record<string, string>> = {}) {
  const options = { ...initech(), method: 'POST', headers: { ...json, ...headers }, body }
  return await send(`${products}/batch${query}`, options)
}
const totals = (counts: object) => ({
  read: 0,
  inserted: 0,
  updated: 0,
  unchanged: 0,
  deleted: 0,
  rejected: 0,
  ...counts,
})
const resultOf = (response: HttpResponse): unknown => {
  expect(response.status, response.text).toBe(200)
  expect(response.headers['content-type']).toMatch(/^application\/json\b/)
  return JSON.parse(response.text)
}

describe('a batch as application/json', () => {
  test('[T4] writes rows, deletes, checks conditions, and returns totals and rejected rows', async () => {
    const ids = await Promise.all([1, 2, 3].map((n) => created({ name: `Json ${n}` })))
    const [one = 0, two = 0, three = 0] = ids
    const old = await etagOf(two)
    const change = { ...initech(), method: 'PATCH', headers: json, body: '{"list_price":9}' }
    recordIn(await send(`${products}/${two}`, change))
    const rows = [
      { id: one, list_price: '0.000000000001', qty_available: 2 },
      { id: two, list_price: 1, $if_match: old },
      { $delete: three },
      { id: one, name: 7, list_price: true },
      7,
      { id: one, name: ['x'] },
    ]
    expect(resultOf(await jsonBatch(JSON.stringify({ rows }), '?mode=update'))).toEqual({
      data: {
        totals: totals({ read: 6, updated: 1, deleted: 1, rejected: 4 }),
        rejected: [
          { index: 1, id: two, field: '$if_match', code: 'changed', value: old, reason: expect.any(String) },
          {
            index: 3,
            id: one,
            field: 'name',
            value: '7',
            reason: expect.any(String),
            more: [expect.anything()],
          },
          { index: 4, field: '', value: '7', reason: 'is not a JSON object' },
          { index: 5, field: 'name', value: expect.any(String), reason: expect.stringContaining('an array') },
        ],
      },
    })
    expect((await send(`${products}/${one}`, initech())).text).toContain('"list_price":0.000000000001,')
    problemIn(await send(`${products}/${three}`, initech()), 404)
  })

  test('[T4] has the modes of any batch, and an empty one writes nothing', async () => {
    const upserted = { rows: [{ id: 733_001, name: 'Json upsert' }] }
    expect(resultOf(await jsonBatch(JSON.stringify(upserted), '?mode=update'))).toMatchObject({
      data: { totals: totals({ read: 1, rejected: 1 }), rejected: [{ index: 0, id: 733_001, field: 'id' }] },
    })
    expect(resultOf(await jsonBatch('{"rows":[]}'))).toEqual({ data: { totals: totals({}), rejected: [] } })
    problemIn(await jsonBatch('{"rows":[]}', '?mode=load'), 400)
    const headers = { 'batch-results': 'at-end' }
    expect(resultOf(await jsonBatch('{"rows":[]}', '', headers))).toMatchObject({ data: { rejected: [] } })
    problemIn(await jsonBatch('{"rows":[]}', '', { 'idempotency-key': 'x' }), 400)
  })

  test('[T4] what cannot be parsed, and more than 1,000 rows, are a 400, and nothing is written', async () => {
    const id = await created({ name: 'Untouched' })
    const row = `{"id":${id},"name":"Touched"}`
    const malformed = {
      '': 'json_invalid',
      nonsense: 'json_invalid',
      '[]': 'json_invalid',
      '{}': 'member_required',
      [row]: 'member_unknown',
      [`{"rows":${row}}`]: 'member_invalid',
      [`{"rows":[${row}],"mode":"update"}`]: 'member_unknown',
      [`{"rows":[${row}],"rows":[${row}]}`]: 'member_invalid',
      [`{"rows":[${row},]}`]: 'json_invalid',
      [`{"rows":[${row},{"id":1,}]}`]: 'json_invalid',
      [`{"rows":[${row},nonsense]}`]: 'json_invalid',
      [`{"rows":[${row}]`]: 'json_invalid',
      [`{"rows":[${Array.from({ length: 1001 }, () => row).join()}]}`]: 'member_invalid',
    }
    for (const [body, code] of Object.entries(malformed)) {
      expect(faultIn(await jsonBatch(body, '?mode=update')).code, body.slice(0, 80)).toBe(code)
    }
    expect(recordIn(await send(`${products}/${id}`, initech()))['name']).toBe('Untouched')
  })

  test('[T4] without a valid row it is a 400 with the faults of each', async () => {
    const response = await jsonBatch(
      '{"rows":[{"id":1,"name":5,"list_price":"x"},{"id":{}},null]}',
      '?mode=update',
    )
    expect(problemIn(response, 400).errors?.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '/rows/0/name member_invalid',
      '/rows/0/list_price member_invalid',
      '/rows/1/id member_invalid',
      '/rows/2 member_invalid',
    ])
  })

  test('[T4] 1,000 rows in up to 1 MB, in one transaction', async () => {
    const id = await created({ name: 'Many' })
    // Other tests write to the account, too.
    const changes = `${products}/changes?fields=name&filter=id=${id}`
    const start = await send(`${changes}&since=now`, initech())
    const { cursor }: { cursor: string } = JSON.parse(start.text)
    const rows = Array.from({ length: 999 }, (_, i) => ({ $delete: 910_000_000 + i }))
    const body = JSON.stringify({ rows: [{ id, name: 'Many rows' }, ...rows] })
    expect(resultOf(await jsonBatch(body, '?mode=update'))).toEqual({
      data: { totals: totals({ read: 1000, updated: 1, unchanged: 999 }), rejected: [] },
    })
    const feed = await send(`${changes}&since=${cursor}`, initech())
    expect(feed.text).toContain('"record":{"name":"Many rows"}')
    problemIn(await jsonBatch(`{"rows":[{"id":1,"name":"${'x'.repeat(1024 * 1024)}"}]}`), 413)
  })
})
