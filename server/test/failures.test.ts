import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { account, connected, freshDatabase, insertProducts } from './database.ts'
import { eventually, waitingForLocks } from './eventually.ts'
import { startTestService } from './service.ts'

/** The responses that a client gets when the database fails. */

const partners = '/api/v1/resources/partner'

const url = await freshDatabase()
let client = await connected(url)
/** Sees which connections wait for locks of `client`. */
let observer = await connected(url)
const acme = await account(client, 'acme')
await insertProducts(client, acme, 20_000, 'x'.repeat(500))
const service = await startTestService(url)

async function isServing(by = service): Promise<boolean> {
  const { status, body } = await by.request(acme, 'GET', '/api/v1/inventory/product/1?fields=id')
  return status === 200 && JSON.stringify(body) === '{"data":{"id":1}}'
}

describe('timeouts', () => {
  it('a read past its timeout is 504, and the service continues to serve', async () => {
    const slow = `filter=${encodeURIComponent(Array.from({ length: 60 }, (_, i) => `name!*q${i}`).join('&'))}`
    const hasty = await startTestService(url, { QUARTERMASTER_READ_MS_MAX: '50' })
    const late = await hasty.request(acme, 'GET', `/api/v1/inventory/product?${slow}`)
    expect([late.status, late.body]).toMatchObject([504, { code: 'deadline_exceeded' }])
    await eventually(() => isServing(hasty))
    await hasty.close()
  })
})

describe('an Idempotency-Key whose first request still runs', () => {
  it('is 409, and replayed once the first has completed', async () => {
    await client.query('begin')
    await client.query(`select 1 from tally where account_id = $1 and resource = 'partner' for update`, [
      acme.accountId,
    ])
    const create = () => service.post(acme, partners, { name: 'Once' }, { 'idempotency-key': 'k1' })
    const first = create()
    await eventually(async () => (await waitingForLocks(observer)).length === 1)
    const second = await create()
    expect([second.status, second.body]).toMatchObject([409, { code: 'idempotency_conflict' }])
    expect(second.headers.get('retry-after')).toBe('1')
    await client.query('rollback')
    const created = await first
    const again = await create()
    expect([created.status, again.status, again.body]).toEqual([201, 201, created.body])
    expect([created.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([
      null,
      'true',
    ])
  })

  it('is released before an error response is sent: the next request with it is not 409', async () => {
    const create = (name: string) => service.post(acme, partners, { name }, { 'idempotency-key': 'k3' })
    expect((await create('First')).status).toBe(201)
    const statuses = new Set<number>()
    for (let n = 0; n < 100; n++) statuses.add((await create('Another')).status)
    expect([...statuses]).toEqual([422])
  })

  it('can be used again after it has expired', async () => {
    const create = (name: string) => service.post(acme, partners, { name }, { 'idempotency-key': 'k2' })
    const first = await create('Old')
    expect((await create('New')).status).toBe(422)
    await client.query(
      `update idempotency set created_at = now() - interval '24 hours 1 second' where key = 'k2'`,
    )
    const second = await create('New')
    expect(second.status).toBe(201)
    expect(second.body).not.toEqual(first.body)
  })
})

describe('a write that cannot get the lock of its account', () => {
  it('times out with 503, and writes nothing', async () => {
    const count = async () => (await client.query('select count(*)::int as n from partner')).rows[0]?.n
    const before = await count()
    const hasty = await startTestService(url, {}, { writeLockMsMax: 200 })
    await client.query('begin')
    await client.query(`select 1 from tally where account_id = $1 and resource = 'partner' for update`, [
      acme.accountId,
    ])
    const rejected = await hasty.post(acme, partners, { name: 'Late' })
    await client.query('rollback')
    await hasty.close()
    expect([rejected.status, rejected.body]).toMatchObject([503, { code: 'overloaded' }])
    expect(await count()).toBe(before)
  })
})

describe('an unavailable database', () => {
  it('fails running reads with 503, and no others', async () => {
    await client.query('begin')
    await client.query('lock table product in access exclusive mode')
    // One on a pool connection, one on a pipelined connection.
    const reads = ['?filter=name*a', '/1'].map((path) =>
      service.request(acme, 'GET', `/api/v1/inventory/product${path}`),
    )
    await eventually(async () => (await waitingForLocks(observer)).length === reads.length)
    await observer.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [
      await waitingForLocks(observer),
    ])
    await client.query('rollback')
    for (const { status, body } of await Promise.all(reads)) {
      expect([status, body]).toMatchObject([503, { code: 'database_unavailable' }])
    }
    // The service may notice a broken connection only when it next uses it.
    await eventually(() => isServing())
  })

  it('is 503 with Retry-After, and not ready, until the database is available again', async () => {
    const name = new URL(url).pathname.slice(1)
    await Promise.all([client.end(), observer.end()])
    const admin = await connected(url.replace(name, 'postgres'))
    await admin.query(`alter database "${name}" allow_connections false`)
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
    await eventually(async () => (await service.request(acme, 'GET', '/readyz')).status === 503)
    const unavailable = await service.request(acme, 'GET', '/api/v1/inventory/product?limit=1')
    await admin.query(`alter database "${name}" allow_connections true`)
    await admin.end()
    expect([unavailable.status, unavailable.body]).toMatchObject([503, { code: 'database_unavailable' }])
    expect(unavailable.headers.get('retry-after')).toBe('2')
    client = await connected(url)
    observer = await connected(url)
    await eventually(() => isServing())
  })
})

describe('shutdown', () => {
  it('lets a running request finish, and refuses new connections', async () => {
    const other = await startTestService(url)
    await client.query('begin')
    await client.query(`select 1 from tally where account_id = $1 and resource = 'partner' for update`, [
      acme.accountId,
    ])
    const running = other.post(acme, partners, { name: 'Last' })
    await eventually(async () => (await waitingForLocks(observer)).length === 1)
    const closed = other.close()
    await sleep(200)
    await client.query('rollback')
    expect((await running).status).toBe(201)
    await closed
    await expect(other.request(acme, 'GET', '/livez')).rejects.toThrow('fetch failed')
  })
})
