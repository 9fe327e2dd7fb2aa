import { parameters as shared } from '../../../../server/src/http/openapi/parts.ts'
import { formMediaType } from '../../../../server/src/http/request/body.ts'
import { routes } from '../../../../server/src/http/routes/routes.ts'
import { limits } from '../../../../server/src/limits/limits.ts'
import {
  escaped,
  type Header,
  headerCapacity,
  headerText,
  message,
  type Sender,
  truncated,
  urlCapacity,
  urlText,
} from './message.ts'
import type { Route } from './route-table.ts'
import { samplePath } from './samples.ts'

/** A part of a request that a client can fill with any text. */
export interface RequestPart {
  readonly name: string
  /** The number of characters that fit. */
  readonly capacity: number
  message(text: string, sender: Sender): Buffer
}

/** Every query parameter of any route. */
export const parameters: readonly string[] = [
  ...new Set(
    routes
      .flatMap(({ operation }) => [
        ...(operation.parameters ?? []),
        ...Object.values(operation.sharedParameters ?? {}),
      ])
      .map((one) => (typeof one === 'string' ? shared[one] : one))
      .flatMap((one) => ('name' in one && 'in' in one && one.in === 'query' ? [String(one.name)] : [])),
  ),
]

/** Every request header that the service or Node reads. `architecture/route-shapes.test.ts` looks for further ones in the code. */
export const headers = [
  'Accept',
  'Accept-Encoding',
  'Access-Control-Request-Method',
  'Authorization',
  'Batch-Results',
  'Connection',
  'Content-Encoding',
  'Content-Length',
  'Content-Type',
  'Cookie',
  'Expect',
  'Host',
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'Last-Event-ID',
  'Origin',
  'Trailer',
  'Transfer-Encoding',
  'Traceparent',
  'Tracestate',
  'Upgrade',
  'User-Agent',
  'Via',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'X-Request-Id',
]

const products = '/api/v1/inventory/product'

/** Parts that belong to no route. */
export const otherParts: readonly RequestPart[] = [
  ...['/', '/api/v1/', products, '/nothing?', 'http://evil.example/'].map((start) =>
    inUrl('GET', `a path that begins with ${start}`, (text) => start + text),
  ),
  {
    name: 'the token in Authorization',
    capacity: headerCapacity,
    message: (text, sender) =>
      message('GET', products, sender, [['Authorization', `Bearer ${headerText(text)}`]]),
  },
  {
    name: 'the largest number of headers',
    capacity: headerCapacity,
    message: (text, sender) => {
      const value = headerText(text.slice(0, 3)) || 'x'
      const count = Math.floor(headerCapacity / (value.length + 5))
      return message(
        'GET',
        products,
        sender,
        Array.from({ length: count }, (): Header => ['a', value]),
      )
    },
  },
  {
    name: 'the target of CONNECT',
    capacity: urlCapacity,
    message: (text, sender) => message('CONNECT', urlText(text), sender),
  },
  { name: 'the entire request', capacity: headerCapacity, message: (text) => Buffer.from(`${text}\r\n\r\n`) },
]

/** The parts of the URL, and of a form. */
export function urlParts(route: Route): readonly RequestPart[] {
  const { method, url } = route
  const path = samplePath(route)
  if (path === undefined) return []
  const named = `${method} ${url}`
  const inPath =
    path === url ? [] : [inUrl(method, `the parameter of ${named}`, (text) => samplePath(route, text) ?? '')]
  if (method === 'QUERY') return [...inPath, ...formParts(route, path)]
  const accepts = route.bodies?.includes(formMediaType) === true || path !== url ? parameters : []
  return [
    ...inPath,
    inUrl(method, `the query of ${named}`, (text) => `${path}?${text}`),
    ...accepts.map((name) =>
      inUrl(method, `${name} of ${named}`, (text) => `${path}?${name}=${escaped(text)}`),
    ),
  ]
}

function formParts({ method, url, bodyBytesMax }: Route, path: string): readonly RequestPart[] {
  const part = (name: string, form: (text: string) => string): RequestPart => ({
    name: `${name} of ${method} ${url}`,
    capacity: bodyBytesMax - 20,
    message: (text, sender) =>
      message(
        method,
        path,
        sender,
        [['Content-Type', formMediaType]],
        Buffer.from(form(text)).subarray(0, bodyBytesMax),
      ),
  })
  const starts = ['name=', 'name*', 'write_date>', 'list_price>', 'id[', 'active=']
  return [
    part('the body', (text) => text),
    ...parameters.map((name) => part(name, (text) => `${name}=${text}`)),
    ...starts.map((start) => part(`filter=${start}`, (text) => `filter=${escaped(start + text)}`)),
  ]
}

/** Every header of the route. */
export function headerParts(route: Route): readonly RequestPart[] {
  const { method, url, bodies = [] } = route
  const path = samplePath(route)
  if (path === undefined) return []
  const [type] = method === 'GET' || method === 'HEAD' ? [] : bodies
  const body =
    type === undefined ? undefined : Buffer.from(type === formMediaType ? 'limit=1' : '{"name":"x"}')
  return headers.map((name) => ({
    name: `${name} of ${method} ${url}`,
    capacity: headerCapacity,
    message: (text, sender) => {
      const sent: Header[] = [[name, headerText(text)]]
      if (type !== undefined && name !== 'Content-Type') sent.push(['Content-Type', type])
      return message(method, path, sender, sent, body)
    },
  }))
}

/** A filter in every place that accepts one, also of an export and of a stream. */
export function filterParts(route: Route): readonly RequestPart[] {
  const { method, url, bodies } = route
  const path = samplePath(route)
  if (path === undefined || bodies?.includes(formMediaType) !== true || method === 'HEAD') return []
  return ['application/json', 'text/csv', 'application/x-ndjson', 'text/event-stream'].map((accept) => ({
    name: `a filter of ${method} ${url} as ${accept}`,
    capacity: method === 'QUERY' ? limits.queryBodyBytesMax : urlCapacity,
    message: (text, sender) =>
      method === 'QUERY'
        ? message(
            method,
            path,
            sender,
            [
              ['Accept', accept],
              ['Content-Type', formMediaType],
            ],
            Buffer.from(`filter=${escaped(text)}`),
          )
        : message(method, truncated(`${path}?filter=${escaped(urlText(text))}`), sender, [
            ['Accept', accept],
          ]),
  }))
}

function inUrl(method: string, name: string, target: (text: string) => string): RequestPart {
  return {
    name,
    capacity: urlCapacity,
    message: (text, sender) => message(method, truncated(target(urlText(text))), sender),
  }
}
