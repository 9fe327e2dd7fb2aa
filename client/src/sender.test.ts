import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { freePort } from '../../server/src/cli/database/temporary-postgres.ts'
import {
  ConnectionFailed,
  MemoryCache,
  NotFound,
  Quartermaster,
  type QuartermasterOptions,
  QueryTooSlow,
  RateLimited,
  RequestInvalid,
  ServiceFault,
  StreamTruncated,
  TimedOut,
  Unavailable,
  UnexpectedResponse,
} from './index.ts'

/** Requests on the wire, against a server that each test scripts. test/ runs the client against the real service. */

interface ReceivedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

type Responder = (response: ServerResponse, request: ReceivedRequest) => void

const stops: (() => void)[] = []
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
  vi.restoreAllMocks()
})

/** Starts a server that handles each request with the next responder; the last one handles all later requests. */
async function serving(...responders: readonly Responder[]) {
  const requests: ReceivedRequest[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      const received = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body,
      }
      requests.push(received)
      responders[Math.min(requests.length, responders.length) - 1]?.(response, received)
    })
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  stops.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const client = (options: Partial<QuartermasterOptions> = {}) =>
    new Quartermaster({ baseUrl: `http://127.0.0.1:${port}`, apiKey: 'qm_key', ...options })
  return { requests, client }
}

const list =
  (ids: readonly number[], extra: Record<string, string> = {}): Responder =>
  (response) => {
    const pagination = { previousPage: null, currentPage: 1, nextPage: null, totalPages: 1 }
    const meta = { count: ids.length, total: ids.length }
    response.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'r-1', ...extra })
    response.end(JSON.stringify({ data: ids.map((id) => ({ id })), meta, pagination }))
  }

const problem =
  (status: number, code: string, extra: object = {}, headers: Record<string, string> = {}): Responder =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/problem+json; charset=utf-8', ...headers })
    response.end(
      JSON.stringify({
        type: '',
        title: '',
        status,
        detail: 'The detail.',
        code,
        request_id: 'r-9',
        ...extra,
      }),
    )
  }

const broken: Responder = (response) => void response.destroy()

/** Makes the random backoff 0. */
const withoutBackoff = () => vi.spyOn(Math, 'random').mockReturnValue(0)

describe('a request', () => {
  it('carries the API key and all parameters', async () => {
    const { requests, client } = await serving(list([1]))
    const page = await client().products.list({ fields: ['id'], filter: 'name="ä & ö"', page: 2, limit: 5 })
    expect(page).toMatchObject({ data: [{ id: 1 }], meta: { total: 1 }, requestId: 'r-1' })
    expect(requests).toMatchObject([
      {
        method: 'GET',
        url: '/api/v1/inventory/product?fields=id&filter=name%3D%22%C3%A4%20%26%20%C3%B6%22&page=2&limit=5',
        headers: { authorization: 'Bearer qm_key', accept: 'application/json' },
      },
    ])
  })

  it('is sent as QUERY if its filter is long', async () => {
    const { requests, client } = await serving(list([]))
    await client().products.list({
      filter: ({ id }) => id.in(Array.from({ length: 900 }, (_, at) => at + 100_000)),
    })
    expect(requests).toMatchObject([{ method: 'QUERY', url: '/api/v1/inventory/product' }])
    expect(new URLSearchParams(requests[0]?.body).get('filter')).toMatch(/^id\[100000,.*,100899]$/)
  })

  it('preserves a path of baseUrl before /api', async () => {
    const { requests, client } = await serving(list([]))
    const baseUrl = `${await client()
      .products.list()
      .then(() => `http://127.0.0.1`)}:${requests[0]?.headers.host?.split(':')[1]}/erp/`
    await client({ baseUrl }).companies.list()
    expect(requests[1]?.url).toBe('/erp/api/v1/resources/company')
  })

  it('rejects an invalid baseUrl or apiKey before sending anything', () => {
    expect(() => new Quartermaster({ baseUrl: 'acme', apiKey: 'k' })).toThrow('baseUrl is "acme"')
    expect(() => new Quartermaster({ baseUrl: 'https://a.example?x', apiKey: 'k' })).toThrow(
      'without a query',
    )
    expect(() => new Quartermaster({ baseUrl: 'https://a.example', apiKey: '' })).toThrow('apiKey is missing')
  })
})

describe('retries', () => {
  it('are sent after 503, 429, a total that is being counted, a proxy’s 502 and broken connections', async () => {
    withoutBackoff()
    const bad: Responder = (response) =>
      void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>')
    const { requests, client } = await serving(
      problem(503, 'overloaded'),
      problem(429, 'rate_limited'),
      problem(504, 'total_pending'),
      bad,
      broken,
      list([7]),
    )
    expect((await client().products.list()).data).toEqual([{ id: 7 }])
    expect(requests).toHaveLength(6)
  })

  it('wait as long as Retry-After says', async () => {
    withoutBackoff()
    const { client } = await serving(
      problem(503, 'database_unavailable', {}, { 'retry-after': '1' }),
      list([1]),
    )
    const started = performance.now()
    await client().products.list()
    expect(performance.now() - started).toBeGreaterThan(990)
  })

  it('are not sent if Retry-After exceeds retryForMs, and the error has Retry-After', async () => {
    const { requests, client } = await serving(problem(429, 'rate_limited', {}, { 'retry-after': '3600' }))
    const error = await client()
      .products.list()
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RateLimited)
    expect(error).toMatchObject({ retryAfterMs: 3_600_000, code: 'rate_limited', requestId: 'r-9' })
    expect(requests).toHaveLength(1)
  })

  it('are not sent after permanent errors', async () => {
    for (const [status, code, errorClass] of [
      [400, 'request_invalid', RequestInvalid],
      [404, 'record_unknown', NotFound],
      [500, 'internal', ServiceFault],
      [504, 'deadline_exceeded', QueryTooSlow],
    ] as const) {
      const { requests, client } = await serving(problem(status, code))
      await expect(client().products.list()).rejects.toBeInstanceOf(errorClass)
      expect(requests).toHaveLength(1)
    }
  })

  it('end after retryForMs', async () => {
    const { requests, client } = await serving(problem(503, 'overloaded'))
    await expect(client({ retryForMs: 0 }).products.list()).rejects.toBeInstanceOf(Unavailable)
    expect(requests).toHaveLength(1)
  })

  it('end with an error that names the unreachable host', async () => {
    const { client } = await serving()
    const refused = client({ baseUrl: 'http://127.0.0.1:1', retryForMs: 0 }).products.list()
    await expect(refused).rejects.toBeInstanceOf(ConnectionFailed)
    await expect(refused).rejects.toThrow(
      /No response from http:\/\/127.0.0.1:1: .*(?:ECONNREFUSED|bad port)/,
    )
  })

  it('of a create have the same idempotency key, and another create has another key', async () => {
    withoutBackoff()
    const created: Responder = (response) =>
      void response.writeHead(201, { 'content-type': 'application/json' }).end('{"data":{"id":5}}')
    const { requests, client } = await serving(broken, problem(409, 'idempotency_conflict'), created)
    expect(await client().partners.create({ name: 'Nordwind' })).toEqual({ id: 5 })
    await client().partners.create({ name: 'Nordwind' })
    const keys = requests.map(({ headers }) => headers['idempotency-key'])
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(keys.slice(0, 3)).toEqual([keys[0], keys[0], keys[0]])
    expect(keys[3]).not.toBe(keys[0])
    expect(requests.map(({ body }) => body)).toEqual(Array(4).fill('{"name":"Nordwind"}'))
  })
})

describe('a call ends', () => {
  it('by the timeout of its attempt', async () => {
    const { client } = await serving(() => undefined)
    await expect(client({ timeoutMs: 50, retryForMs: 0 }).products.list()).rejects.toBeInstanceOf(TimedOut)
  })

  it('by the timeout if the body never ends', async () => {
    const { client } = await serving((response) => void response.writeHead(200).write('{"data":['))
    await expect(client({ timeoutMs: 50, retryForMs: 0 }).products.list()).rejects.toBeInstanceOf(TimedOut)
  })

  it('by an aborted signal, with its reason, also during the backoff', async () => {
    const { client } = await serving(problem(503, 'overloaded', {}, { 'retry-after': '30' }))
    const stop = new AbortController()
    const call = client().products.list({ signal: stop.signal })
    setTimeout(() => stop.abort(new Error('enough')), 100)
    await expect(call).rejects.toThrow('enough')
    await expect(client().products.list({ signal: stop.signal })).rejects.toThrow('enough')
  })

  it('by leaving the loop of all()', async () => {
    let closed = 0
    const page: Responder = (response) => {
      const pagination = { previousPage: null, currentPage: 1, nextPage: 2, totalPages: 2 }
      response.writeHead(200, { 'content-type': 'application/json', etag: 'W/"00000001-1-abc"' })
      response.end(JSON.stringify({ data: [{ id: 1 }, { id: 2 }], meta: { count: 2, total: 4 }, pagination }))
    }
    const hanging: Responder = (response) => void response.on('close', () => (closed += 1))
    const { requests, client } = await serving(page, hanging)
    for await (const { id } of client().products.all({ limit: 2 })) {
      if (id === 1) continue
      await vi.waitFor(() => expect(requests).toHaveLength(2))
      break
    }
    await vi.waitFor(() => expect(closed).toBe(1))
  })
})

it('returns the version of a list from its ETag', async () => {
  const { client } = await serving(list([1], { etag: 'W/"b47f89b24945-17-1-7gA21mj_XelBa52y"' }))
  expect((await client().products.list()).version).toBe('b47f89b24945-17')
})

describe('errors', () => {
  it('point at the wrong part of the filter', async () => {
    const fault = {
      parameter: 'filter',
      code: 'field_unknown',
      message: 'No.',
      offset: 14,
      length: 4,
      suggestion: 'list_price>10&name=Bolt',
    }
    const { client } = await serving(problem(400, 'request_invalid', { errors: [fault] }))
    const error = await client()
      .products.list({ filter: 'list_price>10&nane=Bolt' })
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      offset: 14,
      length: 4,
      suggestion: fault.suggestion,
      faults: [fault],
      status: 400,
    })
    expect(String(error)).toBe(
      [
        'RequestInvalid: The detail.',
        '  list_price>10&nane=Bolt',
        '                ^^^^',
        'Suggestion: list_price>10&name=Bolt',
        '(request_invalid, request r-9)',
      ].join('\n'),
    )
  })

  it('describe a response that is not from the service', async () => {
    const page: Responder = (response) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
    const moved: Responder = (response) =>
      void response.writeHead(301, { location: 'https://a.example/' }).end()
    const first = await serving(page)
    await expect(first.client().products.list()).rejects.toThrow('not JSON')
    const second = await serving(moved)
    await expect(second.client().products.list()).rejects.toThrow('a redirect to https://a.example/')
    await expect(second.client().products.get(1)).rejects.toBeInstanceOf(UnexpectedResponse)
  })
})

describe('create', () => {
  it('accepts both response bodies of the specification, and no other', async () => {
    for (const [body, id] of [
      ['{"data":{"id":123}}', 123],
      ['124', 124],
    ] as const) {
      const { client } = await serving((response) => void response.writeHead(201).end(body))
      expect(await client().partners.create({ name: 'x' })).toEqual({ id })
    }
    const { client } = await serving((response) => void response.writeHead(201).end('{"data":{}}'))
    await expect(client().partners.create({ name: 'x' })).rejects.toThrow('has no id')
  })

  it('sends the idempotency key of the caller', async () => {
    const { requests, client } = await serving((response) => void response.writeHead(201).end('1'))
    await client().partners.create({ name: 'x' }, { idempotencyKey: 'order-4711' })
    expect(requests[0]?.headers['idempotency-key']).toBe('order-4711')
  })
})

describe('the cache', () => {
  it('returns the cached response after a 304, and only then', async () => {
    const unchanged: Responder = (response) => void response.writeHead(304, { etag: '"a"' }).end()
    const { requests, client } = await serving(
      list([1], { etag: '"a"' }),
      unchanged,
      list([2], { etag: '"b"' }),
      list([3]),
    )
    const { products } = client({ cache: new MemoryCache() })
    const ids = async () => (await products.list({ limit: 1 })).data.map(({ id }) => id)
    expect([await ids(), await ids(), await ids(), await ids()]).toEqual([[1], [1], [2], [3]])
    expect(requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"a"', '"a"', '"b"'])
  })
})

describe('export', () => {
  const stream =
    (...parts: readonly string[]): Responder =>
    (response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson', 'x-request-id': 'r-5' })
      for (const part of parts) response.write(part)
      response.end()
    }
  const read = async (...parts: readonly string[]) => {
    const { requests, client } = await serving(stream(...parts))
    const ids: number[] = []
    const error = await (async () => {
      for await (const { id } of client().products.export({ fields: ['id'], filter: 'active=true' }))
        ids.push(id)
    })().catch((thrown: unknown) => thrown)
    return { requests, ids, error }
  }

  it('yields the records before the end marker', async () => {
    const { requests, ids, error } = await read(
      '{"id":1}\n{"i',
      'd":2}\n{"$end":{"count":2,"version":"00000001-7"}}\n',
    )
    expect(ids).toEqual([1, 2])
    expect(error).toBeUndefined()
    expect(requests).toMatchObject([
      {
        url: '/api/v1/inventory/product?fields=id&filter=active%3Dtrue',
        headers: { accept: 'application/x-ndjson' },
      },
    ])
  })

  it('throws StreamTruncated if the end marker is missing or has another count', async () => {
    for (const parts of [
      [''],
      ['{"id":1}\n'],
      ['{"id":1}\n{"id":'],
      ['{"id":1}\n{"$end":{"count":1,"version":"1-1"}}'],
      ['{"id":1}\n{"$end":{"count":2,"version":"1-1"}}\n'],
    ]) {
      const { error } = await read(...parts)
      expect(error).toBeInstanceOf(StreamTruncated)
      expect(error).toMatchObject({ requestId: 'r-5', code: 'stream_truncated' })
    }
  })

  it('is retried before the first record, and throws StreamTruncated if the connection breaks later', async () => {
    withoutBackoff()
    const { client } = await serving(problem(503, 'overloaded'), (response) => {
      response.writeHead(200).write('{"id":1}\n')
      setTimeout(() => response.destroy(), 50)
    })
    const records = client().products.export()
    expect((await records.next()).value).toEqual({ id: 1 })
    await expect(records.next()).rejects.toMatchObject({ name: 'StreamTruncated', count: 1 })
  })
})
