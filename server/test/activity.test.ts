import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { sweepStatements, trimStatements } from '../src/activity/retention.ts'
import { limits } from '../src/limits/limits.ts'
import { account, connected } from './database.ts'
import { eventually, waitingForLocks } from './eventually.ts'
import { freshService, startTestService } from './service.ts'

/** The request log, usage and last use of keys: written after the response, read by the account's administrator. */

const usageFlushMs = 200
const { url, client, service } = await freshService({}, { usageFlushMs })
/** Sees which connections wait for locks of `client`. */
const observer = await connected(url)
const acme = await account(client, 'acme')
const globex = await account(client, 'globex')
/** Its requests are sent last: once they are logged, the requests before them are too. */
const last = await account(client, 'last')

type Row = Record<string, unknown>
interface List {
  readonly data: Row[]
  readonly meta: { readonly count: number; readonly total: number }
}

const products = '/api/v1/inventory/product'
const startedAt = Date.now()

/**
 * Waits until all activity before this call is written. Each flush writes log rows in order, then usage and last use:
 * once the second marker is logged, the flush that logged the first is complete.
 */
async function written(): Promise<void> {
  for (const id of [randomUUID(), randomUUID()]) {
    await service.request(last, 'GET', products, { headers: { 'x-request-id': id } })
    await eventually(async () => {
      const { rowCount } = await client.query(
        'select from request where account_id = $1 and request_id = $2',
        [last.accountId, id],
      )
      return rowCount === 1
    })
  }
}

async function usageWritten(): Promise<void> {
  await sleep(usageFlushMs)
  await written()
}

async function list(path: string, by = acme): Promise<List> {
  const { status, body } = await service.request(by, 'GET', path)
  expect(status, JSON.stringify(body)).toBe(200)
  const response: List = JSON.parse(JSON.stringify(body))
  return response
}

const requestsWith = (filter: string, by = acme) =>
  list(`/manage/v1/requests?limit=1000&filter=${encodeURIComponent(filter)}`, by)

describe('the request log', () => {
  it('shows why a request failed', async () => {
    const send = (path: string, id: string, method = 'GET', more: object = {}) =>
      service.request(acme, method, path, { headers: { 'x-request-id': id, ...more } })
    await service.request(acme, 'POST', '/api/v1/resources/partner', {
      body: '{"name":"Nordwind"}',
      headers: { 'content-type': 'application/json', 'x-request-id': 'created' },
    })
    await send(`${products}?filter=list_price>10&active=true&limit=5`, 'first')
    await send(`${products}?filter=list_price>10&active=true&limit=5`, 'again')
    await send(`${products}?limit=5000`, 'limit')
    await send(`${products}/999`, 'missing')
    await send('/api/v1/nothing%20here', 'nowhere')
    await send('/api/v1/%zz', 'malformed')
    await send(products, 'method', 'DELETE')
    await service.request(acme, 'QUERY', products, {
      body: 'filter=name*bolt%20nut&page=2',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-request-id': 'query' },
    })
    await service.request({ ...acme, key: globex.key }, 'GET', products, {
      headers: { 'x-request-id': 'stranger' },
    })
    await written()
    const { data, meta } = await requestsWith('id!=""')
    expect(meta).toEqual({ count: 9, total: 9 })
    const byRequestId = Object.fromEntries(data.map(({ request_id: id, ...rest }) => [id, rest]))
    const common = { key_id: acme.key.slice(3, 11), path: products, query: null, filter: null }
    expect(byRequestId).toMatchObject({
      created: { ...common, method: 'POST', path: '/api/v1/resources/partner', status: 201, records: 1 },
      first: { ...common, query: 'limit=5', filter: 'list_price>10&active=true', status: 200, cached: false },
      again: { status: 200, cached: true, error_code: null, error_detail: null },
      limit: {
        ...common,
        query: 'limit=5000',
        status: 400,
        error_code: 'request_invalid',
        error_detail: 'The limit must be an integer from 1 to 1000; it is "5000".',
        cached: false,
        records: 0,
      },
      missing: { path: `${products}/999`, status: 404, error_code: 'record_unknown' },
      nowhere: { path: '/api/v1/nothing here', status: 404, error_code: 'path_unknown' },
      malformed: { path: '/api/v1/%zz', status: 404, error_code: 'path_unknown' },
      method: { method: 'DELETE', status: 405, error_code: 'method_not_allowed' },
      query: { method: 'QUERY', filter: 'name*bolt nut', query: 'page=2', status: 200 },
    })
    const body = { data: [], meta: { count: 0, total: 0 } }
    const bytes = JSON.stringify({
      ...body,
      pagination: { previousPage: null, currentPage: 1, nextPage: null, totalPages: 0 },
    }).length
    expect(byRequestId['first']).toMatchObject({ bytes })
    for (const { duration_ms: ms, at } of data) {
      expect(ms).toBeGreaterThanOrEqual(0)
      expect(Date.parse(String(at))).toBeLessThanOrEqual(Date.now())
      expect(Date.parse(String(at))).toBeGreaterThanOrEqual(startedAt)
    }
    const times = data.map(({ at }) => Date.parse(String(at)))
    expect(times).toEqual(times.toSorted((a, b) => b - a))
  })

  it('has requests whose client disconnected before the response', async () => {
    const hasty = await account(client, 'hasty')
    // A lock makes the read wait until the client has disconnected.
    await client.query('begin')
    await client.query('lock table product in access exclusive mode')
    const clientRequest = request({
      host: '127.0.0.1',
      port: service.port,
      path: `${products}/7?fields=id`,
      headers: {
        host: 'hasty.localhost',
        authorization: `Bearer ${hasty.key}`,
        'x-request-id': 'disconnected',
      },
    })
    clientRequest.on('error', () => {})
    clientRequest.end()
    await eventually(async () => (await waitingForLocks(observer)).length === 1)
    await sleep(410)
    clientRequest.destroy()
    await sleep(200)
    await client.query('rollback')
    await written()
    const { data } = await requestsWith('request_id=disconnected', hasty)
    expect(data).toMatchObject([
      {
        query: 'fields=id',
        status: 499,
        error_code: 'client_disconnected',
        records: 0,
        bytes: 0,
        cached: false,
      },
    ])
    expect(data[0]?.['duration_ms']).toBeGreaterThan(400)
  })

  it('is filtered and paged like any other list, with exact totals', async () => {
    expect((await requestsWith('status>=400')).meta.total).toBe(5)
    expect((await requestsWith('error_code=request_invalid|filter*nut')).meta.total).toBe(2)
    const page = await list('/manage/v1/requests?limit=2&page=2&fields=request_id&filter=status<400')
    expect(page.data).toHaveLength(2)
    expect(Object.keys(page.data[0] ?? {})).toEqual(['request_id'])
  })

  it('has no requests without a valid key, and none of other accounts', async () => {
    await service.request({ ...globex, key: acme.key }, 'GET', products)
    await service.request(globex, 'GET', `${products}?limit=7`)
    await written()
    const theirs = await requestsWith('id!=""', globex)
    expect(theirs.data.map(({ query, status }) => [query, status])).toEqual([['limit=7', 200]])
    expect((await requestsWith('status=401')).meta.total).toBe(0)
  })

  it('stores no API key, wherever a client put one, and stores a NUL character as U+FFFD', async () => {
    const { key } = globex
    await service.request(acme, 'GET', `${products}?filter=name=${key}`)
    await service.request(acme, 'GET', `/api/v1/${key}?key=${key}`, { headers: { 'x-request-id': key } })
    await service.request(acme, 'GET', `/api/v1/${key.replace('_', '%5F')}/%00`)
    await service.request(acme, 'GET', `/api/v1/${key.replace('_', '%5f')}/%zz`)
    await service.request(acme, 'GET', `${products}?filter=name*%00`)
    await written()
    const { rows } = await client.query<{ text: string }>(
      'select string_agg(request::text, $1) as text from request',
      ['\n'],
    )
    expect(rows[0]?.text).not.toContain(key.slice(3, 20))
    expect((await requestsWith('filter="name=qm_…"')).meta.total).toBe(1)
    expect((await requestsWith('filter="name*\u{fffd}"')).meta.total).toBe(1)
  })

  it('is limited to requestLogRowsMax rows per account and requestLogDays days', async () => {
    const extra = await account(client, 'extra')
    const values = "gen_random_uuid(), 'k', 'GET', '/', 200, 1, 0, 0, false"
    const insert = `insert into request (account_id, at, id, request_id, key_id, method, path, status, duration_ms, records,
      bytes, cached)`
    await client.query(
      `${insert} select $1, now() - n * interval '1 second', n::text, ${values} from generate_series(1, $2) n`,
      [extra.accountId, limits.requestLogRowsMax + 10],
    )
    // Counts only the rows inserted here: the requests of this test are logged with another key_id.
    const count = async () =>
      (
        await client.query<{ count: number }>(
          `select count(*)::int from request where account_id = $1 and key_id = 'k'`,
          [extra.accountId],
        )
      ).rows[0]?.count
    await client.query('set role quartermaster_writer')
    for (const { text, values: parameters } of trimStatements(extra.accountId))
      await client.query(text, [...parameters])
    expect(await count()).toBe(limits.requestLogRowsMax)
    await client.query('delete from request where account_id = $1', [extra.accountId])
    await client.query(
      `${insert} select $1, now() - n * interval '1 day', n::text, ${values} from generate_series(1, 20) n`,
      [extra.accountId],
    )
    expect((await requestsWith('status=200&key_id=k', extra)).meta.total).toBe(limits.requestLogDays - 1)
    for (const { text, values: parameters } of sweepStatements([extra.accountId]))
      await client.query(text, [...parameters])
    expect(await count()).toBe(limits.requestLogDays - 1)
    await client.query('reset role')
  })

  it('of a busy account is truncated, and usage reports how many requests are missing', async () => {
    const busy = await account(client, 'busy')
    const responses = await Promise.all(
      Array.from({ length: 900 }, () => service.request(busy, 'GET', `${products}?limit=3`)),
    )
    // On a slow machine load shedding rejects some before their key is verified: they belong to no account.
    const rounds = responses.filter(({ status }) => status === 200).length
    await usageWritten()
    const [usage] = (await list('/manage/v1/usage?filter=route*product', busy)).data
    const logged = (await requestsWith('query="limit=3"', busy)).meta.total
    expect(usage?.['requests']).toBe(rounds)
    expect(usage?.['unlogged']).toBe(rounds - logged)
    expect(logged).toBeGreaterThan(0)
  })
})

describe('usage', () => {
  it('has requests, errors and percentiles by key and route, per day and per minute', async () => {
    const fresh = await account(client, 'fresh')
    for (let i = 0; i < 20; i++) await service.request(fresh, 'GET', `${products}?limit=${i + 1}`)
    for (let i = 0; i < 5; i++) await service.request(fresh, 'GET', `${products}/${i + 1}`)
    await usageWritten()
    const { data, meta } = await list('/manage/v1/usage?filter=route*product', fresh)
    expect(meta.total).toBe(2)
    const today = `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`
    expect(data).toEqual([
      {
        at: today,
        key_id: fresh.key.slice(3, 11),
        route: 'GET /api/v1/inventory/product/{id}',
        requests: 5,
        errors: 5,
        unlogged: 0,
        p50_ms: expect.any(Number),
        p95_ms: expect.any(Number),
        p99_ms: expect.any(Number),
      },
      expect.objectContaining({ route: 'GET /api/v1/inventory/product', requests: 20, errors: 0 }),
    ])
    const [, listed] = data
    expect(Number(listed?.['p50_ms'])).toBeGreaterThan(0)
    expect(Number(listed?.['p50_ms'])).toBeLessThanOrEqual(Number(listed?.['p95_ms']))
    const minutes = await list(
      '/manage/v1/usage?per=minute&filter=route="GET /api/v1/inventory/product"',
      fresh,
    )
    const sum = minutes.data.reduce((total, row) => total + Number(row['requests']), 0)
    expect(sum).toBe(20)
    expect(minutes.data[0]?.['at']).toMatch(/T\d\d:\d\d:00\.000Z$/)
  })

  it('adds up what several processes and flushes write', async () => {
    const summed = await account(client, 'summed')
    const second = await startTestService(url, {}, { usageFlushMs })
    try {
      for (let round = 0; round < 2; round++) {
        await Promise.all(
          [service, second].map(async (one) => {
            for (let i = 0; i < 10; i++) await one.request(summed, 'GET', products)
          }),
        )
        await usageWritten()
      }
    } finally {
      await second.close()
    }
    const [row] = (await list('/manage/v1/usage?filter=route*product', summed)).data
    expect(row).toMatchObject({ requests: 40, errors: 0 })
    const { rows } = await client.query<{ sum: number }>(
      `select (select sum(n) from unnest(counts) n)::int as sum from usage
       where account_id = $1 and per = 'day' and route like '%product'`,
      [summed.accountId],
    )
    expect(rows).toEqual([{ sum: 40 }])
  })

  it('computes percentiles within the error of a histogram bucket', async () => {
    const known = await account(client, 'known')
    // 100 latencies of 1 to 100 ms, each in its histogram bucket.
    const upperBound = (number: number) => limits.latencyBucketFirstMs * limits.latencyBucketRatio ** number
    const buckets = new Map<number, number>()
    for (let ms = 1; ms <= 100; ms++) {
      let number = 0
      while (upperBound(number) <= ms) number++
      buckets.set(number, (buckets.get(number) ?? 0) + 1)
    }
    await client.query(
      `insert into usage values ($1, 'day', date_trunc('day', now(), 'UTC'), 'k', 'r', 100, 0, 0, $2, $3)`,
      [known.accountId, [...buckets.keys()], [...buckets.values()]],
    )
    const [row] = (await list('/manage/v1/usage?filter=key_id=k', known)).data
    for (const share of [50, 95, 99]) {
      expect(Math.abs(Number(row?.[`p${share}_ms`]) / share - 1)).toBeLessThan(0.06)
    }
  })

  it('rejects an unknown period', async () => {
    const { status, body } = await service.request(acme, 'GET', '/manage/v1/usage?per=hour')
    expect([status, body]).toMatchObject([
      400,
      { errors: [{ parameter: 'per', code: 'choice_invalid', expected: ['day', 'minute'] }] },
    ])
    const { headers } = await service.request(acme, 'GET', '/manage/v1/usage?per=minute&limit=1')
    expect(headers.get('link')).toContain('</manage/v1/usage?per=minute&page=1&limit=1>; rel="first"')
  })
})

describe('the last use of a key', () => {
  it('is stored as a day, and written once per day', async () => {
    const used = await account(client, 'used')
    const day = async () =>
      (
        await client.query<{ day: string | null; version: string }>(
          `select to_char(last_used_on, 'YYYY-MM-DD') as day, xmin::text as version from api_key where account_id = $1`,
          [used.accountId],
        )
      ).rows[0]
    expect((await day())?.day).toBeNull()
    await service.request(used, 'GET', products)
    await written()
    const first = await day()
    expect(first?.day).toBe(new Date().toISOString().slice(0, 10))
    const second = await startTestService(url)
    await second.request(used, 'GET', products)
    await service.request(used, 'GET', `${products}/1`)
    await second.close()
    await written()
    expect(await day()).toEqual(first)
    const keys = await list('/manage/v1/keys', used)
    expect(keys.data[0]?.['last_used_on']).toBe(first?.day)
    expect((await list(`/manage/v1/keys?filter=last_used_on=${first?.day}`, used)).meta.total).toBe(1)
  })
})

it('shows an account no data of another account', async () => {
  const strangers = await client.query<{ key_id: string }>(
    'select key_id from api_key where account_id <> $1',
    [globex.accountId],
  )
  for (const path of ['keys', 'audit', 'requests', 'usage', 'usage?per=minute']) {
    const shown = JSON.stringify(
      await list(`/manage/v1/${path}${path.includes('?') ? '&' : '?'}limit=1000`, globex),
    )
    const leaked = strangers.rows.filter(({ key_id: id }) => shown.includes(id))
    expect([path, leaked]).toEqual([path, []])
  }
})

it('retries activity that could not be written, at the latest when the process ends', async () => {
  const late = await account(client, 'late')
  const second = await startTestService(url, {}, { writeLockMsMax: 200 })
  await client.query('begin; lock table request in access exclusive mode')
  await second.request(late, 'GET', `${products}?limit=9`)
  await eventually(() => second.events.some(({ kind }) => kind === 'activity-unwritten'))
  await second.request(late, 'GET', `${products}?limit=8`)
  await client.query('commit')
  await second.close()
  const { data } = await list('/manage/v1/requests?fields=query', late)
  expect(data).toEqual([{ query: 'limit=8' }, { query: 'limit=9' }])
  expect(second.events.filter(({ kind }) => kind === 'activity-unwritten')).toHaveLength(1)
})
