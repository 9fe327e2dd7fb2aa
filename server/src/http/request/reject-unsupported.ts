import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { containsKey } from '../../accounts/key-format.ts'
import { Failure, invalid } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'
import { routeOf } from '../plugins/request-context.ts'
import { contentTypeFailure } from './content-type.ts'

/** Headers that make a write conditional or repeatable. Those that a route does not apply are rejected, never ignored. */
const writeHeaderNames = {
  'if-match': 'If-Match',
  'if-none-match': 'If-None-Match',
  'if-modified-since': 'If-Modified-Since',
  'if-unmodified-since': 'If-Unmodified-Since',
  'if-range': 'If-Range',
  'content-range': 'Content-Range',
  'idempotency-key': 'Idempotency-Key',
} as const
type WriteHeader = keyof typeof writeHeaderNames

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body may be compressed. */
    readonly acceptsGzip?: boolean
    /** The conditions of a write that the route applies. */
    readonly writeHeaders?: readonly WriteHeader[]
    /** The route only rejects the methods that its path does not support. */
    readonly rejectsMethod?: boolean
  }
}

/** HTTP/1.1 requires a Host header (RFC 9112, 3.2). Checked here because Node's own 400 has no problem document. */
export function requireHost({ headers, httpVersion }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new Failure('request_invalid', "The request has no Host header. Send the account's own host.")
  }
}

/** Rejects what no route supports. */
export function rejectUnsupported(request: FastifyRequest): void {
  const { method, headers } = request
  const { url = '' } = request.raw
  rejectLongUrl(url)
  rejectFragment(url)
  rejectExpectation(headers.expect)
  rejectContentEncoding(headers['content-encoding'], routeOf(request).config.acceptsGzip === true)
  if (method === 'GET' || method === 'HEAD') rejectBody(headers)
  else rejectContentType(request.raw)
  if (!readMethods.has(method)) rejectWriteHeaders(request)
}

const readMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY'])

function rejectWriteHeaders(request: FastifyRequest): void {
  const { config } = routeOf(request)
  // Another error says that the path or the method does not exist.
  if (config.rejectsMethod === true || request.is404) return
  for (const [name, title] of Object.entries(writeHeaderNames)) {
    if (request.headers[name] === undefined) continue
    if (config.writeHeaders?.some((applied) => applied === name) === true) continue
    throw invalid({
      parameter: title,
      code: 'header_invalid',
      message: `This request does not support ${title}: it would be ignored. Omit the header. Nothing was written.`,
    })
  }
}

/** Whether a header occurs twice. Of some headers Node then uses the first, and a proxy perhaps the last. */
export function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i]
    if (header?.length === name.length && (header === name || header.toLowerCase() === name)) count++
  }
  return count > 1
}

/** Of two headers with this name one would be ignored. */
export function rejectRepeated({ rawHeaders }: IncomingMessage, name: string, title: string): void {
  if (!isRepeated(rawHeaders, name)) return
  throw invalid({
    parameter: title,
    code: 'header_invalid',
    message: `The request has more than one ${title} header. Send one.`,
  })
}

function rejectLongUrl(url: string): void {
  // No character is longer than three bytes.
  if (url.length * 3 <= limits.urlBytesMax) return
  if (Buffer.byteLength(url) > limits.urlBytesMax) {
    throw new Failure(
      'url_too_long',
      `The URL is ${Buffer.byteLength(url)} bytes long; the maximum is ${limits.urlBytesMax}. Send long filters in the body of a QUERY.`,
    )
  }
}

/** The router would ignore a fragment, and no input is ignored. */
function rejectFragment(url: string): void {
  const fragment = url.indexOf('#')
  const query = url.indexOf('?')
  if (fragment >= 0 && (query < 0 || fragment < query)) {
    throw new Failure('request_invalid', 'The path contains "#". Omit the fragment, or write "#" as %23.')
  }
}

function rejectBody(headers: IncomingHttpHeaders): void {
  if (Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined) {
    throw new Failure(
      'body_invalid',
      'A GET request must not have a body. To send parameters in a body, use QUERY.',
    )
  }
}

function rejectContentEncoding(encoding: string | undefined, acceptsGzip: boolean): void {
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return
  if (acceptsGzip && encoding === 'gzip') return
  throw new Failure(
    'media_type_unsupported',
    acceptsGzip
      ? 'The only supported Content-Encoding is gzip.'
      : 'Compressed bodies are not supported. Omit Content-Encoding.',
  )
}

/** RFC 9110, 10.1.1 defines only 100-continue, to which Node has already responded. */
function rejectExpectation(expect: string | undefined): void {
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new Failure('expectation_failed', 'The only supported expectation is 100-continue.')
  }
}

/** Fastify matches the header with a regular expression and caches the last 100, so it must be short and contain no key. */
function rejectContentType(request: IncomingMessage): void {
  const { method = '' } = request
  const type = request.headers['content-type']
  if (type === undefined) return
  rejectRepeated(request, 'content-type', 'Content-Type')
  if (type.length > limits.contentTypeCharactersMax || containsKey(type)) throw contentTypeFailure(method)
}
