import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  create,
  createdId,
  encoded,
  type HttpResponse,
  keyOf,
  list,
  partners,
  problemIn,
  products,
  type RequestOptions,
  send,
} from './client.ts'
import { type Running, startServer } from './operator.ts'
import { type PostgresProxy, startPostgresProxy } from './postgres-proxy.ts'

const databaseUrl = inject('target').local?.databaseUrl
/** A proxy before one of several servers does not make the database unavailable. */
const isDistributed = inject('target').local?.isDistributed === true

/** A separate service with one connection. It reaches its database through a proxy that can fail. */
describe.skipIf(databaseUrl === undefined)('E2: if the database is slow or unavailable', () => {
  let proxy: PostgresProxy
  let server: Running
  const local = (): RequestOptions => ({ baseUrl: server.url })
  /** Costs only a key lookup: the key belongs to another account, so that the request gets 401. */
  const otherAccountKey = (): RequestOptions => ({ ...local(), key: keyOf('globex') })
  const initech = (): RequestOptions => ({ ...local(), host: 'initech', key: keyOf('initech') })

  beforeAll(async () => {
    proxy = await startPostgresProxy(databaseUrl ?? '')
    server = await startServer({
      DATABASE_URL: proxy.databaseUrl,
      QUARTERMASTER_DATABASE_POOL_MAX: '1',
      QUARTERMASTER_LOG_LEVEL: 'silent',
    })
  })

  afterAll(async () => {
    await server.stop()
    await proxy.close()
  })

  async function restored(): Promise<void> {
    proxy.restore()
    const deadline = Date.now() + 120_000
    // The result of /readyz may be up to one second old, so a list must succeed as well.
    while (
      (await send(products, local())).status !== 200 ||
      (await send('/readyz', local())).status !== 200
    ) {
      if (Date.now() > deadline) throw new Error('The service did not recover.')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  test('[E2] a query that exceeds its timeout is a 504', async () => {
    const hasty = await startServer({
      DATABASE_URL: databaseUrl ?? '',
      QUARTERMASTER_READ_MS_MAX: '50',
      QUARTERMASTER_LOG_LEVEL: 'silent',
    })
    const slow = Array.from({ length: 200 }, (_, i) => `name!*"no such text in any name ${i}"`).join('&')
    try {
      const response = await send(products, {
        baseUrl: hasty.url,
        host: 'bulk',
        key: keyOf('bulk'),
        method: 'QUERY',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `filter=${encoded(slow)}`,
      })
      expect(problemIn(response, 504).code).toBe('deadline_exceeded')
      // A busy machine may need longer than 50 ms for any read, but not always.
      await expect
        .poll(async () => (await send(products, { baseUrl: hasty.url })).status, { timeout: 120_000 })
        .toBe(200)
    } finally {
      await hasty.stop()
    }
  })

  test.skipIf(isDistributed)(
    '[E2] an unavailable database is a 503 with Retry-After, and requests succeed once it is back',
    async () => {
      expect((await send(products, local())).status).toBe(200)
      proxy.disconnect()
      try {
        for (const path of [products, `${partners}/1`, '/readyz']) {
          const response = await eventually503(path)
          expect(problemIn(response, 503).code).toBe('database_unavailable')
          expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
        }
        expect((await send('/livez', local())).status).toBe(200)
      } finally {
        await restored()
      }
      expect((await send(products, local())).status).toBe(200)
    },
  )

  // /readyz caches its result for up to one second.
  async function eventually503(path: string): Promise<HttpResponse> {
    const deadline = Date.now() + 120_000
    for (;;) {
      const response = await send(path, local())
      if (response.status === 503 || Date.now() > deadline) return response
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  test.skipIf(isDistributed)('[C3] a 5xx is never replayed', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const body = JSON.stringify({ name: `After the outage ${headers['idempotency-key']}` })
    proxy.disconnect()
    try {
      expect((await create(body, { ...initech(), headers })).status).toBe(503)
    } finally {
      await restored()
    }
    const first = await create(body, { ...initech(), headers })
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    const again = await create(body, { ...initech(), headers })
    expect(createdId(again)).toBe(createdId(first))
    expect(again.headers['idempotent-replayed']).toBe('true')
  })

  test('[E2] if the queue is full, the response is an immediate 503 with Retry-After', async () => {
    expect((await list(products, local())).meta.total).toBe(30)
    proxy.stall()
    const flood = Array.from({ length: 1050 }, () => send(products, otherAccountKey()))
    try {
      const response = await Promise.race(flood)
      expect(problemIn(response, 503).code).toBe('overloaded')
      expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
    } finally {
      await restored()
      await Promise.allSettled(flood)
    }
    expect((await list(products, local())).meta.total).toBe(30)
  })
})
