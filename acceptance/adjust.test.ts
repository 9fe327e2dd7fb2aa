import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  companies,
  createdId,
  type HttpResponse,
  keyOf,
  list,
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

interface Change {
  readonly id: number
}

async function adjust(id: number | string, body: string, headers: Readonly<Record<string, string>> = {}) {
  const all = { ...json, 'idempotency-key': randomUUID(), ...headers }
  return await send(`${products}/${id}/adjust`, { ...initech(), method: 'POST', headers: all, body })
}
const faultsOf = (response: HttpResponse, status = 400) =>
  problemIn(response, status).errors?.map(({ pointer, code }) => `${pointer} ${code}`)

describe('adjust', () => {
  test('[T3] adds exactly, and returns the record with its new ETag', async () => {
    const id = await created({ name: 'Counted', qty_available: '0.1', list_price: 2 })
    const before = await etagOf(id)
    const response = await adjust(id, '{"qty_available":0.2,"list_price":"-0.000000000001"}')
    expect(recordIn(response)).toMatchObject({
      id,
      name: 'Counted',
      qty_available: 0.3,
      list_price: 1.999999999999,
    })
    expect(response.text).toContain('"qty_available":0.3,')
    expect(response.headers.etag).toBe(await etagOf(id))
    expect(response.headers.etag).not.toBe(before)
    expect(recordIn(await adjust(id, '{"qty_available":-3}'))['qty_available']).toBe(-2.7)
  })

  test('[T3] is one write: the feed has it, and an adjustment by nothing is none', async () => {
    const id = await created({ name: 'One write' })
    const start = await send(`${products}/changes?since=now`, initech())
    const { cursor }: { cursor: string } = JSON.parse(start.text)
    const { etag } = (await adjust(id, '{"qty_available":5}')).headers
    expect((await adjust(id, '{"qty_available":0}')).headers.etag).toBe(etag)
    const feed = await send(`${products}/changes?since=${cursor}`, initech())
    const { data }: { data: readonly Change[] } = JSON.parse(feed.text)
    expect(data.filter((change) => change.id === id)).toMatchObject([
      { change: 'updated', etag, record: { qty_available: 5 } },
    ])
    // A filtered total that was cached before counts it.
    const path = `${products}?fields=id&filter=qty_available=7654`
    expect((await list(path, initech())).meta.total).toBe(0)
    await adjust(id, '{"qty_available":7649}')
    expect((await list(path, initech())).data).toEqual([{ id }])
  })

  test('[T3] needs an Idempotency-Key, and counts once for each', async () => {
    const id = await created({ name: 'Once', qty_available: 10 })
    const path = `${products}/${id}/adjust`
    const body = '{"qty_available":-3}'
    const without = await send(path, { ...initech(), method: 'POST', headers: json, body })
    expect(problemIn(without, 400).code).toBe('idempotency_key_required')
    const key = { 'idempotency-key': randomUUID() }
    const first = await adjust(id, body, key)
    const again = await adjust(id, '{ "qty_available": -3.0 }', key)
    expect([again.status, again.text, again.headers.etag]).toEqual([200, first.text, first.headers.etag])
    expect(again.headers['idempotent-replayed']).toBe('true')
    problemIn(await adjust(id, '{"qty_available":-4}', key), 422)
    problemIn(await adjust(id, body, { ...key, 'if-match': '*' }), 422)
    expect(recordIn(await send(`${products}/${id}`, initech()))['qty_available']).toBe(7)
  })

  test('[T3] parallel adjustments add up', async () => {
    const id = await created({ name: 'Parallel' })
    // A busy machine rejects some of them, which the same key makes safe to repeat.
    const add = async (n: number): Promise<void> => {
      const key = { 'idempotency-key': randomUUID() }
      await expect
        .poll(async () => (await adjust(id, `{"qty_available":${n + 0.25}}`, key)).status, {
          timeout: 120_000,
        })
        .toBe(200)
    }
    // Few at once: tests of other files write to this account, too.
    const client = async (first: number) => {
      for (let n = first; n < 40; n += 4) await add(n)
    }
    await Promise.all([0, 1, 2, 3].map(client))
    expect(recordIn(await send(`${products}/${id}`, initech()))['qty_available']).toBe(790)
  })

  test('[T3] If-Match is a condition', async () => {
    const id = await created({ name: 'Conditional' })
    const etag = await etagOf(id)
    recordIn(await adjust(id, '{"qty_available":1}', { 'if-match': etag }))
    problemIn(await adjust(id, '{"qty_available":1}', { 'if-match': etag }), 412)
    expect(recordIn(await send(`${products}/${id}`, initech()))['qty_available']).toBe(1)
  })

  test('[T3] a sum that the field cannot have is rejected with the sum', async () => {
    const id = await created({ name: 'Full', qty_available: '9'.repeat(24) })
    const problem = problemIn(await adjust(id, '{"qty_available":1,"list_price":1}'), 409)
    expect(problem).toMatchObject({ code: 'adjustment_impossible', errors: [{ pointer: '/qty_available' }] })
    expect(problem.detail).toContain(`1${'0'.repeat(24)}`)
    expect(recordIn(await send(`${products}/${id}`, initech()))['list_price']).toBe(0)
    const text = (await adjust(id, '{"qty_available":"0.000000000001"}')).text
    expect(text).toContain(`"qty_available":${'9'.repeat(24)}.000000000001,`)
  })

  test('[T3] only decimals can be adjusted, by decimals', async () => {
    const id = await created({ name: 'Faults' })
    expect(faultsOf(await adjust(id, '{"qty_available":null,"list_price":"1,5"}'))?.toSorted()).toEqual([
      '/list_price member_invalid',
      '/qty_available member_invalid',
    ])
    expect(faultsOf(await adjust(id, '{"categ_id":1}'))).toEqual(['/categ_id member_unknown'])
    expect(faultsOf(await adjust(id, '{}'))).toEqual([' member_required'])
    expect(faultsOf(await adjust(id, '[]'))).toEqual([' json_invalid'])
    expect(faultsOf(await adjust(id, `{"qty_available":1${'0'.repeat(30)}}`))).toEqual([
      '/qty_available member_invalid',
    ])
    problemIn(await adjust(999_999_999, '{"qty_available":1}'), 404)
    problemIn(await adjust('x', '{"qty_available":1}'), 404)
    const read = { method: 'POST', headers: json, body: '{"qty_available":1}', key: keyOf('productRead') }
    problemIn(await send(`${products}/1/adjust`, read), 403)
    problemIn(
      await send(`${companies}/1/adjust`, { ...initech(), method: 'POST', headers: json, body: '{}' }),
      404,
    )
  })
})
