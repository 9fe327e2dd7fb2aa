import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { exposedHeaders, requestHeaders } from '../server/src/http/plugins/cors.ts'
import { headers } from '../verification/src/guard/inputs/request-parts.ts'

/** A page of another origin can send every header that the API reads, and read every header that it sends. */

/** Sent by browsers themselves, or by proxies; or of no use to a page, such as the trace of a trusted proxy. */
const notOfPages = [
  'Accept-Encoding',
  'Access-Control-Request-Method',
  'Connection',
  'Content-Length',
  'Cookie',
  'Expect',
  'Host',
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
]

it('every header that a page may send is allowed', () => {
  expect(requestHeaders.toSorted()).toEqual(headers.filter((name) => !notOfPages.includes(name)).toSorted())
})

/** Readable by every page without being exposed (https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name). */
const safelisted = ['cache-control', 'content-length', 'content-type']
/** For the browser or a proxy, not for the page. */
const notForPages = [
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-max-age',
  'connection',
  'vary',
  'x-accel-buffering',
  'x-content-type-options',
]

it('every response header that the code of the API sets is exposed', () => {
  const folder = fileURLToPath(new URL('../server/src/http/', import.meta.url))
  const files = ['respond.ts', 'server.ts', ...['plugins', 'routes'].flatMap(sourcesIn)]
  const set = files.flatMap((file) =>
    Array.from(
      readFileSync(join(folder, file), 'utf8').matchAll(/\.header\(\s*'([a-z-]+)'/g),
      ([, name = '']) => name,
    ),
  )
  expect(new Set(set).size).toBeGreaterThan(20)
  const others = [...safelisted, ...notForPages]
  const forPages = [...new Set(set)].filter((name) => !others.includes(name))
  expect(forPages.toSorted()).toEqual(exposedHeaders.map((name) => name.toLowerCase()).toSorted())

  function sourcesIn(part: string): string[] {
    return readdirSync(join(folder, part)).map((name) => `${part}/${name}`)
  }
})
