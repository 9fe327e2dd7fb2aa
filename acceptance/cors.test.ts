import { get } from 'node:http'
import { describe, expect, inject, test } from 'vitest'
import { type HttpResponse, keyOf, problemIn, products, type RequestOptions, send } from './client.ts'

/** Pages of other origins. The tests use the account globex, whose list is empty before and after each. */

const shop = 'https://shop.example.com'
const other = 'https://other.example.com'
const tooMany = Array.from({ length: 21 }, (_, i) => `https://s${i}.example.com`)
const cors = '/manage/v1/cors'
const globex: RequestOptions = { host: 'globex', key: keyOf('globex') }
const from = (origin: string, more: Record<string, string> = {}): RequestOptions => ({
  ...globex,
  headers: { origin, ...more },
})

function change(origins: unknown, options: RequestOptions = globex): Promise<HttpResponse> {
  const headers = { 'content-type': 'application/json', ...options.headers }
  return send(cors, { ...options, method: 'PATCH', body: JSON.stringify({ origins }), headers })
}

function preflight(origin: string, path = products, options: RequestOptions = {}): Promise<HttpResponse> {
  const headers = {
    origin,
    'access-control-request-method': 'PATCH',
    'access-control-request-headers': 'authorization,if-match',
    ...options.headers,
  }
  return send(path, { host: 'globex', key: null, method: 'OPTIONS', ...options, headers })
}

/** Runs with the origins, and allows none afterwards. A process may rely on an origin for a second, so a test only adds origins of its own. */
async function allowing(origins: readonly string[], work: () => Promise<void>): Promise<void> {
  expect((await change(origins)).status).toBe(200)
  try {
    await work()
  } finally {
    expect((await change([])).status).toBe(200)
  }
}

const allowOrigin = (response: HttpResponse) => response.headers['access-control-allow-origin']
const corsHeaders = ({ headers }: HttpResponse) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-'))

/** Without what differs from one request to the next. */
function comparable({ status, headers, text }: HttpResponse): unknown {
  const { date: _, 'x-request-id': __, ratelimit: ___, 'server-timing': ____, ...rest } = headers
  return { status, headers: rest, text: text.replace(/"request_id":"[^"]+"/, '') }
}

describe('[M5] the list of origins', () => {
  test('[M5] is empty, is replaced, and every change is in the audit log', async () => {
    expect(JSON.parse((await send(cors, globex)).text)).toEqual({ data: { origins: [] } })
    const origins = ['https://a.example.com', 'http://localhost:5173', 'https://[::1]:8443']
    await allowing(origins, async () => {
      const { text, headers } = await send(cors, globex)
      expect(JSON.parse(text)).toEqual({ data: { origins } })
      expect(headers['cache-control']).toBe('no-store')
    })
    const audit = await send(
      '/manage/v1/audit?filter=action=account.cors&fields=subject,details,actor&limit=2',
      globex,
    )
    expect(JSON.parse(audit.text)).toMatchObject({
      data: [
        { subject: 'globex', details: 'no origin', actor: 'key' },
        { subject: 'globex', details: `3: ${origins.join(', ')}`, actor: 'key' },
      ],
    })
  })

  test('[M5] needs account:manage', async () => {
    const reader = { key: keyOf('productRead') }
    expect((await send(cors, reader)).status).toBe(403)
    expect((await change([shop], reader)).status).toBe(403)
  })

  test('[M5] has only origins as browsers send them', async () => {
    const cases: readonly (readonly [unknown, string | undefined])[] = [
      ['https://Shop.example.com', shop],
      ['https://shop.example.com/', shop],
      ['https://shop.example.com/cart?x=1', shop],
      ['https://shop.example.com:443', shop],
      ['shop.example.com', shop],
      ['https://user@shop.example.com', shop],
      ['https://münchen.example', 'https://xn--mnchen-3ya.example'],
      ['*', undefined],
      ['https://*.example.com', undefined],
      ['null', undefined],
      ['', undefined],
      ['ftp://shop.example.com', undefined],
      ['https://shop.example.com:99999', undefined],
      [`https://${'a'.repeat(250)}.example`, undefined],
      [`https://${keyOf('globex')}.example`, undefined],
      [17, undefined],
      [null, undefined],
    ]
    for (const [origin, suggestion] of cases) {
      const response = await change(['https://a.example.com', origin])
      const { code, errors } = problemIn(response, 400)
      expect([code, errors]).toMatchObject([
        'body_invalid',
        [{ pointer: '/origins/1', code: 'member_invalid' }],
      ])
      expect(errors?.[0]?.suggestion).toBe(suggestion)
      expect(response.text).not.toContain(keyOf('globex'))
      expect(JSON.parse((await send(cors, globex)).text)).toEqual({ data: { origins: [] } })
    }
  })

  test('[M5] has up to 20 different ones; every other body is a 400', async () => {
    const cases: readonly (readonly [object, string, string])[] = [
      [{ origins: [shop, shop] }, '/origins/1', 'member_invalid'],
      [{ origins: tooMany }, '/origins', 'member_invalid'],
      [{ origins: shop }, '/origins', 'member_invalid'],
      [{}, '/origins', 'member_required'],
      [{ origins: [], credentials: true }, '/credentials', 'member_unknown'],
    ]
    for (const [body, pointer, code] of cases) {
      const headers = { 'content-type': 'application/json' }
      const response = await send(cors, { ...globex, method: 'PATCH', body: JSON.stringify(body), headers })
      expect(problemIn(response, 400).errors).toMatchObject([{ pointer, code }])
    }
  })
})

describe('[B19] an origin that is not listed', () => {
  test('[B19] gets the response of a request without Origin', async () => {
    const cases: readonly (readonly [string, string])[] = [
      ['GET', products],
      ['GET', `${products}/999999`],
      ['GET', '/api/v1/nothing'],
      ['DELETE', products],
      ['OPTIONS', products],
    ]
    for (const [method, path] of cases) {
      const plain = comparable(await send(path, { ...globex, method }))
      expect(comparable(await send(path, { ...from(other), method }))).toEqual(plain)
      await allowing([shop], async () => {
        expect(comparable(await send(path, { ...from(other), method }))).toEqual(plain)
      })
    }
  })

  test('[B19] gets the 401 of every request without a key for a preflight', async () => {
    const plain = comparable(await send(products, { host: 'globex', key: null, method: 'OPTIONS' }))
    expect(plain).toMatchObject({ status: 401 })
    expect(comparable(await preflight(other))).toEqual(plain)
    await allowing([shop], async () => {
      expect(comparable(await preflight(other))).toEqual(plain)
      expect(comparable(await preflight('null'))).toEqual(plain)
      expect(comparable(await preflight(shop, products, { host: 'nowhere' }))).toEqual(plain)
      expect(comparable(await preflight(shop, products, { host: 'acme' }))).toEqual(plain)
    })
  })
})

describe('[B19] a listed origin', () => {
  test('[B19] gets 204 for a preflight, with the methods of the path', async () => {
    await allowing([shop], async () => {
      const list = await preflight(shop)
      expect([list.status, list.text]).toEqual([204, ''])
      expect(list.headers).toMatchObject({
        'access-control-allow-origin': shop,
        'access-control-allow-methods': 'GET, HEAD, QUERY, POST',
        'access-control-max-age': '600',
        vary: 'origin',
      })
      const allowed = list.headers['access-control-allow-headers']?.toLowerCase().split(', ')
      expect(allowed).toEqual(
        expect.arrayContaining([
          'authorization',
          'content-type',
          'if-match',
          'if-none-match',
          'idempotency-key',
        ]),
      )
      const one = await preflight(shop, `${products}/1`)
      expect(one.headers['access-control-allow-methods']).toBe('GET, HEAD, PATCH, DELETE')
      // So that the page can read the 404 of the request itself.
      expect((await preflight(shop, '/api/v1/nothing')).status).toBe(204)
      expect(corsHeaders(await send('/api/v1/nothing', from(shop)))).not.toEqual([])
    })
  })

  test('[B19] gets a preflight only without a key and without a body', async () => {
    await allowing([shop], async () => {
      const withKey = await preflight(shop, products, { key: keyOf('globex') })
      expect([withKey.status, allowOrigin(withKey)]).toEqual([405, shop])
      expect((await preflight(shop, products, { body: '{}' })).status).toBe(401)
      expect((await send(products, { ...from(shop), key: null, method: 'OPTIONS' })).status).toBe(401)
    })
  })

  test('[B19] gets nothing from any other path', async () => {
    await allowing([shop], async () => {
      for (const path of [cors, '/manage/v1/keys', '/openapi.json', '/console', '/livez']) {
        expect(corsHeaders(await send(path, from(shop)))).toEqual([])
        expect((await preflight(shop, path)).status).not.toBe(204)
      }
    })
  })
})

describe('[B20] a page of a listed origin can read', () => {
  test('[B20] a list, its 304 and its headers', async () => {
    await allowing([shop], async () => {
      const list = await send(`${products}?limit=1`, from(shop))
      expect([list.status, allowOrigin(list)]).toEqual([200, shop])
      expect(list.headers.vary).toBe('accept, accept-encoding, origin')
      expect(list.headers).not.toHaveProperty('access-control-allow-credentials')
      const exposed = list.headers['access-control-expose-headers']?.toLowerCase().split(', ') ?? []
      const safelisted = ['cache-control', 'content-length', 'content-type']
      const hidden = [
        'access-control-allow-origin',
        'access-control-expose-headers',
        'connection',
        'date',
        'vary',
      ]
      const readable = [...exposed, ...safelisted, ...hidden, 'x-content-type-options']
      expect(Object.keys(list.headers).filter((name) => !readable.includes(name))).toEqual([])
      const unchanged = await send(
        `${products}?limit=1`,
        from(shop, { 'if-none-match': String(list.headers.etag) }),
      )
      expect([unchanged.status, allowOrigin(unchanged)]).toEqual([304, shop])
    })
  })

  test('[B20] errors: 400, 401, 403, 404, 405, 414', async () => {
    await allowing([shop], async () => {
      const requests: readonly [number, string, RequestOptions][] = [
        [400, `${products}?limit=x`, {}],
        [401, products, { key: null }],
        [401, products, { key: keyOf('acme') }],
        [404, `${products}/999999`, {}],
        [404, '/api/v1/%zz', {}],
        [405, products, { method: 'PUT' }],
        [414, `${products}?filter=name=${'x'.repeat(17_000)}`, {}],
      ]
      for (const [status, path, options] of requests) {
        const response = await send(path, { ...from(shop), ...options })
        expect([path.slice(0, 40), response.status, allowOrigin(response)]).toEqual([
          path.slice(0, 40),
          status,
          shop,
        ])
        expect(response.headers.vary).toMatch(/\borigin$/)
      }
    })
  })

  test('[B20] an export, a stream of changes and a batch', async () => {
    await allowing([shop], async () => {
      const csv = await send(products, from(shop, { accept: 'text/csv' }))
      expect([csv.status, allowOrigin(csv)]).toEqual([200, shop])
      expect(csv.headers['access-control-expose-headers']).toContain('X-Changes-Cursor')
      const batch = await send(`${products}/batch?mode=update`, {
        ...from(shop, { 'content-type': 'application/x-ndjson' }),
        method: 'POST',
        body: '{"id":999999,"name":"x"}\n',
      })
      expect([batch.status, allowOrigin(batch)]).toEqual([200, shop])
      expect(await streamOrigin()).toBe(shop)
    })
  })
})

/** The header of a stream, which is ended when it has begun. */
function streamOrigin(): Promise<string | undefined> {
  const { baseUrl, domain } = inject('target')
  const headers = {
    host: `globex.${domain}`,
    authorization: `Bearer ${keyOf('globex')}`,
    accept: 'text/event-stream',
    origin: shop,
  }
  return new Promise((resolve, reject) => {
    const request = get(`${baseUrl}${products}/changes`, { headers, agent: false }, (response) => {
      const { statusCode, headers: received } = response
      response.destroy()
      if (statusCode === 200) resolve(received['access-control-allow-origin'])
      else reject(new Error(`The stream has the status ${statusCode}.`))
    })
    request.on('error', reject)
  })
}
