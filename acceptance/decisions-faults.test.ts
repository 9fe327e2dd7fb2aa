import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import {
  type Answer,
  type Ask,
  create,
  createdId,
  encoded,
  keyOf,
  list,
  partners,
  problemIn,
  products,
  send,
} from './client.ts'
import { type Running, startServer } from './operator.ts'
import { startWire, type Wire } from './postgres-wire.ts'

const databaseUrl = inject('place').own?.databaseUrl

/** A service of its own, with the least patience and one connection, on a line to its database that can be cut. */
describe.skipIf(databaseUrl === undefined)('E2: when the store is slow or away', () => {
  let wire: Wire
  let server: Running
  const here = (): Ask => ({ baseUrl: server.url })
  /** Looked up, and then refused: the least work a request can be. */
  const stranger = (): Ask => ({ ...here(), key: keyOf('globex') })
  const initech = (): Ask => ({ ...here(), host: 'initech', key: keyOf('initech') })

  beforeAll(async () => {
    wire = await startWire(databaseUrl ?? '')
    server = await startServer({
      DATABASE_URL: wire.databaseUrl,
      DATABASE_POOL_MAX: '1',
      READ_MS_MAX: '50',
      LOG_LEVEL: 'silent',
    })
  })

  afterAll(async () => {
    await server.stop()
    await wire.close()
  })

  async function mended(): Promise<void> {
    wire.mend()
    const until = Date.now() + 30_000
    // Not by /readyz alone, which may tell what was so a second ago.
    while ((await send(products, here())).status !== 200 || (await send('/readyz', here())).status !== 200) {
      if (Date.now() > until) throw new Error('The service did not come back.')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  test('[E2] a query that runs past its deadline is a 504', async () => {
    const slow = Array.from({ length: 200 }, (_, i) => `name!*"no such text in any name ${i}"`).join('&')
    const answer = await send(products, {
      ...here(),
      host: 'bulk',
      key: keyOf('bulk'),
      method: 'QUERY',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `filter=${encoded(slow)}`,
    })
    expect(problemIn(answer, 504).code).toBe('deadline_exceeded')
    expect((await send(products, here())).status).toBe(200)
  })

  test('[E2] a store that is away is a 503 with Retry-After, and back when it is back', async () => {
    expect((await send(products, here())).status).toBe(200)
    wire.cut()
    try {
      for (const path of [products, `${partners}/1`, '/readyz']) {
        const answer = await eventually503(path)
        expect(problemIn(answer, 503).code).toBe('database_unavailable')
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
      }
      expect((await send('/livez', here())).status).toBe(200)
    } finally {
      await mended()
    }
    expect((await send(products, here())).status).toBe(200)
  })

  // A look at the database may serve several who ask /readyz within a second.
  async function eventually503(path: string): Promise<Answer> {
    const until = Date.now() + 30_000
    for (;;) {
      const answer = await send(path, here())
      if (answer.status === 503 || Date.now() > until) return answer
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  test('[C3] a 5xx is never replayed', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const body = JSON.stringify({ name: `After the storm ${headers['idempotency-key']}` })
    wire.cut()
    try {
      expect((await create(body, { ...initech(), headers })).status).toBe(503)
    } finally {
      await mended()
    }
    const first = await create(body, { ...initech(), headers })
    expect(first.headers['idempotent-replayed']).toBeUndefined()
    const again = await create(body, { ...initech(), headers })
    expect(createdId(again)).toBe(createdId(first))
    expect(again.headers['idempotent-replayed']).toBe('true')
  })

  test('[E2] more work than can wait is a 503 with Retry-After, at once', async () => {
    expect((await list(products, here())).meta.total).toBe(30)
    wire.stall()
    const flood = Array.from({ length: 1050 }, () => send(products, stranger()))
    try {
      const answer = await Promise.race(flood)
      expect(problemIn(answer, 503).code).toBe('overloaded')
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    } finally {
      await mended()
      await Promise.allSettled(flood)
    }
    expect((await list(products, here())).meta.total).toBe(30)
  })
})
