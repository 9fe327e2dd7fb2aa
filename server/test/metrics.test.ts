import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { defaultLimits } from '../src/limits/passed-limits.ts'
import { account, connected, freshDatabase, insertProducts } from './database.ts'
import { eventually } from './eventually.ts'
import { sampleOf, scrape } from './exposition.ts'
import { startTestService } from './service.ts'

/** The admin port: metrics and health of a running service. */

const products = '/api/v1/inventory/product'
const partners = '/api/v1/resources/partner'

const url = await freshDatabase()
let client = await connected(url)
const acme = await account(client, 'acme')
await insertProducts(client, acme, 1)
const { requestsWaitingMax } = defaultLimits
const service = await startTestService(url, { QUARTERMASTER_ADMIN_PORT: '0' }, { requestsWaitingMax })

const admin = (path: string, method = 'GET') =>
  fetch(`http://127.0.0.1:${service.adminPort}${path}`, { method })

describe('the admin port', () => {
  it('shows metrics and health, and nothing else', async () => {
    expect((await admin('/livez')).status).toBe(200)
    expect((await admin('/readyz')).status).toBe(200)
    expect((await admin('/metrics', 'POST')).status).toBe(405)
    expect((await admin(products)).status).toBe(404)
  })

  it('is separate from the public port, which has no metrics', async () => {
    expect(service.adminPort).not.toBe(service.port)
    expect((await fetch(`http://127.0.0.1:${service.port}/metrics`)).status).toBe(401)
    expect((await service.request(acme, 'GET', '/metrics')).status).toBe(404)
  })

  it('is closed unless QUARTERMASTER_ADMIN_PORT is set', async () => {
    const plain = await startTestService(url)
    expect(plain.adminPort).toBeUndefined()
    await plain.close()
  })
})

describe('metrics', () => {
  it('count requests by route, method and status, and responses by source', async () => {
    const before = (await scrape(service.adminPort)).samples
    const first = await service.request(acme, 'GET', `${products}?limit=3`)
    await service.request(acme, 'GET', `${products}?limit=3`)
    const etag = first.headers.get('etag') ?? ''
    await service.request(acme, 'GET', `${products}?limit=3`, { headers: { 'if-none-match': etag } })
    await service.request(acme, 'POST', partners, {
      body: '{"name":"Nordwind"}',
      headers: { 'content-type': 'application/json' },
    })
    await sleep(50)
    const { samples } = await scrape(service.adminPort)
    const labels = (method: string, route: string, status: string) => ({
      http_request_method: method,
      http_route: route,
      http_response_status_code: status,
    })
    const count = 'http_server_request_duration_seconds_count'
    expect(sampleOf(samples, count, labels('GET', products, '200'))).toBe(2)
    expect(sampleOf(samples, count, labels('GET', products, '304'))).toBe(1)
    expect(sampleOf(samples, count, labels('POST', partners, '201'))).toBe(1)
    const responses = (source: string) =>
      sampleOf(samples, 'quartermaster_reads_total', { source }) -
      sampleOf(before, 'quartermaster_reads_total', { source })
    expect([responses('read'), responses('cached'), responses('unchanged')]).toEqual([1, 1, 1])
    const statements = (operation: string) =>
      sampleOf(samples, 'db_client_operation_duration_seconds_count', {
        db_operation_name: operation,
        outcome: 'ok',
      })
    expect([statements('list'), statements('create')]).toEqual([1, 1])
    expect(statements('verify_key')).toBeGreaterThanOrEqual(4)
    expect(sampleOf(samples, 'quartermaster_key_verification_batch_size_sum')).toBeGreaterThanOrEqual(4)
  })

  it('count rejections by code, including malformed requests', async () => {
    const count = async (code: string) =>
      sampleOf((await scrape(service.adminPort)).samples, 'quartermaster_rejections_total', { code })
    const before = [await count('unauthenticated'), await count('request_invalid')]
    await service.request({ ...acme, key: 'qm_wrong' }, 'GET', products)
    await service.request(acme, 'GET', `${products}?filter=nothing~5`)
    const socket = connect(service.port, '127.0.0.1')
    socket.end('NOT HTTP\r\n\r\n')
    expect(await text(socket)).toMatch('400 Bad Request')
    await sleep(50)
    expect([await count('unauthenticated'), await count('request_invalid')]).toEqual([
      (before[0] ?? 0) + 1,
      (before[1] ?? 0) + 2,
    ])
  })

  it('show the pools, the event loop, memory, and whether the process is ready', async () => {
    const { samples } = await scrape(service.adminPort)
    const pool = { db_client_connection_pool_name: 'writes' }
    expect(sampleOf(samples, 'db_client_connection_max', pool)).toBe(10)
    expect(sampleOf(samples, 'db_client_connection_pending_requests', pool)).toBe(0)
    // Creates and the request log share this pool: it has one connection, or more if they were concurrent.
    const open = ['idle', 'used'].map((state) =>
      sampleOf(samples, 'db_client_connection_count', { ...pool, db_client_connection_state: state }),
    )
    expect(Math.min(...open)).toBeGreaterThanOrEqual(0)
    expect(open).toSatisfy(([idle = 0, used = 0]: number[]) => idle + used >= 1 && idle + used <= 10)
    expect(sampleOf(samples, 'process_memory_usage_bytes')).toBeGreaterThan(1e7)
    expect(sampleOf(samples, 'nodejs_eventloop_delay_p99_seconds')).toBeLessThan(process.uptime())
    expect(sampleOf(samples, 'quartermaster_ready')).toBe(1)
  })

  it('name no account, key, host, path or filter', async () => {
    await service.request(acme, 'GET', `${products}?filter=name*zzsecretzz`)
    await service.request(acme, 'GET', '/no/such/zzpathzz')
    await service.request(acme, 'GET', `${products}/zzidzz`)
    await service.request(acme, 'PURGE', products)
    await sleep(50)
    const shown = (await scrape(service.adminPort)).text
    expect(shown).toContain('http_route="/api/v1/inventory/product/:id"')
    expect(shown).toContain('http_request_method="_OTHER"')
    for (const secret of ['acme', acme.key, acme.key.slice(3, 11), 'zz']) expect(shown).not.toContain(secret)
  })

  it('report an unavailable database', async () => {
    const name = new URL(url).pathname.slice(1)
    await client.end()
    const owner = await connected(url.replace(name, 'postgres'))
    await owner.query(`alter database "${name}" allow_connections false`)
    await owner.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name])
    await eventually(
      async () => sampleOf((await scrape(service.adminPort)).samples, 'quartermaster_ready') === 0,
    )
    const { samples } = await scrape(service.adminPort)
    const ready = await admin('/readyz')
    await owner.query(`alter database "${name}" allow_connections true`)
    await owner.end()
    client = await connected(url)
    expect(sampleOf(samples, 'quartermaster_connections_broken_total')).toBeGreaterThan(0)
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('database')])
  })
})

it('requests waiting for key verification exceed the alert threshold while the database stalls', async () => {
  const rules = readFileSync(
    fileURLToPath(new URL('../../deploy/prometheus/quartermaster.rules.yml', import.meta.url)),
    'utf8',
  )
  const threshold = Number(/quartermaster_key_verification_waiting\{[^}]*\} > (\d+)/.exec(rules)?.[1])
  await eventually(async () => (await service.request(acme, 'GET', products)).status === 200)
  const blocker = await connected(url)
  await blocker.query('begin; lock table api_key in access exclusive mode')
  const load = { isDone: false, statuses: new Set<number>() }
  const clients = Array.from({ length: defaultLimits.requestsWaitingMax + 100 }, async () => {
    while (!load.isDone) load.statuses.add((await service.request(acme, 'GET', products)).status)
  })
  try {
    // A scrape takes time: requests that waited may be rejected by then, while others wait.
    await eventually(
      async () =>
        sampleOf((await scrape(service.adminPort)).samples, 'quartermaster_key_verification_waiting') >
        threshold,
    )
    await eventually(() => load.statuses.has(503))
  } finally {
    load.isDone = true
    await blocker.end()
    await Promise.all(clients)
  }
})
