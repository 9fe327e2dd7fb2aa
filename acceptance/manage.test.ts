import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  type Answer,
  type Ask,
  faultIn,
  keyOf,
  type List,
  list,
  problemIn,
  products,
  send,
} from './client.ts'

/** What the administrator of an account does and sees. Globex has the key to everything, and few other requests. */

const globex: Ask = { host: 'globex', key: keyOf('globex') }
const keys = '/manage/v1/keys'

interface MadeKey {
  readonly key: string
  readonly key_id: string
  readonly state: string
  readonly created_at: string
}

function post(path: string, body: object | undefined, ask: Ask = globex): Promise<Answer> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const headers = { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...ask.headers }
  return send(path, { ...ask, method: 'POST', ...sent, headers })
}

async function made(name: string, scopes: readonly string[] = ['product:read']): Promise<MadeKey> {
  return dataIn(await post(keys, { name, scopes }), 201)
}

function dataIn(answer: Answer, status: number): MadeKey {
  expect(answer.status, answer.text).toBe(status)
  const { data }: { data: MadeKey } = JSON.parse(answer.text)
  return data
}

const statusWith = async (key: string) => (await send(products, { host: 'globex', key })).status

/** What is written after the answer is there some seconds later: usage waits longest, and a busy machine adds to it. */
async function eventually(path: string, isThere: (found: List) => boolean): Promise<List> {
  const until = performance.now() + 15_000
  for (;;) {
    const found = await list(path, globex)
    if (isThere(found) || performance.now() > until) return found
    await sleep(100)
  }
}

test('[M1] an administrator makes a key, sees it without its secret, and revokes it', async () => {
  const key = await made('till')
  expect(key.key).toMatch(/^qm_[0-9A-Za-z]{36}$/)
  expect(await statusWith(key.key)).toBe(200)
  const listed = await send(`${keys}?filter=key_id=${key.key_id}`, globex)
  expect(JSON.parse(listed.text).data).toMatchObject([{ key_id: key.key_id, name: 'till', state: 'active' }])
  expect(listed.text).not.toContain(key.key)
  expect(listed.headers['cache-control']).toBe('no-store')
  expect(dataIn(await post(`${keys}/${key.key_id}/revoke`, undefined), 200).state).toBe('revoked')
  problemIn(await send(products, { host: 'globex', key: key.key }), 401)
})

test('[M1] other scopes open none of it, and another account’s keys are unknown', async () => {
  for (const path of [keys, '/manage/v1/audit', '/manage/v1/requests', '/manage/v1/usage']) {
    problemIn(await send(path, { key: keyOf('productRead') }), 403)
    problemIn(await send(path, { key: null }), 401)
  }
  const key = await made('theirs')
  problemIn(await post(`${keys}/${key.key_id}/revoke`, undefined, { key: keyOf('accountManage') }), 404)
  expect(await statusWith(key.key)).toBe(200)
})

test('[M1] a create sent again makes no second key, and shows none again', async () => {
  const again: Ask = { ...globex, headers: { 'idempotency-key': `once ${Date.now()}` } }
  const wish = { name: 'made once', scopes: ['product:read'] }
  const first = dataIn(await post(keys, wish, again), 201)
  const second = await post(keys, wish, again)
  expect(problemIn(second, 409)).toMatchObject({ code: 'key_already_created' })
  expect(second.text).toContain(first.key_id)
  expect(second.text).not.toContain(first.key)
  expect(problemIn(await post(keys, { ...wish, name: 'other' }, again), 422).code).toBe(
    'idempotency_mismatch',
  )
})

test('[A3-rotation] a rotation makes a new key, and the old one goes on until the overlap ends', async () => {
  const old = await made('rotated', ['product:read', 'company:read'])
  const next = dataIn(await post(`${keys}/${old.key_id}/rotate`, { overlap_seconds: 5 }), 201)
  expect(next).toMatchObject({ name: 'rotated', scopes: ['product:read', 'company:read'] })
  expect([await statusWith(old.key), await statusWith(next.key)]).toEqual([200, 200])
  expect((await list(`${keys}?filter=key_id=${old.key_id}`, globex)).data[0]).toMatchObject({
    state: 'rotating',
    rotated_to: next.key_id,
  })
  await sleep(5_100)
  expect([await statusWith(old.key), await statusWith(next.key)]).toEqual([401, 200])
})

test('[A3-rotation] without an overlap the old key ends at once; an overlap has to be said, and has a bound', async () => {
  const old = await made('at once')
  for (const overlap of [undefined, -1, 1.5, 2_592_001]) {
    problemIn(await post(`${keys}/${old.key_id}/rotate`, { overlap_seconds: overlap }), 400)
  }
  const next = dataIn(await post(`${keys}/${old.key_id}/rotate`, { overlap_seconds: 0 }), 201)
  expect([await statusWith(old.key), await statusWith(next.key)]).toEqual([401, 200])
  const again = problemIn(await post(`${keys}/${old.key_id}/rotate`, { overlap_seconds: 0 }), 409)
  expect(again).toMatchObject({ code: 'key_not_active', detail: expect.stringContaining(next.key_id) })
})

test('[A3-last-use] the day of a key’s last use is told', async () => {
  const key = await made('used')
  const path = `${keys}?filter=key_id=${key.key_id}`
  expect((await list(path, globex)).data[0]?.['last_used_on']).toBeNull()
  const day = new Date().toISOString().slice(0, 10)
  expect(await statusWith(key.key)).toBe(200)
  const found = await eventually(path, ({ data }) => data[0]?.['last_used_on'] !== null)
  expect([day, new Date().toISOString().slice(0, 10)]).toContain(found.data[0]?.['last_used_on'])
})

test('[M2] the audit tells who did what, when and from where, newest first', async () => {
  const agent: Ask = { ...globex, headers: { 'user-agent': 'acceptance/1' } }
  const key = dataIn(await post(keys, { name: 'told', scopes: ['product:read'] }, agent), 201)
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

test('[M3] the request log has requests and refusals of known keys, with what was asked and why it failed', async () => {
  const at = { ...globex, headers: { 'x-request-id': `m3-${Date.now()}` } }
  const bad = { ...globex, headers: { 'x-request-id': `${at.headers['x-request-id']}-bad` } }
  await send(`${products}?filter=list_price>1&active=true&limit=2`, at)
  await send(`${products}?filter=list_prise>1`, bad)
  await send(products, { ...bad, key: keyOf('acme') })
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

test('[M3] the request log is a list like any other', async () => {
  await eventually('/manage/v1/requests', ({ meta }) => meta.total >= 2)
  const page = await list('/manage/v1/requests?limit=1&page=2&fields=at,status&filter=status<500', globex)
  expect(page.meta.count).toBe(1)
  expect(Object.keys(page.data[0] ?? {})).toEqual(['at', 'status'])
  expect(page.pagination).toMatchObject({ previousPage: 1, currentPage: 2, totalPages: page.meta.total })
  const fault = faultIn(await send('/manage/v1/requests?filter=staus=200', globex))
  expect(fault).toMatchObject({ code: 'field_unknown', offset: 0, length: 5, suggestion: 'status=200' })
})

test('[M4] usage has requests, errors and percentiles by key and route, per day and per minute', async () => {
  const key = await made('counted')
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
