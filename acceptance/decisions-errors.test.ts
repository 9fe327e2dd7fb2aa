import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import {
  companies,
  create,
  encoded,
  type HttpResponse,
  keyOf,
  list,
  listIn,
  partners,
  problemIn,
  products,
  send,
} from './client.ts'

const json = { 'content-type': 'application/json' }
const longHeaders = () =>
  Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`x-${i}`, 'x'.repeat(1000)]))
const mismatch = async () => {
  const headers = { 'idempotency-key': randomUUID() }
  await create('{"name":"One"}', { headers })
  return create('{"name":"Two"}', { headers })
}

/** One request for every status that a client can cause. */
const provoked: readonly (readonly [
  status: number,
  code: string,
  sendRequest: () => Promise<HttpResponse>,
])[] = [
  [400, 'request_invalid', () => send(`${products}?filter=list_prise>10`)],
  [400, 'body_invalid', () => create('{}')],
  [401, 'unauthenticated', () => send(products, { key: null })],
  [403, 'scope_missing', () => send(partners, { key: keyOf('productRead') })],
  [404, 'path_unknown', () => send('/api/v1/nothing')],
  [404, 'record_unknown', () => send(`${products}/999`)],
  [405, 'method_not_allowed', () => send(products, { method: 'DELETE' })],
  [413, 'body_too_large', () => create(`{"name":"${'x'.repeat(70_000)}"}`)],
  [414, 'url_too_long', () => send(`${products}?filter=name=${'x'.repeat(16_400)}`)],
  [415, 'media_type_unsupported', () => send(products, { method: 'QUERY', headers: json, body: '{}' })],
  [422, 'idempotency_mismatch', mismatch],
  [431, 'headers_too_large', () => send(products, { headers: longHeaders() })],
]

describe('E1: the error body', () => {
  for (const [status, code, sendRequest] of provoked) {
    test(`[E1][B7] ${status} ${code} is a problem document (RFC 9457)`, async () => {
      const response = await sendRequest()
      const problem = problemIn(response, status)
      expect(problem).toMatchObject({ type: `/reference/errors/${code}`, status, code })
      expect(problem.title).toMatch(/^[A-Z].*\.$/)
      expect(problem.detail).not.toBe('')
      expect(problem.request_id).toBe(response.headers['x-request-id'])
      const known = ['type', 'title', 'status', 'detail', 'code', 'request_id', 'errors']
      expect(Object.keys(problem).filter((member) => !known.includes(member))).toEqual([])
    })
  }

  test('[E1] errors have parameter, code, message, offset, length, expected and suggestion', async () => {
    const response = await send(`${products}?filter=${encoded('id[1,2')}`)
    expect(Object.keys(problemIn(response, 400).errors?.[0] ?? {}).toSorted()).toEqual([
      'code',
      'expected',
      'length',
      'message',
      'offset',
      'parameter',
      'suggestion',
    ])
  })

  test('[E1] errors in a body have a JSON pointer', async () => {
    const { errors } = problemIn(await create('{"name":"x","a/b~c":1}'), 400)
    expect(errors).toMatchObject([{ pointer: '/a~1b~0c', code: 'member_unknown' }])
  })

  test('[E1] an error reveals no stack, no SQL and no internal name', async () => {
    const internal =
      /select |insert |\bfrom \w+ where|pg_|postgres|node_modules|\.ts\b|\bat \w+ \(|fastify|FST_|account_id/i
    for (const [, , sendRequest] of provoked) expect((await sendRequest()).text).not.toMatch(internal)
    for (const filter of [
      'id=1;drop table product',
      "name='",
      'id=1 union select 1',
      'name="\u0000"',
      'name*"\ud83d"',
    ]) {
      const { text, status } = await send(`${products}?filter=${encoded(filter.toWellFormed())}`)
      expect(status).toBeLessThan(500)
      expect(text.replaceAll(filter.slice(3), '')).not.toMatch(internal)
    }
  })
})

describe('B21: a body of a type that the path does not take', () => {
  const merge = 'application/merge-patch+json'
  for (const [method, path, types] of [
    ['PATCH', `${products}/1`, ['application/json', merge]],
    ['PATCH', '/manage/v1/cors', ['application/json']],
    ['POST', `${products}/1/adjust`, ['application/json']],
    ['POST', `${products}/batch`, ['application/json', 'application/x-ndjson', 'text/csv']],
    ['POST', '/manage/v1/keys', ['application/json']],
    ['POST', '/manage/v1/webhooks', ['application/json']],
  ] as const) {
    const name = method === 'PATCH' ? 'accept-patch' : 'accept-post'
    const sendAs = (type: string | undefined, headers: Record<string, string> = {}) => {
      const typed = type === undefined ? {} : { 'content-type': type }
      return send(path, { method, body: '[', headers: { ...headers, ...typed } })
    }

    test(`[B21] ${method} ${path} is a 415 with ${name}, and takes the types that it names`, async () => {
      for (const type of ['text/plain', 'application/xml', 'application/json; charset=utf-16', undefined]) {
        const response = await sendAs(type)
        expect(problemIn(response, 415)).toMatchObject({
          code: 'media_type_unsupported',
          errors: [{ parameter: 'Content-Type', code: 'content_type_invalid', expected: types }],
        })
        expect(response.headers[name]).toBe(types.join(', '))
        expect(response.headers).not.toHaveProperty('accept-encoding')
        expect(response.headers).not.toHaveProperty('accept-query')
      }
      for (const type of types) {
        const response = await sendAs(type)
        expect(response.status, type).not.toBe(415)
        expect(response.headers, type).not.toHaveProperty(name)
      }
    })

    test(`[B21] ${method} ${path} compressed with brotli is a 415 with Accept-Encoding`, async () => {
      const response = await sendAs(types[0], { 'content-encoding': 'br' })
      expect(problemIn(response, 415).code).toBe('media_type_unsupported')
      expect(response.headers).toMatchObject({
        'accept-encoding': path.endsWith('/batch') ? 'gzip' : 'identity',
        [name]: types.join(', '),
      })
    })
  }

  test('[B21] a create is a 400 with Accept-Post', async () => {
    for (const path of [products, partners, companies]) {
      const response = await send(path, {
        method: 'POST',
        body: 'name',
        headers: { 'content-type': 'text/plain' },
      })
      expect(problemIn(response, 400).code).toBe('body_invalid')
      expect(response.headers['accept-post']).toBe('application/json')
    }
  })
})

describe('E2: other statuses', () => {
  for (const [status, code, sendRequest] of provoked) {
    test(`[E2] ${status}: ${code}`, async () => {
      expect(problemIn(await sendRequest(), status).code).toBe(code)
    })
  }

  test('[E2] 405 has the allowed methods in Allow', async () => {
    for (const [path, allowed] of [
      [products, ['GET', 'HEAD', 'QUERY', 'POST']],
      [partners, ['GET', 'HEAD', 'QUERY', 'POST']],
      [companies, ['GET', 'HEAD', 'QUERY', 'POST']],
      [`${products}/1`, ['GET', 'HEAD', 'PATCH', 'DELETE']],
      [`${partners}/1`, ['GET', 'HEAD', 'PATCH', 'DELETE']],
    ] as const) {
      for (const method of ['PUT', 'OPTIONS', 'PURGE', 'PROPFIND', 'LINK']) {
        const response = await send(path, { method })
        problemIn(response, 405)
        expect(response.headers.allow?.split(/, */).toSorted()).toEqual([...allowed].toSorted())
      }
    }
  })
})

/** The references of a Link header, by their relation. */
function linksIn(response: HttpResponse): Record<string, string> {
  const links = String(response.headers['link'] ?? '').matchAll(/<([^>]*)>; *rel="?([a-z]+)"?/g)
  return Object.fromEntries([...links].map(([, reference = '', rel = '']) => [rel, reference]))
}

describe('E3: headers on every response', () => {
  test('[E3] every response has a unique X-Request-Id', async () => {
    const responses = [
      await send(products),
      ...(await Promise.all(provoked.map(([, , sendRequest]) => sendRequest()))),
    ]
    const ids = responses.map(({ headers }) => headers['x-request-id'])
    for (const id of ids) expect(id).toMatch(/^\S{8,128}$/)
    expect(new Set(ids).size).toBe(responses.length)
  })

  test('[E3] an X-Request-Id of the client is used if it is valid', async () => {
    const valid = 'req-2026.11:14_a'
    expect((await send(products, { headers: { 'x-request-id': valid } })).headers['x-request-id']).toBe(valid)
    const rejected = await send(products, { key: null, headers: { 'x-request-id': valid } })
    expect(problemIn(rejected, 401).request_id).toBe(valid)
    for (const invalid of ['x'.repeat(1000), 'a b', '<script>', 'a"b', '']) {
      const { headers } = await send(products, { headers: { 'x-request-id': invalid } })
      expect(headers['x-request-id']).not.toBe(invalid)
      expect(headers['x-request-id']).toMatch(/^\S{8,128}$/)
    }
  })

  test('[E3] a list links to its first, previous, next and last page', async () => {
    const filter = encoded('name*"e"&active=true|id[1,2]')
    const response = await send(`${products}?fields=id,name&filter=${filter}&limit=4&page=2`)
    const { pagination } = listIn(response)
    const links = linksIn(response)
    expect(Object.keys(links).toSorted()).toEqual(['first', 'last', 'next', 'prev'])
    for (const [rel, page] of [
      ['first', 1],
      ['prev', 1],
      ['next', 3],
      ['last', pagination.totalPages],
    ] as const) {
      const reference = links[rel] ?? ''
      expect(reference).not.toMatch(/^[a-z]+:|^\/\//)
      const { pathname, search } = new URL(reference, `http://acme.localhost${products}`)
      const linked = await list(`${pathname}${search}`)
      expect(linked).toEqual(await list(`${products}?fields=id,name&filter=${filter}&limit=4&page=${page}`))
      expect(linked.pagination.currentPage).toBe(page)
    }
  })

  test('[E3] the first page has no prev link, the last no next link', async () => {
    const first = linksIn(await send(`${products}?limit=20`))
    expect(Object.keys(first).toSorted()).toEqual(['first', 'last', 'next'])
    const last = linksIn(await send(`${products}?limit=20&page=2`))
    expect(Object.keys(last).toSorted()).toEqual(['first', 'last', 'prev'])
  })
})

describe('HEAD', () => {
  test('[B2] HEAD has the status and headers of GET, without the body', async () => {
    for (const [path, options] of [
      [products, {}],
      [`${partners}/1`, {}],
      [`${partners}/999`, {}],
      [`${products}?limit=0`, {}],
      [companies, { key: null }],
    ] as const) {
      const get = await send(path, options)
      const head = await send(path, { ...options, method: 'HEAD' })
      expect(head.status).toBe(get.status)
      expect(head.text).toBe('')
      for (const header of ['content-type', 'link']) expect(head.headers[header]).toBe(get.headers[header])
    }
  })
})
