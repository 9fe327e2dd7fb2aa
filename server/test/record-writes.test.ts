import { beforeEach, describe, expect, it } from 'vitest'
import { account, type TestAccount } from './database.ts'
import { freshService, type TestResponse } from './service.ts'

/** Creating, changing and deleting single records over HTTP, with conditions and retries. */

const products = '/api/v1/inventory/product'
const partners = '/api/v1/resources/partner'
let acme: TestAccount
let number = 0

const { client, service } = await freshService()

beforeEach(async () => {
  acme = await account(client, `acme${++number}`)
})

const json = { 'content-type': 'application/json' }
const send = (method: string, path: string, body?: object | string, headers = {}): Promise<TestResponse> =>
  service.request(acme, method, path, {
    headers: { ...(body === undefined ? {} : json), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
const etagOf = (response: TestResponse) => response.headers.get('etag') ?? ''
const bodyOf = ({ body }: TestResponse): { code?: string; data?: { id: number } } =>
  JSON.parse(JSON.stringify(body ?? {}))
const codeOf = (response: TestResponse) => [response.status, bodyOf(response).code]
const created = async (path: string, body: object | string) => {
  const response = await send('POST', path, body)
  expect(response.status, JSON.stringify(response.body)).toBe(201)
  return { id: bodyOf(response).data?.id ?? 0, etag: etagOf(response) }
}
const rows = async (text: string) =>
  (await client.query({ text: text.replaceAll('$account', acme.accountId) })).rows

describe('POST', () => {
  it('creates a record with every writable field, decimals without loss', async () => {
    const { id, etag } = await created(
      products,
      `{"name":" Bolt ","default_code":"  B\\t1","list_price":123456789012345678901234.123456789012,
        "qty_available":"0.10","active":false,"categ_id":7,"product_tmpl_id":null,"is_rsd_product":true}`,
    )
    const read = await send('GET', `${products}/${id}`)
    expect(etagOf(read)).toBe(etag)
    expect(etag).toMatch(/^"1-[0-9a-f]{16}-1-[\w-]{16}"$/)
    expect(
      await rows(`select name, default_code, list_price::text, qty_available::text, active, categ_id::text,
        product_tmpl_id, is_rsd_product, version::text, created_version::text from product where account_id = $account`),
    ).toEqual([
      {
        name: 'Bolt',
        default_code: '  B\t1',
        list_price: '123456789012345678901234.123456789012',
        qty_available: '0.1',
        active: false,
        categ_id: '7',
        product_tmpl_id: null,
        is_rsd_product: true,
        version: '1',
        created_version: '1',
      },
    ])
  })

  it('assigns ids from 2^32 on if the ids of the account come from another system', async () => {
    await client.query(
      `update tally set own_last_id = 4294967295, last_id = 17 where account_id = $1 and resource = 'partner'`,
      [acme.accountId],
    )
    expect((await created(partners, { name: 'One' })).id).toBe(4294967296)
    expect((await created(partners, { name: 'Two' })).id).toBe(4294967297)
    expect(
      await rows(`select last_id::text from tally where account_id = $account and resource = 'partner'`),
    ).toEqual([{ last_id: '4294967297' }])
  })

  it('replays a create that a process of the previous version has stored', async () => {
    await client.query(
      `insert into idempotency (account_id, key, request_hash, record_id) values ($1, 'old', sha256('Nordwind'), 77)`,
      [acme.accountId],
    )
    const again = await send('POST', partners, { name: 'Nordwind' }, { 'idempotency-key': 'old' })
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([
      201,
      { data: { id: 77 } },
      'true',
    ])
    expect(codeOf(await send('POST', products, { name: 'Nordwind' }, { 'idempotency-key': 'old' }))).toEqual([
      422,
      'idempotency_mismatch',
    ])
  })
})

describe('PATCH', () => {
  it('changes the fields that it has, clears one with null, and returns the complete record', async () => {
    const { id, etag } = await created(products, { name: 'Bolt', default_code: 'B1', list_price: 2 })
    const patched = await send('PATCH', `${products}/${id}`, '{"list_price":2.50,"default_code":null}')
    expect(patched.status).toBe(200)
    expect(patched.body).toMatchObject({
      data: { id, name: 'Bolt', default_code: null, list_price: 2.5, qty_available: 0, active: true },
    })
    const read = await send('GET', `${products}/${id}`)
    expect(read.body).toEqual(patched.body)
    expect(etagOf(read)).toBe(etagOf(patched))
    expect(etagOf(read)).not.toBe(etag)
    expect(
      await rows(`select version::text, id::text, name, default_code, list_price::text from product_before
        where account_id = $account`),
    ).toEqual([{ version: '2', id: String(id), name: 'Bolt', default_code: 'B1', list_price: '2' }])
  })

  it('writes nothing if nothing changes', async () => {
    const { id, etag } = await created(products, { name: 'Bolt', list_price: 2 })
    for (const body of ['{}', '{"list_price":2.00}', '{"name":"Bolt","default_code":null}']) {
      const response = await send('PATCH', `${products}/${id}`, body, {
        'content-type': 'application/merge-patch+json',
      })
      expect([response.status, etagOf(response)]).toEqual([200, etag])
    }
    expect(
      await rows(`select version::text from tally where account_id = $account and resource = 'product'`),
    ).toEqual([{ version: '1' }])
    expect(await rows('select 1 from product_before where account_id = $account')).toEqual([])
  })

  it('of two writers with the same ETag lets one through', async () => {
    const { id } = await created(products, { name: 'Bolt', list_price: 0 })
    let winners = 0
    for (let round = 0; round < 5; round++) {
      const headers = { 'if-match': etagOf(await send('GET', `${products}/${id}?fields=name`)) }
      const responses = await Promise.all(
        [1, 2, 3, 4].map((n) => send('PATCH', `${products}/${id}`, { list_price: round * 10 + n }, headers)),
      )
      expect(responses.filter(({ status }) => status === 412)).toHaveLength(3)
      winners += 1
    }
    expect(
      await rows(`select version::text from tally where account_id = $account and resource = 'product'`),
    ).toEqual([{ version: String(1 + winners) }])
  })

  it('accepts a weak ETag, a list and *, and rejects others', async () => {
    const { id, etag } = await created(products, { name: 'Bolt' })
    const other = await created(products, { name: 'Nut' })
    const patch = (ifMatch: string, name: string) =>
      send('PATCH', `${products}/${id}`, { name }, { 'if-match': ifMatch })
    expect(codeOf(await patch(other.etag, 'x'))).toEqual([412, 'precondition_failed'])
    expect(codeOf(await patch('"unknown"', 'x'))).toEqual([412, 'precondition_failed'])
    expect(codeOf(await patch('unquoted', 'x'))).toEqual([400, 'request_invalid'])
    const second = await patch(`"a", W/${etag}`, 'y')
    expect(second.status).toBe(200)
    expect((await patch('*', 'z')).status).toBe(200)
    expect(codeOf(await patch(etagOf(second), 'x'))).toEqual([412, 'precondition_failed'])
  })

  it('with an ETag from before a foreign write is rejected', async () => {
    const { id, etag } = await created(products, { name: 'Bolt' })
    await client.query(`update tally set total = total where account_id = $1`, [acme.accountId])
    expect(codeOf(await send('PATCH', `${products}/${id}`, { name: 'x' }, { 'if-match': etag }))).toEqual([
      412,
      'precondition_failed',
    ])
    const now = etagOf(await send('GET', `${products}/${id}`))
    expect(now).not.toBe(etag)
    expect((await send('PATCH', `${products}/${id}`, { name: 'x' }, { 'if-match': now })).status).toBe(200)
  })

  it('runs once for an Idempotency-Key, and a retry gets the same response', async () => {
    const { id } = await created(products, { name: 'Bolt' })
    const headers = { 'idempotency-key': 'patch-1' }
    const first = await send('PATCH', `${products}/${id}`, { list_price: 5 }, headers)
    await send('PATCH', `${products}/${id}`, { list_price: 6 })
    const again = await send('PATCH', `${products}/${id}`, { list_price: 5 }, headers)
    expect([again.status, again.body, etagOf(again)]).toEqual([200, first.body, etagOf(first)])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect((await send('GET', `${products}/${id}`)).body).toMatchObject({ data: { list_price: 6 } })
    const others: [string, object, Record<string, string>][] = [
      ['PATCH', { list_price: 7 }, headers],
      ['PATCH', { list_price: 5 }, { ...headers, 'if-match': '*' }],
    ]
    for (const [method, body, sent] of others) {
      expect(codeOf(await send(method, `${products}/${id}`, body, sent))).toEqual([
        422,
        'idempotency_mismatch',
      ])
    }
    expect(codeOf(await send('DELETE', `${products}/${id}`, undefined, headers))).toEqual([
      422,
      'idempotency_mismatch',
    ])
  })

  it('of a record that does not exist, or was deleted, is a 404, also with If-Match', async () => {
    const { id, etag } = await created(products, { name: 'Bolt' })
    await send('DELETE', `${products}/${id}`)
    for (const headers of [{}, { 'if-match': etag }, { 'if-match': '*' }]) {
      expect(codeOf(await send('PATCH', `${products}/${id}`, { name: 'x' }, headers))).toEqual([
        404,
        'record_unknown',
      ])
    }
    expect(codeOf(await send('PATCH', `${products}/9007199254740993`, { name: 'x' }))).toEqual([
      404,
      'record_unknown',
    ])
  })
})

describe('DELETE', () => {
  it('deletes the record, leaves a tombstone and a before-image, and is a 404 the second time', async () => {
    const { id } = await created(products, { name: 'Bolt' })
    const other = await created(products, { name: 'Nut' })
    const response = await send('DELETE', `${products}/${id}`)
    expect([response.status, response.body]).toEqual([204, undefined])
    expect(codeOf(await send('DELETE', `${products}/${id}`))).toEqual([404, 'record_unknown'])
    expect(codeOf(await send('GET', `${products}/${id}`))).toEqual([404, 'record_unknown'])
    expect(
      await rows(`select resource, version::text, id::text from tombstone where account_id = $account`),
    ).toEqual([{ resource: 'product', version: '3', id: String(id) }])
    expect(await rows(`select version::text, name from product_before where account_id = $account`)).toEqual([
      { version: '3', name: 'Bolt' },
    ])
    const list = await send('GET', products)
    expect(list.body).toMatchObject({ meta: { total: 1 }, data: [{ id: other.id }] })
    expect((await created(products, { name: 'Washer' })).id).toBe(3)
  })

  it('with If-Match deletes only the record that the client has read', async () => {
    const { id, etag } = await created(products, { name: 'Bolt' })
    await send('PATCH', `${products}/${id}`, { name: 'Changed' })
    expect(codeOf(await send('DELETE', `${products}/${id}`, undefined, { 'if-match': etag }))).toEqual([
      412,
      'precondition_failed',
    ])
    const now = etagOf(await send('GET', `${products}/${id}`))
    expect((await send('DELETE', `${products}/${id}`, undefined, { 'if-match': now })).status).toBe(204)
  })

  it('is replayed with its Idempotency-Key', async () => {
    const { id } = await created(products, { name: 'Bolt' })
    const headers = { 'idempotency-key': 'delete-1' }
    expect((await send('DELETE', `${products}/${id}`, undefined, headers)).status).toBe(204)
    const again = await send('DELETE', `${products}/${id}`, undefined, headers)
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([204, 'true'])
  })
})

describe("a record's ETag", () => {
  it('survives writes to other records, and changes with the record', async () => {
    const { id, etag } = await created(products, { name: 'Bolt' })
    await created(products, { name: 'Nut' })
    const headers = { 'if-none-match': etag }
    const unchanged = await send('GET', `${products}/${id}`, undefined, headers)
    expect([unchanged.status, unchanged.body, etagOf(unchanged)]).toEqual([304, undefined, etag])
    await send('PATCH', `${products}/${id}`, { name: 'Screw' })
    const changed = await send('GET', `${products}/${id}`, undefined, headers)
    expect([changed.status, changed.body]).toMatchObject([200, { data: { name: 'Screw' } }])
    await send('DELETE', `${products}/${id}`)
    expect((await send('GET', `${products}/${id}`, undefined, headers)).status).toBe(404)
    expect((await send('GET', `${products}/${id}?fields=default_code`)).status).toBe(404)
  })
})

describe('scopes', () => {
  it('each write needs the scope of its resource; partner:create allows creates only', async () => {
    const reader = await account(client, `reader${number}`, [
      'product:read',
      'partner:read',
      'partner:create',
    ])
    const request = (method: string, path: string, body?: string) =>
      service.request(reader, method, path, { headers: json, ...(body === undefined ? {} : { body }) })
    expect(codeOf(await request('POST', products, '{"name":"x"}'))).toEqual([403, 'scope_missing'])
    expect((await request('POST', partners, '{"name":"x","is_vendor":true}')).status).toBe(201)
    expect(codeOf(await request('PATCH', `${partners}/1`, '{"name":"y"}'))).toEqual([403, 'scope_missing'])
    expect(codeOf(await request('DELETE', `${partners}/1`))).toEqual([403, 'scope_missing'])
    const writer = await account(client, `writer${number}`, ['partner:write'])
    const create = await service.request(writer, 'POST', partners, { headers: json, body: '{"name":"x"}' })
    expect(create.status).toBe(201)
    expect((await service.request(writer, 'DELETE', `${partners}/1`)).status).toBe(204)
  })
})
