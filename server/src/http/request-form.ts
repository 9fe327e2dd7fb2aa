import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { containsKey } from '../accounts/key-format.ts'
import { Failure } from '../errors.ts'
import { limits } from '../limits.ts'
import { contentTypeFailure } from './media-type.ts'

/** Before the key is looked at: without a host, HTTP/1.1 is not well-formed (RFC 9112, 3.2). Node's own refusal has no body. */
export function refuseWithoutHost({ headers, httpVersion }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion === '1.1') {
    throw new Failure('request_invalid', "The request has no Host header. Send the account's own host.")
  }
}

/** What no route takes, whatever it is for. */
export function refuseUnfit({ method, headers, raw: { url = '' } }: FastifyRequest): void {
  refuseOversized(url)
  refuseFragment(url)
  refuseExpectation(headers.expect)
  refuseEncoding(headers['content-encoding'])
  if (method === 'GET' || method === 'HEAD') refuseBody(headers)
  else refuseOddContentType(method, headers['content-type'])
}

function refuseOversized(url: string): void {
  if (Buffer.byteLength(url) > limits.urlBytesMax) {
    throw new Failure(
      'url_too_long',
      `The URL is ${Buffer.byteLength(url)} bytes long; at most ${limits.urlBytesMax} are taken. Send long filters in the body of a QUERY.`,
    )
  }
}

/** The router would pass over it, and nothing that was sent is passed over. */
function refuseFragment(url: string): void {
  const mark = url.indexOf('#')
  const query = url.indexOf('?')
  if (mark >= 0 && (query < 0 || mark < query)) {
    throw new Failure(
      'request_invalid',
      'The path has a "#" in it. Leave the fragment out, or write it as %23.',
    )
  }
}

function refuseBody(headers: IncomingHttpHeaders): void {
  if (Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined) {
    throw new Failure('body_invalid', 'A GET request takes no body. To send parameters in a body, use QUERY.')
  }
}

function refuseEncoding(encoding: string | undefined): void {
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new Failure('media_type_unsupported', 'Bodies are taken as they are, without a Content-Encoding.')
  }
}

/** RFC 9110, 10.1.1: there is no other expectation. Node has answered this one when it comes here. */
function refuseExpectation(expect: string | undefined): void {
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new Failure('expectation_failed', 'The only expectation that is met is Expect: 100-continue.')
  }
}

/** Fastify matches it against an expression of its own and caches the last 100, so it may be neither long nor hold a key. */
function refuseOddContentType(method: string, type: string | undefined): void {
  if (type === undefined) return
  if (type.length > limits.contentTypeCharactersMax || containsKey(type)) throw contentTypeFailure(method)
}
