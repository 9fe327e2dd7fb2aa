import { describe, expect, it } from 'vitest'
import { generateKey } from '../src/accounts/key-format.ts'
import { limits } from '../src/limits/limits.ts'
import { quartermaster } from './command.ts'
import { account } from './database.ts'
import { eventually } from './eventually.ts'
import { freshService } from './service.ts'

/** Creating, rotating and revoking keys over HTTP, and the audit records of it. */

const { url, client, service } = await freshService()
const acme = await account(client, 'acme')
const globex = await account(client, 'globex')

const json = { 'content-type': 'application/json' }
const keys = '/manage/v1/keys'
const products = '/api/v1/inventory/product'

function post(path: string, body: object, headers: Record<string, string> = {}, by = acme) {
  return service.post(by, path, body, headers)
}

async function createKey(parameters: object = {}, by = acme) {
  const { status, body } = await post(keys, { name: 'shop', scopes: ['product:read'], ...parameters }, {}, by)
  expect(status, JSON.stringify(body)).toBe(201)
  return dataOf(body)
}

function dataOf(body: unknown): Record<string, string> {
  expect(body).toHaveProperty('data')
  const { data }: { data: Record<string, string> } = JSON.parse(JSON.stringify(body))
  return data
}

const statusWith = async (key: string | undefined) =>
  (await service.request({ name: 'acme', key: key ?? '' }, 'GET', products)).status

async function auditOf(subject: string | undefined) {
  const { body } = await service.request(acme, 'GET', `/manage/v1/audit?filter=subject=${subject}`)
  const { data }: { data: Record<string, unknown>[] } = JSON.parse(JSON.stringify(body))
  return data
}

describe('a key', () => {
  it('is created with its name, scopes and expiry, is valid immediately, and is shown only once', async () => {
    const key = await createKey({ name: '  till 3 ', expires_at: '2099-01-01' })
    expect(key).toEqual({
      key: expect.stringMatching(/^qm_[0-9A-Za-z]{36}$/),
      key_id: expect.stringMatching(/^[0-9A-Za-z]{8}$/),
      name: 'till 3',
      scopes: ['product:read'],
      state: 'active',
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      expires_at: '2099-01-01T00:00:00.000Z',
      revoked_at: null,
      rotated_to: null,
      last_used_on: null,
    })
    const { key: secret, ...rest } = key
    const one = await service.request(acme, 'GET', `${keys}/${key['key_id']}`)
    expect(one.body).toEqual({ data: rest })
    const list = await service.request(acme, 'GET', `${keys}?filter=name="till 3"`)
    expect(list.body).toMatchObject({ data: [rest], meta: { count: 1, total: 1 } })
    const own = await service.request({ name: 'acme', key: key['key'] ?? '' }, 'GET', '/manage/v1/self')
    const { key_id, name, scopes, state, created_at, expires_at } = key
    expect([own.status, own.body]).toEqual([
      200,
      { data: { account: 'acme', key_id, name, scopes, state, created_at, expires_at } },
    ])
    expect(JSON.stringify(list.body)).not.toContain(secret)
    expect(list.headers.get('cache-control')).toBe('no-store')
    expect(await statusWith(key['key'])).toBe(200)
  })

  it('is rejected with all errors in one response', async () => {
    const { status, body } = await post(keys, {
      scopes: ['product:delete', 3],
      expires_at: '2020-01-01',
      x: 1,
    })
    expect(status).toBe(400)
    expect(body).toMatchObject({
      code: 'body_invalid',
      errors: [
        { pointer: '/x', code: 'member_unknown' },
        { pointer: '/name', code: 'member_required' },
        { pointer: '/scopes/0', code: 'member_invalid' },
        { pointer: '/scopes/1', code: 'member_invalid' },
        { pointer: '/expires_at', code: 'member_invalid' },
      ],
    })
    const twice = await service.request(acme, 'POST', keys, {
      body: '{"name":"a","scopes":["product:read"],"name":"b"}',
      headers: json,
    })
    expect(twice.body).toMatchObject({ status: 400, detail: 'The member "name" occurs more than once.' })
  })

  it('is rejected from the next request after its revocation; revoking it again changes nothing', async () => {
    const key = await createKey()
    const path = `${keys}/${key['key_id']}/revoke`
    const first = await service.request(acme, 'POST', path)
    expect([first.status, dataOf(first.body)['state']]).toEqual([200, 'revoked'])
    expect(await statusWith(key['key'])).toBe(401)
    const again = await service.request(acme, 'POST', path)
    expect(dataOf(again.body)['revoked_at']).toBe(dataOf(first.body)['revoked_at'])
    expect((await auditOf(key['key_id'])).map(({ action }) => action)).toEqual(['key.revoke', 'key.create'])
  })

  it('may revoke itself', async () => {
    const own = await createKey({ scopes: ['account:manage'] })
    const by = { ...acme, key: own['key'] ?? '' }
    expect((await service.request(by, 'POST', `${keys}/${own['key_id']}/revoke`)).status).toBe(200)
    expect((await service.request(by, 'GET', keys)).status).toBe(401)
  })

  it('of another account is unknown', async () => {
    const theirs = await createKey({}, globex)
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '/revoke', undefined],
      ['POST', '/rotate', '{"overlap_seconds":0}'],
    ] as const) {
      const response = await service.request(acme, method, `${keys}/${theirs['key_id']}${path}`, {
        headers: body === undefined ? {} : json,
        ...(body === undefined ? {} : { body }),
      })
      expect([response.status, response.body]).toMatchObject([404, { code: 'record_unknown' }])
    }
    expect((await service.request({ ...globex, key: theirs['key'] ?? '' }, 'GET', products)).status).toBe(200)
  })

  it('can be read or changed only with account:manage', async () => {
    const key = await createKey()
    const by = { ...acme, key: key['key'] ?? '' }
    for (const [method, path] of [
      ['GET', keys],
      ['POST', keys],
      ['GET', `${keys}/x`],
      ['POST', `${keys}/x/rotate`],
      ['POST', `${keys}/x/revoke`],
      ['GET', '/manage/v1/audit'],
    ] as const) {
      expect((await service.request(by, method, path)).status, `${method} ${path}`).toBe(403)
    }
  })
})

describe('rotation', () => {
  it('creates a key of the same name and scopes; the old one stays valid until the overlap ends', async () => {
    const old = await createKey({ name: 'till', scopes: ['product:read', 'company:read'] })
    const { status, body } = await post(`${keys}/${old['key_id']}/rotate`, { overlap_seconds: 5 })
    const next = dataOf(body)
    expect(status).toBe(201)
    expect(next).toMatchObject({ name: 'till', scopes: ['product:read', 'company:read'], expires_at: null })
    expect([await statusWith(old['key']), await statusWith(next['key'])]).toEqual([200, 200])
    const before = dataOf((await service.request(acme, 'GET', `${keys}/${old['key_id']}`)).body)
    expect(before).toMatchObject({ state: 'rotating', rotated_to: next['key_id'] })
    await eventually(async () => (await statusWith(old['key'])) === 401)
    expect(await statusWith(next['key'])).toBe(200)
    const after = dataOf((await service.request(acme, 'GET', `${keys}/${old['key_id']}`)).body)
    expect(after['state']).toBe('expired')
  })

  it('without an overlap expires the old key immediately', async () => {
    const old = await createKey()
    const next = dataOf((await post(`${keys}/${old['key_id']}/rotate`, { overlap_seconds: 0 })).body)
    expect([await statusWith(old['key']), await statusWith(next['key'])]).toEqual([401, 200])
  })

  it('sent twice creates one key', async () => {
    const old = await createKey()
    const path = `${keys}/${old['key_id']}/rotate`
    const next = dataOf((await post(path, { overlap_seconds: 60 })).body)
    const again = await post(path, { overlap_seconds: 60 })
    expect([again.status, again.body]).toMatchObject([
      409,
      {
        code: 'key_not_active',
        detail: expect.stringContaining(`It was replaced by the key ${next['key_id']}.`),
      },
    ])
  })

  it('gives the new key the lifetime of the old one, unless expires_at is sent', async () => {
    const day = 86_400_000
    const lives = (key: Record<string, string>) =>
      Math.round((Date.parse(key['expires_at'] ?? '') - Date.now()) / day)
    const old = await createKey({ expires_at: new Date(Date.now() + 90 * day).toISOString() })
    const next = dataOf((await post(`${keys}/${old['key_id']}/rotate`, { overlap_seconds: 60 })).body)
    expect(lives(next)).toBe(90)
    const body = { overlap_seconds: 60, expires_at: null }
    const endless = dataOf((await post(`${keys}/${next['key_id']}/rotate`, body)).body)
    expect(endless['expires_at']).toBeNull()
  })

  it('rejects an overlap that is missing, negative, fractional or too long', async () => {
    const old = await createKey()
    for (const overlap of [undefined, -1, 1.5, '60', limits.keyOverlapSecondsMax + 1]) {
      const { status } = await post(`${keys}/${old['key_id']}/rotate`, { overlap_seconds: overlap })
      expect([overlap, status]).toEqual([overlap, 400])
    }
    expect(await statusWith(old['key'])).toBe(200)
  })
})

describe('an Idempotency-Key', () => {
  it('creates one key; a retry returns its id, but never the key', async () => {
    const parameters = { name: 'once', scopes: ['product:read'] }
    const first = dataOf((await post(keys, parameters, { 'idempotency-key': 'a1' })).body)
    const again = await post(keys, parameters, { 'idempotency-key': 'a1' })
    expect([again.status, again.body]).toMatchObject([
      409,
      { code: 'key_already_created', detail: expect.stringContaining(`revoke ${first['key_id']}`) },
    ])
    expect(JSON.stringify(again.body)).not.toContain(first['key'])
    const other = await post(keys, { ...parameters, name: 'other' }, { 'idempotency-key': 'a1' })
    expect(other.body).toMatchObject({ status: 422, code: 'idempotency_mismatch' })
    const list = await service.request(acme, 'GET', `${keys}?filter=name=once`)
    expect(list.body).toMatchObject({ meta: { total: 1 } })
  })

  it('creates one key for concurrent requests', async () => {
    const parameters = { name: 'race', scopes: ['product:read'] }
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => post(keys, parameters, { 'idempotency-key': 'race' })),
    )
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(7)
  })
})

it('an account has at most keysValidMax valid keys; the longest expired ones are deleted', async () => {
  const full = await account(client, 'full')
  await client.query(
    `insert into api_key (account_id, key_id, hash, name, scopes, revoked_at)
     select $1, lpad(n::text, 8, 'k'), sha256(n::text::bytea), 'bulk', '{product:read}',
       case when n > $2 then now() - make_interval(hours => n) end
     from generate_series(2, $3) n`,
    [full.accountId, limits.keysValidMax, limits.keysStoredMax],
  )
  const rejected = await post(keys, { name: 'x', scopes: ['product:read'] }, {}, full)
  expect([rejected.status, rejected.body]).toMatchObject([409, { code: 'keys_exhausted' }])
  expect((await service.request(full, 'POST', `${keys}/kkkkkkk2/revoke`)).status).toBe(200)
  await createKey({}, full)
  const stored = await client.query<{ count: number; oldest: string }>(
    `select count(*)::int as count, (select min(revoked_at) from api_key where account_id = $1)::text as oldest
     from api_key where account_id = $1`,
    [full.accountId],
  )
  expect(stored.rows[0]?.count).toBe(limits.keysStoredMax - limits.keysSweepRows + 1)
})

describe('the audit', () => {
  it('records who changed what, when and from where', async () => {
    const { body } = await service.request(acme, 'POST', keys, {
      body: JSON.stringify({ name: 'audited', scopes: ['product:read'] }),
      headers: { ...json, 'user-agent': 'till/1.0', 'x-forwarded-for': '203.0.113.9, 198.51.100.4' },
    })
    const key = dataOf(body)
    expect(await auditOf(key['key_id'])).toEqual([
      {
        id: expect.any(String),
        at: key['created_at'],
        action: 'key.create',
        subject: key['key_id'],
        details: 'audited; product:read; expires never',
        actor: 'key',
        actor_id: acme.key.slice(3, 11),
        application: 'till/1.0',
        address: '198.51.100.4',
      },
    ])
  })

  it('records changes by the operator, newest first', async () => {
    const run = (...args: string[]) => quartermaster(args, { DATABASE_URL: url })
    await run('account', 'create', 'watched')
    await run('account', 'suspend', 'watched')
    await run('account', 'suspend', 'watched')
    await run('account', 'activate', 'watched')
    const create = ['key', 'create', '--account', 'watched', '--name', 'all', '--scopes', 'account:manage']
    const { key, key_id: keyId } = JSON.parse((await run(...create, '--json')).stdout)
    const rotated = await run('key', 'rotate', keyId, '--account', 'watched', '--overlap', '1h', '--json')
    const next = JSON.parse(rotated.stdout)
    await run('key', 'revoke', keyId, '--account', 'watched')
    const watched = { name: 'watched', key: next.key }
    const { body } = await service.request(watched, 'GET', '/manage/v1/audit?fields=action,subject,actor')
    expect(body).toEqual({
      data: [
        { action: 'key.revoke', subject: keyId, actor: 'operator' },
        { action: 'key.rotate', subject: keyId, actor: 'operator' },
        { action: 'key.create', subject: keyId, actor: 'operator' },
        { action: 'account.activate', subject: 'watched', actor: 'operator' },
        { action: 'account.suspend', subject: 'watched', actor: 'operator' },
        { action: 'account.create', subject: 'watched', actor: 'operator' },
      ],
      meta: { count: 6, total: 6 },
      pagination: { previousPage: null, currentPage: 1, nextPage: null, totalPages: 1 },
    })
    expect((await service.request({ name: 'watched', key }, 'GET', keys)).status).toBe(401)
  })

  it('has a record of every change, and none of failed changes', async () => {
    const before = await client.query('select count(*) from audit')
    await post(`${keys}/unknown/rotate`, { overlap_seconds: 0 })
    expect((await client.query('select count(*) from audit')).rows).toEqual(before.rows)
    await client.query('revoke insert on audit from quartermaster_writer')
    try {
      const rejected = await post(keys, { name: 'unrecorded', scopes: ['product:read'] })
      expect(rejected.status).toBe(503)
    } finally {
      await client.query('grant insert on audit to quartermaster_writer')
    }
    const { rows } = await client.query(`select from api_key where name = 'unrecorded'`)
    expect(rows).toHaveLength(0)
  })
})

it('lists show only the account of the key, and are filtered and paged like any other', async () => {
  const all = await service.request(globex, 'GET', `${keys}?limit=1000`)
  expect(all.body).toMatchObject({ meta: { count: 2, total: 2 } })
  const paged = await service.request(acme, 'GET', `${keys}?limit=2&page=2&filter=state=active`)
  expect(paged.body).toMatchObject({ meta: { count: 2 }, pagination: { previousPage: 1, currentPage: 2 } })
  expect(paged.headers.get('link')).toContain(
    '</manage/v1/keys?filter=state%3Dactive&page=1&limit=2>; rel="first"',
  )
  const wrong = await service.request(acme, 'GET', `${keys}?filter=nam=x`)
  expect(wrong.body).toMatchObject({ status: 400, detail: 'A key has no field "nam". Did you mean name?' })
  const hash = await service.request(acme, 'GET', `${keys}?fields=hash`)
  expect(hash.status).toBe(400)
  const query = await service.request(acme, 'QUERY', '/manage/v1/audit', {
    body: 'filter=actor=key&limit=1',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect(query.body).toMatchObject({ data: [{ actor: 'key' }] })
  expect((await service.request(acme, 'DELETE', '/manage/v1/audit')).status).toBe(405)
})

it('a key with a wrong checksum is rejected without a database query', async () => {
  const key = generateKey()
  const slipped = `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`
  const calls = async () => {
    const { rows } = await client.query<{ calls: string }>(
      `select coalesce(sum(s.calls), 0) as calls from pg_stat_statements s
       join pg_database d on d.oid = s.dbid where d.datname = current_database() and s.query like '%decode(q.hash%'`,
    )
    return Number(rows[0]?.calls)
  }
  await client.query('create extension if not exists pg_stat_statements')
  expect(await statusWith(key)).toBe(401)
  const before = await calls()
  expect(before).toBeGreaterThan(0)
  for (let i = 0; i < 20; i++) expect(await statusWith(slipped)).toBe(401)
  expect(await calls()).toBe(before)
  expect(await statusWith(key)).toBe(401)
  expect(await calls()).toBe(before + 1)
})
