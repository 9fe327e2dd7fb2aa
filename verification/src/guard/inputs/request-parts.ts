import { limits } from '../../../../server/src/limits/limits.ts'

/** A part of a request that a client can fill with any text. */
export interface RequestPart {
  readonly name: string
  /** The number of characters that fit. */
  readonly capacity: number
  message(text: string, caller: Sender): Buffer
}

/** The client that sends the request, with a key or without one. */
export interface Sender {
  readonly name: string
  readonly host: string
  readonly key: string | undefined
}

const products = '/api/v1/inventory/product'
const partners = '/api/v1/resources/partner'
const keys = '/manage/v1/keys'
const json = 'application/json'
const form = 'application/x-www-form-urlencoded'

/** Less than the limits, to leave space for the rest of the URL and of the headers. */
const urlCapacity = limits.urlBytesMax - 300
const headerCapacity = limits.headerBytesMax - 700

/** Every part of a request that the service reads. */
export const requestParts: readonly RequestPart[] = [
  ...[
    '/',
    '/api/v1/',
    `${products}/`,
    products,
    `${keys}/`,
    '/reference/errors/',
    'http://evil.example/',
  ].map((start) => inUrl(`a path that begins with ${start}`, (text) => start + text)),
  inUrl('the id of a key to be revoked', (text) => `${keys}/${text}/revoke`, 'POST'),
  inUrl('the id of a key to be rotated', (text) => `${keys}/${text}/rotate`, 'POST'),
  ...[
    '/livez',
    '/readyz',
    '/openapi.json',
    products,
    `${products}/1`,
    keys,
    '/manage/v1/requests',
    '/nothing',
  ].map((path) => inUrl(`the query of ${path}`, (text) => `${path}?${text}`)),
  inUrl('the query of a create', (text) => `${partners}?${text}`, 'POST'),
  ...['fields', 'filter', 'page', 'limit', 'after_id', 'max_id'].map((name) =>
    inUrl(`${name} of a list`, (text) => `${products}?${name}=${escaped(text)}`),
  ),
  inUrl('fields of one record', (text) => `${products}/1?fields=${escaped(text)}`),
  inUrl('filter of the request log', (text) => `/manage/v1/requests?filter=${escaped(text)}`),
  inUrl('per of the usage', (text) => `/manage/v1/usage?per=${escaped(text)}`),
  ...['name=', 'name*', 'write_date>', 'list_price>', 'id[', 'active='].map((start) =>
    inBody(
      `filter=${start} of a QUERY`,
      'QUERY',
      products,
      form,
      64_000,
      (text) => `filter=${escaped(start + text)}`,
    ),
  ),
  inBody('the body of a QUERY', 'QUERY', products, form, limits.queryBodyBytesMax, (text) => text),
  ...['fields', 'filter', 'page', 'limit'].map((name) =>
    inBody(
      `${name} of a QUERY`,
      'QUERY',
      products,
      form,
      limits.queryBodyBytesMax - 20,
      (text) => `${name}=${text}`,
    ),
  ),
  inBody('the body of a QUERY of keys', 'QUERY', keys, form, limits.queryBodyBytesMax, (text) => text),
  ...[partners, keys, `${keys}/abcdefgh/rotate`, `${keys}/abcdefgh/revoke`].flatMap((path) => [
    inBody(`the body of POST ${path}`, 'POST', path, json, limits.createBodyBytesMax, (text) => text),
    inBody(`the name in POST ${path}`, 'POST', path, json, limits.createBodyBytesMax - 60, (text) =>
      JSON.stringify({ name: text, scopes: ['product:read'] }),
    ),
    inBody(`a member in POST ${path}`, 'POST', path, json, limits.createBodyBytesMax - 60, (text) =>
      JSON.stringify({ name: 'x', [text]: 1 }),
    ),
  ]),
  ...[
    'Accept',
    'Accept-Encoding',
    'If-None-Match',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Request-Id',
  ].map((name) => inHeader(name, 'GET', products)),
  ...[
    'Traceparent',
    'Tracestate',
    'User-Agent',
    'Cookie',
    'Expect',
    'Connection',
    'Upgrade',
    'Host',
    'Via',
  ].map((name) => inHeader(name, 'GET', products)),
  ...['Accept-Encoding', 'If-None-Match', 'X-Request-Id', 'Expect', 'Host'].map((name) =>
    inHeader(name, 'GET', '/openapi.json'),
  ),
  ...['Content-Encoding', 'Content-Length', 'Transfer-Encoding', 'Content-Type'].map((name) =>
    inHeader(name, 'GET', products),
  ),
  ...[
    'Content-Type',
    'Content-Encoding',
    'Idempotency-Key',
    'User-Agent',
    'Transfer-Encoding',
    'Trailer',
  ].map((name) => inHeader(name, 'POST', keys, '{"name":"x"}')),
  inHeader('Content-Type', 'QUERY', products, 'limit=1'),
  inHeader('Content-Type', 'POST', partners, '{"name":"x"}'),
  inHeader('Idempotency-Key', 'POST', partners, '{"name":"x"}'),
  {
    name: 'Authorization',
    capacity: headerCapacity,
    message: (text, sender) =>
      message('GET', products, { ...sender, key: undefined }, [['Authorization', headerText(text)]]),
  },
  {
    name: 'the token in Authorization',
    capacity: headerCapacity,
    message: (text, sender) =>
      message('GET', products, { ...sender, key: undefined }, [
        ['Authorization', `Bearer ${headerText(text)}`],
      ]),
  },
  {
    name: 'the largest number of headers',
    capacity: headerCapacity,
    message: (text, caller) => {
      const value = headerText(text.slice(0, 3)) || 'x'
      const count = Math.floor(headerCapacity / (value.length + 5))
      return message(
        'GET',
        products,
        caller,
        Array.from({ length: count }, (): [string, string] => ['a', value]),
      )
    },
  },
  {
    name: 'the target of CONNECT',
    capacity: urlCapacity,
    message: (text, caller) => message('CONNECT', urlText(text), caller),
  },
  { name: 'the entire request', capacity: headerCapacity, message: (text) => Buffer.from(`${text}\r\n\r\n`) },
]

/** Parts that accept a filter. */
export const filterParts: readonly RequestPart[] = [
  inUrl('a large filter of a list', (text) => `${products}?filter=${escaped(text)}`),
  inBody(
    'a large filter of a QUERY',
    'QUERY',
    products,
    form,
    limits.queryBodyBytesMax,
    (text) => `filter=${escaped(text)}`,
  ),
  ...['text/csv', 'application/x-ndjson'].map((accept): RequestPart => {
    const body = (text: string) => Buffer.from(`filter=${escaped(text)}`)
    return {
      name: `a large filter of an export as ${accept}`,
      capacity: limits.queryBodyBytesMax,
      message: (text, caller) =>
        message(
          'QUERY',
          products,
          caller,
          [
            ['Accept', accept],
            ['Content-Type', form],
          ],
          body(text),
        ),
    }
  }),
  inBody(
    'a large filter of the request log',
    'QUERY',
    '/manage/v1/requests',
    form,
    limits.queryBodyBytesMax,
    (text) => `filter=${escaped(text)}`,
  ),
]

function inUrl(name: string, target: (text: string) => string, method = 'GET'): RequestPart {
  return {
    name,
    capacity: urlCapacity,
    message: (text, caller) => message(method, truncated(target(urlText(text))), caller),
  }
}

function inBody(
  name: string,
  method: string,
  path: string,
  type: string,
  capacity: number,
  body: (text: string) => string,
): RequestPart {
  return {
    name,
    capacity,
    message: (text, caller) =>
      message(
        method,
        path,
        caller,
        [['Content-Type', type]],
        Buffer.from(body(text)).subarray(0, bytesMaxOf(method)),
      ),
  }
}

function bytesMaxOf(method: string): number {
  return method === 'QUERY' ? limits.queryBodyBytesMax : limits.createBodyBytesMax
}

function inHeader(name: string, method: string, path: string, body?: string): RequestPart {
  const type = path === products ? form : json
  return {
    name: `${name} of ${method} ${path}`,
    capacity: headerCapacity,
    message: (text, caller) => {
      const headers: [string, string][] = [[name, headerText(text)]]
      if (body !== undefined && name !== 'Content-Type') headers.push(['Content-Type', type])
      return message(method, path, caller, headers, body === undefined ? undefined : Buffer.from(body))
    },
  }
}

function message(
  method: string,
  target: string,
  { host, key }: Sender,
  headers: readonly (readonly [string, string])[] = [],
  body?: Buffer,
): Buffer {
  const named = new Set(headers.map(([name]) => name))
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(named.has('Host') ? [] : [`Host: ${host}`]),
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    'Connection: close',
    ...(body === undefined || named.has('Transfer-Encoding') ? [] : [`Content-Length: ${body.length}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  return body === undefined ? head : Buffer.concat([head, body])
}

/** Percent-encodes what a request line cannot contain. */
function urlText(text: string): string {
  return text
    .replaceAll(/[^\x21-\x7e]+/gu, (part) => encodeURIComponent(part.toWellFormed()))
    .replaceAll(' ', '%20')
}

function headerText(text: string): string {
  return text.replaceAll(/[\r\n\0]/g, ' ')
}

function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('&', '%26').replaceAll('+', '%2B').replaceAll('#', '%23')
}

/** Truncates to the longest allowed URL, without an incomplete escape at the end. */
function truncated(target: string): string {
  return target.length <= limits.urlBytesMax
    ? target
    : target.slice(0, limits.urlBytesMax).replace(/%.?$/, '')
}
