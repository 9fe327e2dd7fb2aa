import { beforeEach, expect, it } from 'vitest'
import { quartermaster } from './command.ts'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { startTestService, type TestService } from './service.ts'

/** What one account can store is limited, and the operator can set each limit. */

let service: TestService
let acme: TestAccount
let accounts = 0
const products = '/api/v1/inventory/product'
const partners = '/api/v1/resources/partner'

const url = await freshDatabase()
const client = await connected(url)

beforeEach(async () => {
  acme = await account(client, `acme-${++accounts}`)
  service = await startTestService(url)
  return () => service.close()
})

const nameOf = () => `acme-${accounts}`
const limit = async (...options: readonly string[]) => {
  const { code, stdout, stderr } = await quartermaster(['account', 'limit', nameOf(), ...options, '--json'], {
    DATABASE_URL: url,
  })
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}
const create = (path: string, headers: Record<string, string> = {}) =>
  service.request(acme, 'POST', path, {
    body: '{"name":"x"}',
    headers: { 'content-type': 'application/json', ...headers },
  })
const batch = async (lines: readonly object[]) => {
  const { body } = await service.request(acme, 'POST', `${products}/batch`, {
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    headers: { 'content-type': 'application/x-ndjson' },
  })
  return JSON.stringify(body)
}
const total = async (resource: string) => {
  const { rows } = await client.query(
    `select t.total::int, (select count(*)::int from ${resource} r where r.account_id = t.account_id) as stored
     from tally t where t.account_id = $1 and t.resource = $2`,
    [acme.accountId, resource],
  )
  expect(rows[0].stored).toBe(rows[0].total)
  return rows[0].total
}
const exhausted = (code: string, detail: RegExp) => ({ code, detail: expect.stringMatching(detail) })

it('records: creates, alone and together, with and without an Idempotency-Key', async () => {
  expect(await limit('--records', '5')).toMatchObject({ records_max: 5 })
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await create(partners)).status))
  expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array(5).fill(201), ...Array(15).fill(409)])
  for (const headers of [{}, { 'idempotency-key': 'one' }]) {
    const { status, body } = await create(partners, headers)
    expect([status, body]).toMatchObject([409, exhausted('records_exhausted', /may have 5 partners/)])
  }
  expect(await total('partner')).toBe(5)
  // Each resource has its own quota, and a deletion makes room.
  expect((await create(products)).status).toBe(201)
  expect((await service.request(acme, 'DELETE', `${partners}/1`)).status).toBe(204)
  expect((await create(partners)).status).toBe(201)
  await limit('--records', 'default')
  expect((await create(partners)).status).toBe(201)
})

it('records: a batch ends, its slice is not written, and deletions of nothing make no room', async () => {
  await limit('--records', '10')
  const lines = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({ id: from + i, name: 'x', list_price: 1, qty_available: 1 }))
  expect(await batch(lines(1, 8))).toContain('"inserted":8')
  const ended = await batch(lines(9, 3))
  expect(ended).toContain('records_exhausted')
  const gone = Array.from({ length: 50 }, (_, i) => ({ $delete: 1000 + i }))
  expect(await batch([...gone, ...lines(9, 3)])).toContain('records_exhausted')
  expect(await total('product')).toBe(8)
  // An update needs no room, and what the same batch deletes makes some.
  expect(await batch([{ id: 1, name: 'y' }, { $delete: 2 }, ...lines(9, 3)])).toContain('"inserted":3')
  expect(await total('product')).toBe(10)
})

it('results for an Idempotency-Key: new keys are rejected, stored ones are replayed', async () => {
  await limit('--idempotency-results', '3')
  for (const key of ['a', 'b', 'c'])
    expect((await create(partners, { 'idempotency-key': key })).status).toBe(201)
  const { status, body, headers } = await create(partners, { 'idempotency-key': 'd' })
  expect([status, body]).toMatchObject([
    429,
    exhausted('idempotency_exhausted', /3 results .* Nothing was written/),
  ])
  expect(headers.get('retry-after')).toBe('3600')
  const replayed = await create(partners, { 'idempotency-key': 'a' })
  expect(replayed.headers.get('idempotent-replayed')).toBe('true')
  expect((await create(partners)).status).toBe(201)
  expect(await total('partner')).toBe(4)
  await client.query(`update idempotency set created_at = now() - interval '25 hours' where key = 'a'`)
  await service.close()
  service = await startTestService(url)
  expect((await create(partners, { 'idempotency-key': 'd' })).status).toBe(201)
})

it('audit entries: nothing can be created or changed any more, but revoked, paused and deleted', async () => {
  const keys = '/manage/v1/keys'
  const created = await service.post(acme, keys, { name: 'k', scopes: ['product:read'] })
  const { data } = JSON.parse(JSON.stringify(created.body))
  const { rows } = await client.query('select count(*)::int from audit where account_id = $1', [
    acme.accountId,
  ])
  await limit('--audit-entries', String(rows[0].count))
  const full = [409, exhausted('audit_exhausted', /Keys can still be revoked/)]
  const again = await service.post(acme, keys, { name: 'k', scopes: ['product:read'] })
  expect([again.status, again.body]).toMatchObject(full)
  const rotated = await service.post(acme, `${keys}/${data.key_id}/rotate`, { overlap_seconds: 0 })
  expect([rotated.status, rotated.body]).toMatchObject(full)
  expect((await service.request(acme, 'POST', `${keys}/${data.key_id}/revoke`)).status).toBe(200)
})

it('account show has the quotas and what is used of them', async () => {
  await limit('--records', '7', '--audit-entries', '100')
  await create(partners, { 'idempotency-key': 'a' })
  const { stdout } = await quartermaster(['account', 'show', nameOf(), '--json'], { DATABASE_URL: url })
  expect(JSON.parse(stdout)).toMatchObject({
    records_max: 7,
    idempotency_results_max: 1_000_000,
    audit_rows_max: 100,
    used: { idempotency_results: 1, audit_rows: 2 },
  })
  const { stdout: text } = await quartermaster(['account', 'show', nameOf()], { DATABASE_URL: url })
  expect(text).toContain(
    'quotas: 7 records of each resource, 1000000 results for an Idempotency-Key, 100 audit entries\nkeys: 1 valid of 1\nused: 1 results',
  )
  const none = await quartermaster(['account', 'limit', nameOf()], { DATABASE_URL: url })
  expect([none.code, none.stderr]).toEqual([64, expect.stringContaining('Pass at least one limit')])
})
