import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, inject, test } from 'vitest'
import { create, encoded, type HttpResponse, partners, problemIn, products, send } from './client.ts'

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const query = (body: string) => send(products, { method: 'QUERY', headers: form, body })
const responseBytesMax = 64 * 1024

/** Requests with as many errors or repetitions as fit into them. */
const wrong: readonly (readonly [title: string, sendRequest: () => Promise<HttpResponse>])[] = [
  ['unknown parameters without a key', () => send(`/livez?${'x&'.repeat(8_000)}`, { key: null })],
  ['unknown parameters of a list', () => send(`${products}?${'x&'.repeat(8_000)}`)],
  ['unknown parameters of one record', () => send(`${products}/1?${'x&'.repeat(8_000)}`)],
  ['unknown parameters of a create', () => send(`${partners}?${'x&'.repeat(8_000)}`, { method: 'POST' })],
  ['unknown parameters in a body', () => query('x&'.repeat(130_000))],
  ['a parameter repeated', () => query('limit=1&'.repeat(30_000))],
  ['control characters in unknown parameters', () => query(`${'%01'.repeat(100)}&`.repeat(800))],
  ['unknown fields', () => query(`fields=${'x,'.repeat(85_000)}x`)],
  ['fields similar to known ones', () => query(`fields=${'nane,'.repeat(50_000)}nane`)],
  ['unknown fields in a URL', () => send(`${products}?fields=${'nane,'.repeat(3_000)}nane`)],
  ['unknown fields in a filter', () => query(`filter=${encoded(`${'nane=1&'.repeat(199)}nane=1`)}`)],
  [
    'long unknown fields in a filter',
    () => query(`filter=${encoded(`${`${'n'.repeat(300)}=1&`.repeat(199)}n=1`)}`),
  ],
  ['list values of another type', () => query(`filter=${encoded(`active[${'yes,'.repeat(999)}yes]`)}`)],
  ['a long text for a date', () => query(`filter=${encoded(`write_date>${'T'.repeat(65_000)}`)}`)],
  ['unknown members', () => create(`{${Array.from({ length: 6_000 }, (_, n) => `"m${n}":1`).join()}}`)],
]

describe('B15: the response to bad input is small', () => {
  for (const [title, sendRequest] of wrong) {
    test(`[B15] ${title}`, async () => {
      const response = await sendRequest()
      const { errors, detail } = problemIn(response, 400)
      expect(errors?.length).toBeGreaterThan(0)
      expect(errors?.length).toBeLessThanOrEqual(50)
      expect(Buffer.byteLength(response.text)).toBeLessThan(responseBytesMax)
      expect(detail.length).toBeLessThan(1_000)
    })
  }

  test('[B15] the detail has the number of errors', async () => {
    const { detail, errors } = problemIn(await query('x&'.repeat(130_000)), 400)
    expect(detail).toContain('129999 more')
    expect(errors).toHaveLength(50)
  })
})

describe('B16: links', () => {
  const linkOf = async (path: string) => String((await send(path)).headers['link'])

  test('[B16] a cached response contains nothing of the first client’s URL', async () => {
    // No other test requests these lists, so the response of the first request here is cached.
    for (const [limit, target] of [
      [31, `http://evil.example${products}`],
      [32, `${products}/`],
      [33, `http://evil.example${products}/`],
    ] as const) {
      const expected = `<${products}?page=1&limit=${limit}>; rel="first", <${products}?page=1&limit=${limit}>; rel="last"`
      expect(await linkOf(`${target}?limit=${limit}`)).toBe(expected)
      expect(await linkOf(`${products}?limit=${limit}`)).toBe(expected)
    }
  })

  test('[B16] equivalent filters have the same links', async () => {
    const links = [
      await linkOf(`${products}?limit=5&fields=id,id&filter=${encoded('  name*"e"  |(active=true)')}`),
      await linkOf(`${products}?limit=5&fields=id&filter=${encoded('name*e|active=true')}`),
    ]
    expect(links[0]).toContain(
      `<${products}?fields=id&filter=${encoded('name*e|active=true')}&page=1&limit=5>`,
    )
    expect(links[1]).toBe(links[0])
  })

  test('[B16] a fragment in the path is rejected, not ignored', async () => {
    for (const path of [`${products}#>;rel="x",<//evil.example/?limit=3`, `${products}#`, '/livez#x']) {
      const response = await send(path)
      expect(problemIn(response, 400).code).toBe('request_invalid')
      expect(response.headers['link']).toBeUndefined()
    }
    // In a filter, `#` is an ordinary character.
    expect((await send(`${products}?filter=name=C#`)).status).toBe(200)
  })
})

/** Sends raw bytes, and reads the response until the service closes the connection. */
async function raw(text: string): Promise<HttpResponse> {
  const { hostname, port } = new URL(inject('target').baseUrl)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(text)
  await once(socket, 'close')
  const [head = '', body = ''] = Buffer.concat(chunks)
    .toString('utf8')
    .split(/\r\n\r\n/, 2)
  const [statusLine = '', ...headerLines] = head.split('\r\n')
  const headers = Object.fromEntries(
    headerLines.map((line): [string, string] => {
      const [name = '', ...rest] = line.split(': ')
      return [name.toLowerCase(), rest.join(': ')]
    }),
  )
  return { status: Number(statusLine.split(' ')[1]), headers, text: body }
}

describe('B17: requests that reach no route', () => {
  const host = () => `Host: acme.${inject('target').domain}\r\n`
  const authorization = () => `Authorization: Bearer ${inject('target').keys.acme}\r\n`
  const close = 'Connection: close\r\n\r\n'

  const cases: readonly (readonly [title: string, status: number, code: string, text: () => string])[] = [
    ['no Host', 400, 'request_invalid', () => `GET ${products} HTTP/1.1\r\n${authorization()}${close}`],
    ['no Host and no key', 400, 'request_invalid', () => `GET /livez HTTP/1.1\r\n${close}`],
    [
      'another expectation',
      417,
      'expectation_failed',
      () => `GET ${products} HTTP/1.1\r\n${host()}${authorization()}Expect: foo\r\n${close}`,
    ],
    [
      'another expectation without a key',
      401,
      'unauthenticated',
      () => `GET ${products} HTTP/1.1\r\n${host()}Expect: foo\r\n${close}`,
    ],
    ['CONNECT', 405, 'method_not_allowed', () => `CONNECT evil.example:443 HTTP/1.1\r\n${host()}\r\n`],
    ['no HTTP at all', 400, 'request_invalid', () => 'hello\r\n\r\n'],
    ['the preface of HTTP/2', 400, 'request_invalid', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown version', 400, 'request_invalid', () => `GET / HTTP/7.3\r\n${host()}\r\n`],
    [
      'no Host in HTTP/1.0',
      401,
      'unauthenticated',
      () => `GET ${products} HTTP/1.0\r\n${authorization()}\r\n`,
    ],
    [
      'a path that cannot be decoded',
      404,
      'path_unknown',
      () => `GET /%zz HTTP/1.1\r\n${host()}${authorization()}${close}`,
    ],
    [
      'two Authorization headers',
      400,
      'request_invalid',
      () => `GET ${products} HTTP/1.1\r\n${host()}${authorization()}Authorization: Bearer other\r\n${close}`,
    ],
    [
      'two Authorization headers, of which none has a key,',
      400,
      'request_invalid',
      () => `GET ${products} HTTP/1.1\r\n${host()}authorization: a\r\nAUTHORIZATION: b\r\n${close}`,
    ],
    [
      'two Content-Types',
      400,
      'request_invalid',
      () =>
        `POST ${products} HTTP/1.1\r\n${host()}${authorization()}Content-Type: application/json\r\nContent-Type: text/csv\r\nContent-Length: 0\r\n${close}`,
    ],
    [
      'two Hosts, far apart',
      401,
      'unauthenticated',
      () =>
        `GET ${products} HTTP/1.1\r\n${host()}${authorization()}${'a:b\r\n'.repeat(2_100)}Host: evil\r\n${close}`,
    ],
  ]

  for (const [title, status, code, text] of cases) {
    test(`[B17] ${title} is a problem document`, async () => {
      const response = await raw(text())
      const problem = problemIn(response, status)
      expect(problem).toMatchObject({ code, status })
      expect(response.headers['x-request-id']).toBe(problem.request_id)
      expect(response.headers['x-content-type-options']).toBe('nosniff')
    })
  }

  test('[B17] 405 for CONNECT has Allow', async () => {
    const { headers } = await raw(`CONNECT evil.example:443 HTTP/1.1\r\n${host()}\r\n`)
    expect(headers['allow']).toContain('GET')
  })

  test('[B17] an unsupported upgrade is ignored, as HTTP requires', async () => {
    const upgrade = 'Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n'
    expect((await raw(`GET /livez HTTP/1.1\r\n${host()}${upgrade}`)).status).toBe(200)
  })

  test('[B17] Expect: 100-continue is supported', async () => {
    const response = await raw(`GET /livez HTTP/1.1\r\n${host()}Expect: 100-continue\r\n${close}`)
    expect([response.status, response.text]).toEqual([100, expect.stringContaining('HTTP/1.1 200')])
  })

  test('[B17] every response has X-Content-Type-Options: nosniff', async () => {
    const requests = [
      send(products),
      send(`${products}/1`),
      send(`${products}?limit=0`),
      send(products, { key: null }),
      send(products, { headers: { accept: 'text/csv' } }),
      send('/manage/v1/keys'),
      send('/livez', { key: null }),
      send('/openapi.json', { key: null }),
      send('/reference', { key: null }),
      send('/nothing'),
      send(products, { method: 'DELETE' }),
    ]
    for (const response of await Promise.all(requests)) {
      expect(response.headers['x-content-type-options'], response.text.slice(0, 200)).toBe('nosniff')
    }
    const { headers } = await send(products)
    const unchanged = await send(products, { headers: { 'if-none-match': String(headers.etag) } })
    expect([unchanged.status, unchanged.headers['x-content-type-options']]).toEqual([304, 'nosniff'])
  })
})

describe('B18: the Content-Type of a body', () => {
  const malformed = [
    'json',
    'application/',
    'application/json; charset',
    'a/b; c="',
    `application/json; a=${'x'.repeat(300)}`,
  ]
  const otherCharsets = ['iso-8859-1', '"utf-16"', 'us-ascii']

  test('[B18] malformed on a create is a 400', async () => {
    for (const type of malformed) {
      const response = await create('{"name":"A"}', { headers: { 'content-type': type } })
      expect(problemIn(response, 400).errors, type).toMatchObject([
        { parameter: 'Content-Type', code: 'content_type_invalid' },
      ])
    }
  })

  test('[B18] a charset other than UTF-8 is rejected, not ignored', async () => {
    for (const charset of otherCharsets) {
      const type = `application/json; charset=${charset}`
      const rejected = problemIn(await create('{"name":"A"}', { headers: { 'content-type': type } }), 400)
      expect(rejected.errors).toMatchObject([{ code: 'content_type_invalid' }])
      expect(rejected.detail).toContain('UTF-8')
      const headers = { 'content-type': `${form['content-type']}; charset=${charset}` }
      expect(
        problemIn(await send(products, { method: 'QUERY', headers, body: 'limit=1' }), 415).detail,
      ).toContain('UTF-8')
    }
  })

  test('[B18] UTF-8 is accepted', async () => {
    for (const charset of ['utf-8', 'UTF-8', '"utf-8"']) {
      const type = `application/json; charset=${charset}`
      expect((await create('{"name":"A"}', { headers: { 'content-type': type } })).status).toBe(201)
      const headers = { 'content-type': `${form['content-type']};charset=${charset}` }
      expect((await send(products, { method: 'QUERY', headers, body: 'limit=1' })).status).toBe(200)
    }
  })

  test('[B18] malformed on a QUERY is a 415', async () => {
    for (const type of malformed) {
      const response = await send(products, {
        method: 'QUERY',
        headers: { 'content-type': type },
        body: 'limit=1',
      })
      problemIn(response, 415)
    }
  })
})
