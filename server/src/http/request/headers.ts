import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { containsKey, containsKeyMessage } from '../../accounts/key-format.ts'
import { Failure, invalid } from '../../errors/errors.ts'
import { excerpt } from '../../errors/faults.ts'
import { limits } from '../../limits/limits.ts'
import type { ExportFormat } from '../../query/sql/export-statement.ts'
import { routeOf } from '../plugins/request-context.ts'
import { contentTypeFailure } from './body.ts'

/** What the headers of a request say, except its key, host and media type of the body. */

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
  else rejectContentType(request)
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

function rejectContentEncoding(encoding: string | undefined, allowsGzip: boolean): void {
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return
  if (allowsGzip && encoding === 'gzip') return
  const message = allowsGzip
    ? 'The only supported Content-Encoding is gzip.'
    : 'Compressed bodies are not supported. Omit Content-Encoding.'
  const expected = [allowsGzip ? 'gzip' : 'identity']
  const fault = { parameter: 'Content-Encoding', code: 'header_invalid', message, expected } as const
  throw new Failure('media_type_unsupported', message, [fault])
}

/** RFC 9110, 10.1.1 defines only 100-continue, to which Node has already responded. */
function rejectExpectation(expect: string | undefined): void {
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new Failure('expectation_failed', 'The only supported expectation is 100-continue.')
  }
}

/** Fastify matches the header with a regular expression and caches the last 100, so it must be short and contain no key. */
function rejectContentType(request: FastifyRequest): void {
  const type = request.headers['content-type']
  if (type === undefined) return
  rejectRepeated(request.raw, 'content-type', 'Content-Type')
  if (type.length > limits.contentTypeCharactersMax || containsKey(type)) throw contentTypeFailure(request)
}

const printable = new RegExp(`^[\\x20-\\x7e]{1,${limits.idempotencyKeyCharactersMax}}$`)

/** The Idempotency-Key header, validated; undefined without one. */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const keys = request.raw.headersDistinct['idempotency-key']
  if (keys === undefined) return undefined
  const [key] = keys
  // Rejected, not redacted: two redacted keys would be equal. Tested before the regular expression, which would retain it.
  if (keys.some(containsKey))
    throw invalidHeader(`The Idempotency-Key ${containsKeyMessage} Send a random string such as a UUID.`)
  if (keys.length === 1 && key !== undefined && printable.test(key)) return key
  throw invalidHeader(
    `The Idempotency-Key must be one header of 1 to ${limits.idempotencyKeyCharactersMax} printable ASCII characters.`,
  )
}

function invalidHeader(message: string): Failure {
  return invalid({ parameter: 'Idempotency-Key', code: 'header_invalid', message })
}

/** The ETags of If-Match; undefined without the header, or if it is `*`, which every record matches. */
export function ifMatchOf(request: FastifyRequest): readonly string[] | undefined {
  const header = request.headers['if-match']
  if (header === undefined || header.trim() === '*') return undefined
  const etags = header.split(',').map((etag) => etag.trim())
  if (etags.every(isEtag)) return etags
  throw invalid({
    parameter: 'If-Match',
    code: 'header_invalid',
    message: 'If-Match must be * or a list of ETags in double quotes, as in the ETag header of a response.',
    expected: ['*', 'an ETag in double quotes'],
  })
}

/** Whether If-None-Match is `*`, the only value that a write supports. */
export function isIfNoneMatchAny({ headers }: FastifyRequest): boolean {
  const header = headers['if-none-match']
  if (header === undefined || header.trim() === '*') return header !== undefined
  throw invalid({
    parameter: 'If-None-Match',
    code: 'header_invalid',
    message: 'If-None-Match of a write must be *: the record must not exist.',
    expected: ['*'],
  })
}

function isEtag(text: string): boolean {
  return /^(?:W\/)?"[^"]*"$/.test(text)
}

export function acceptsGzip(accepted: string | undefined): boolean {
  return acceptsEncoding(accepted, 'gzip')
}

/**
 * Whether Accept-Encoding allows a coding (RFC 9110, 12.5.3): it lists the coding, or `*` without it, with a weight above 0.
 * A coding with a parameter other than a weight is ignored.
 */
export function acceptsEncoding(accepted: string | undefined, wanted: 'gzip' | 'br'): boolean {
  if (accepted === undefined) return false
  let anyAccepted = false
  for (const item of accepted.toLowerCase().split(',')) {
    const [coding = '', parameter, more] = item.split(';', 3).map((part) => part.trim())
    const weight = parameter === undefined ? 1 : weightOf(parameter)
    if (weight === undefined || more !== undefined) continue
    if (coding === wanted) return weight > 0
    if (coding === '*') anyAccepted = weight > 0
  }
  return anyAccepted
}

/** Parses `q=0.5` (RFC 9110, 12.4.2). Undefined if the parameter is not a weight. */
function weightOf(parameter: string): number | undefined {
  const weight = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(parameter)?.[1]
  return weight === undefined ? undefined : Number(weight)
}

/** One media range of an Accept header. */
interface Choice {
  readonly format: ExportFormat | 'json'
  /** An exact type, not a range such as `text/*`. */
  readonly isExact: boolean
  readonly weight: number
}

/**
 * The export format that an `Accept` header selects; undefined for JSON. An export sends all records, so only an exact type
 * selects one, never a range such as `text/*`. Unsupported types are ignored; if none is supported, the response is JSON.
 * An unknown form of an export is rejected.
 */
export function exportFormatOf(accept: string | undefined): ExportFormat | undefined {
  // Nearly all requests end here.
  if (accept === undefined || !/ndjson|csv/i.test(accept)) return undefined
  let best: Choice | undefined
  for (const item of accept.toLowerCase().split(',')) {
    const choice = choiceOf(item)
    if (choice === undefined || choice.weight === 0) continue
    if (best === undefined || choice.weight > best.weight || isMoreExact(choice, best)) best = choice
  }
  return best === undefined || best.format === 'json' ? undefined : best.format
}

function isMoreExact(one: Choice, other: Choice): boolean {
  return one.weight === other.weight && one.isExact && !other.isExact
}

const formats: Readonly<Record<string, { format: Choice['format']; parameters: readonly string[] }>> = {
  'application/x-ndjson': { format: 'ndjson', parameters: ['charset=utf-8'] },
  'text/csv': { format: 'csv', parameters: ['charset=utf-8', 'header=present'] },
  'application/json': { format: 'json', parameters: ['charset=utf-8'] },
  'application/*': { format: 'json', parameters: [] },
  '*/*': { format: 'json', parameters: [] },
}

/** Parses one media range (RFC 9110, 12.5.1). Undefined if it is unsupported. */
function choiceOf(item: string): Choice | undefined {
  const [type = '', ...rest] = item.split(';').map((part) => part.trim())
  const supported = Object.hasOwn(formats, type) ? formats[type] : undefined
  if (supported === undefined) return undefined
  let { format } = supported
  let weight = 1
  for (const parameter of rest) {
    const parsed = weightOf(parameter)
    const unquoted = parameter.replaceAll('"', '')
    if (parsed !== undefined) weight = parsed
    else if (format !== 'json' && unquoted.startsWith('form=')) format = formOf(format, unquoted)
    else if (!supported.parameters.includes(unquoted)) return undefined
  }
  return { format, isExact: !type.endsWith('*'), weight }
}

/** Rejects every other form: without it the response would have other cells than the client expects. */
function formOf(format: ExportFormat, parameter: string): ExportFormat {
  if (format !== 'ndjson' && parameter === 'form=spreadsheet') return 'spreadsheet'
  throw invalid({
    parameter: 'Accept',
    code: 'header_invalid',
    message: `${excerpt(parameter)} is unknown. Accept text/csv for exact texts, or text/csv; form=spreadsheet for a file to open in a spreadsheet.`,
    expected: ['text/csv', 'text/csv; form=spreadsheet'],
  })
}

/** Whether an `Accept` header selects Server-Sent Events. Only the exact type does, as with exports. */
export function acceptsEventStream(accept: string | undefined): boolean {
  if (accept === undefined || !/event-stream/i.test(accept)) return false
  let [stream, json] = [0, 0]
  for (const item of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = item.split(';').map((part) => part.trim())
    const weight = weightOf(parameters.find((parameter) => parameter.startsWith('q=')) ?? 'q=1') ?? 0
    if (type === 'text/event-stream') stream = weight
    else if (type === 'application/json') json = weight
  }
  return stream > 0 && stream >= json
}
