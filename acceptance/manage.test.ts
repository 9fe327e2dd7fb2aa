import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  faultIn,
  type HttpResponse,
  keyOf,
  type List,
  list,
  problemIn,
  products,
  type RequestOptions,
  send,
} from './client.ts'

/** Account management. The tests use the account globex, which other tests seldom use. */

const globex: RequestOptions = { host: 'globex', key: keyOf('globex') }
const keys = '/manage/v1/keys'

interface CreatedKey {
  readonly key: string
  readonly key_id: string
  readonly state: string
  readonly created_at: string
}

function post(
  path: string,
  body: object | undefined,
  options: RequestOptions = globex,
): Promise<HttpResponse> {
  const content = body === undefined ? {} : { body: JSON.stringify(body) }
  const headers = {
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  }
  return send(path, { ...options, method: 'POST', ...content, headers })
}

async function createKey(name: string, scopes: readonly string[] = ['product:read']): Promise<CreatedKey> {
  return dataIn(await post(keys, { name, scopes }), 201)
}

function dataIn(response: HttpResponse, status: number): CreatedKey {
  expect(response.status, response.text).toBe(status)
  const { data }: { data: CreatedKey } = JSON.parse(response.text)
  return data
}

const statusWith = async (key: string) => (await send(products, { host: 'globex', key })).status

/** Polls until data that is written asynchronously appears: last use, request log and usage follow within seconds. */
async function eventually(path: string, hasArrived: (found: List) => boolean): Promise<List> {
  const deadline = performance.now() + 120_000
  for (;;) {
    const found = await list(path, globex)
    if (hasArrived(found) || performance.now() > deadline) return found
    await sleep(100)
  }
}

test('[M1] an administrator creates a key, lists it without its secret, and revokes it', async () => {
  const key = await createKey('till')
  expect(key.key).toMatch(/^qm_[0-9A-Za-z]{36}$/)
  expect(await statusWith(key.key)).toBe(200)
  const listed = await send(`${keys}?filter=key_id=${key.key_id}`, globex)
  expect(JSON.parse(listed.text).data).toMatchObject([{ key_id: key.key_id, name: 'till', state: 'active' }])
  expect(listed.text).not.toContain(key.key)
  expect(listed.headers['cache-control']).toBe('no-store')
  expect(dataIn(await post(`${keys}/${key.key_id}/revoke`, undefined), 200).state).toBe('revoked')
  problemIn(await send(products, { host: 'globex', key: key.key }), 401)
})

test('[M1] other scopes get 403, and keys of another account are unknown', async () => {
  for (const path of [keys, '/manage/v1/audit', '/manage/v1/requests', '/manage/v1/usage']) {
    problemIn(await send(path, { key: keyOf('productRead') }), 403)
    problemIn(await send(path, { key: null }), 401)
  }
  const key = await createKey('theirs')
  problemIn(await post(`${keys}/${key.key_id}/revoke`, undefined, { key: keyOf('accountManage') }), 404)
  expect(await statusWith(key.key)).toBe(200)
})

test('[M1] a retried create makes no second key, and does not show the key again', async () => {
  const retried: RequestOptions = { ...globex, headers: { 'idempotency-key': `once ${Date.now()}` } }
  const parameters = { name: 'created once', scopes: ['product:read'] }
  const first = dataIn(await post(keys, parameters, retried), 201)
  const second = await post(keys, parameters, retried)
  expect(problemIn(second, 409)).toMatchObject({ code: 'key_already_created' })
  expect(second.text).toContain(first.key_id)
  expect(second.text).not.toContain(first.key)
  expect(problemIn(await post(keys, { ...parameters, name: 'other' }, retried), 422).code).toBe(
    'idempotency_mismatch',
  )
})

test('[A3-rotation] a rotation creates a new key, and the old one is valid until the overlap ends', async () => {
  const old = await createKey('rotated', ['product:read', 'company:read'])
  const next = dataIn(await post(`${keys}/${old.key_id}/rotate`, { overlap_seconds: 12 }), 201)
  expect(next).toMatchObject({ name: 'rotated', scopes: ['product:read', 'company:read'] })
  expect([await statusWith(old.key), await statusWith(next.key)]).toEqual([200, 200])
  expect((await list(`${keys}?filter=key_id=${old.key_id}`, globex)).data[0]).toMatchObject({
    state: 'rotating',
    rotated_to: next.key_id,
  })
  await sleep(12_100)
  expect([await statusWith(old.key), await statusWith(next.key)]).toEqual([401, 200])
})

test('[A3-rotation] with an overlap of 0 the old key ends immediately; the overlap is required and limited', async () => {
  const old = await createKey('at once')
  for (const overlap of [undefined, -1, 1.5, 2_592_001]) {
    problemIn(await post(`${keys}/${old.key_id}/rotate`, { overlap_seconds: overlap }), 400)
  }
  const next = dataIn(await post(`${keys}/${old.key_id}/rotate`, { overlap_seconds: 0 }), 201)
  expect([await statusWith(old.key), await statusWith(next.key)]).toEqual([401, 200])
  const again = problemIn(await post(`${keys}/${old.key_id}/rotate`, { overlap_seconds: 0 }), 409)
  expect(again).toMatchObject({ code: 'key_not_active', detail: expect.stringContaining(next.key_id) })
})

test('[A3-last-use] a key has the day of its last use', async () => {
  const key = await createKey('used')
  const path = `${keys}?filter=key_id=${key.key_id}`
  expect((await list(path, globex)).data[0]?.['last_used_on']).toBeNull()
  const day = new Date().toISOString().slice(0, 10)
  expect(await statusWith(key.key)).toBe(200)
  const found = await eventually(path, ({ data }) => data[0]?.['last_used_on'] !== null)
  expect([day, new Date().toISOString().slice(0, 10)]).toContain(found.data[0]?.['last_used_on'])
})

test('[M2] the audit log has who did what, when and from where, newest first', async () => {
  const agent: RequestOptions = { ...globex, headers: { 'user-agent': 'acceptance/1' } }
  const key = dataIn(await post(keys, { name: 'audited', scopes: ['product:read'] }, agent), 201)
  await post(`${keys}/${key.key_id}/revoke`, undefined, agent)
  const { data, meta } = await list(`/manage/v1/audit?filter=subject=${key.key_id}`, globex)
  expect(meta.total).toBe(2)
  expect(data).toMatchObject([
    { action: 'key.revoke', subject: key.key_id, actor: 'key', application: 'acceptance/1' },
    { action: 'key.create', subject: key.key_id, at: key.created_at, address: '127.0.0.1' },
  ])
  expect((await list('/manage/v1/audit?filter=action=account.create', globex)).data).toMatchObject([
    { subject: 'globex', actor: 'operator' },
  ])
  problemIn(await send('/manage/v1/audit', { ...globex, method: 'DELETE' }), 405)
})

test('[M3] the request log has the accepted and rejected requests of known keys, with parameters and errors', async () => {
  const at = { ...globex, headers: { 'x-request-id': `m3-${Date.now()}` } }
  const invalid = { ...globex, headers: { 'x-request-id': `${at.headers['x-request-id']}-bad` } }
  await send(`${products}?filter=list_price>1&active=true&limit=2`, at)
  await send(`${products}?filter=list_prise>1`, invalid)
  await send(products, { ...invalid, key: keyOf('acme') })
  const path = `/manage/v1/requests?filter=request_id*${at.headers['x-request-id']}`
  const { data, meta } = await eventually(path, ({ meta: { total } }) => total >= 2)
  expect(meta.total).toBe(2)
  expect(data).toMatchObject([
    {
      method: 'GET',
      path: products,
      filter: 'list_prise>1',
      status: 400,
      error_code: 'request_invalid',
      error_detail: 'A product has no field "list_prise". Did you mean list_price?',
    },
    { path: products, filter: 'list_price>1&active=true', query: 'limit=2', status: 200, error_code: null },
  ])
  expect(JSON.stringify(data)).not.toContain(keyOf('globex').slice(3, 33))
})

test('[M3] the request log has pages, fields and filters', async () => {
  await eventually('/manage/v1/requests', ({ meta }) => meta.total >= 2)
  const page = await list('/manage/v1/requests?limit=1&page=2&fields=at,status&filter=status<500', globex)
  expect(page.meta.count).toBe(1)
  expect(Object.keys(page.data[0] ?? {})).toEqual(['at', 'status'])
  expect(page.pagination).toMatchObject({ previousPage: 1, currentPage: 2, totalPages: page.meta.total })
  const fault = faultIn(await send('/manage/v1/requests?filter=staus=200', globex))
  expect(fault).toMatchObject({ code: 'field_unknown', offset: 0, length: 5, suggestion: 'status=200' })
})

test('[M4] usage has requests, errors and percentiles by key and route, per day and per minute', async () => {
  const key = await createKey('counted')
  for (let i = 0; i < 4; i++) await send(`${products}?limit=${i + 1}`, { host: 'globex', key: key.key })
  await send(`${products}?limit=0`, { host: 'globex', key: key.key })
  const filter = `filter=key_id=${key.key_id}`
  const days = await eventually(`/manage/v1/usage?${filter}`, ({ data }) => data[0]?.['requests'] === 5)
  expect(days.data).toMatchObject([
    { route: `GET ${products}`, requests: 5, errors: 1, unlogged: 0, p50_ms: expect.any(Number) },
  ])
  const minutes = await list(`/manage/v1/usage?per=minute&${filter}`, globex)
  expect(minutes.data.map((row) => Number(row['requests'])).reduce((a, b) => a + b)).toBe(5)
  expect(minutes.data[0]?.['at']).toMatch(/:00\.000Z$/)
  expect(faultIn(await send('/manage/v1/usage?per=year', globex)).code).toBe('choice_invalid')
})

test('[M6] every key can read its own name, account, scopes and expiry, and no other key', async () => {
  const self = async (key: string) => await send('/manage/v1/self', { host: 'globex', key })
  const { key, key_id, created_at } = await createKey('a till', ['partner:create'])
  expect(dataIn(await self(key), 200)).toEqual({
    account: 'globex',
    key_id,
    name: 'a till',
    scopes: ['partner:create'],
    state: 'active',
    created_at,
    expires_at: null,
  })
  await post(`${keys}/${key_id}/revoke`, undefined)
  expect((await self(key)).status).toBe(401)
  const parameter = await send('/manage/v1/self?key_id=1', globex)
  expect(faultIn(parameter)).toMatchObject({ parameter: 'key_id', code: 'parameter_unknown' })
})
