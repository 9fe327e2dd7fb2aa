import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../errors.ts'
import { limits } from '../limits.ts'
import { etagOf, type ReadResponse } from '../lists/response.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { TallyState } from '../tally-state.ts'
import { takesGzip } from './media.ts'
import { contentTypeFailure } from './media-type.ts'
import { contextOf } from './plugins/request-context.ts'
import { formMediaType, problemBody, problemMediaType, retryAfterSeconds, statusOf } from './problem.ts'
import { newRequestId } from './request-id.ts'

const gzipBody = promisify(gzip)

/** The `ETag` at this state, if the caller has it already. */
export function knownEtag(
  request: FastifyRequest,
  state: TallyState,
  requestHash: string,
): string | undefined {
  if (request.headers['if-none-match'] === undefined) return undefined
  const etag = etagOf(state, requestHash)
  return isKnown(request, etag) ? etag : undefined
}

/** Whether the caller has this already (RFC 9110, If-None-Match: weak comparison). */
export function isKnown(request: FastifyRequest, etag: string): boolean {
  const given = request.headers['if-none-match']
  if (given === undefined) return false
  return given === etag || given.split(',').some((one) => one.trim().replace(/^W\//, '') === etag.slice(2))
}

export function sendNotModified(reply: FastifyReply, etag: string): FastifyReply {
  return validators(reply, etag).code(304).send()
}

export async function sendRead(
  request: FastifyRequest,
  reply: FastifyReply,
  response: ReadResponse,
): Promise<FastifyReply> {
  // `*`: whatever there is, and now it is known that there is something.
  if (request.headers['if-none-match'] === '*' || isKnown(request, response.etag)) {
    return sendNotModified(reply, response.etag)
  }
  validators(reply, response.etag).type('application/json; charset=utf-8')
  if (response.link !== undefined) reply.header('link', response.link)
  if (response.bytes < limits.gzipBytesMin || !takesGzip(request.headers['accept-encoding'])) {
    return reply.header('content-length', response.bytes).send(response.body)
  }
  response.gzipped ??= gzipBody(response.body)
  const gzipped = await response.gzipped
  return reply.header('content-encoding', 'gzip').header('content-length', gzipped.length).send(gzipped)
}

export function validators(reply: FastifyReply, etag: string): FastifyReply {
  return reply
    .header('etag', etag)
    .header('cache-control', 'private, no-cache')
    .header('vary', 'accept, accept-encoding')
}

/** Responds to what was thrown. What is ours to mend is told to the operator, with its cause; the caller gets the code. */
export function errorHandler(emit: EmitEvent) {
  return (error: FastifyError | Failure, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const failure = error instanceof Failure ? error : failureOfFastify(error, request.method)
    if (statusOf[failure.code] >= 500) {
      emit({
        kind: 'request-failed',
        requestId: request.id,
        code: failure.code,
        cause: failure.cause ?? failure,
      })
    }
    return sendProblem(reply, failure, request.id)
  }
}

export function sendProblem(reply: FastifyReply, failure: Failure, requestId: string): FastifyReply {
  // Also where a path could not be routed, and no hook has run.
  reply.header('x-request-id', requestId).header('x-content-type-options', 'nosniff')
  const context = contextOf(reply.request)
  context.code = failure.code
  context.detail = failure.message
  const retryAfter = retryAfterSeconds[failure.code]
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  if (failure.code === 'media_type_unsupported') reply.header('accept-query', formMediaType)
  if (failure.code === 'unauthenticated') reply.header('www-authenticate', 'Bearer')
  if (failure.code === 'url_too_long' || failure.code === 'body_too_large') {
    reply.header('connection', 'close')
    linger(reply.raw.socket)
  }
  return reply.code(statusOf[failure.code]).type(problemMediaType).send(problemBody(failure, requestId))
}

/**
 * A connection that is closed while its client still sends is reset, and the client may never see why. So what comes is
 * thrown away for a while after the answer. Node calls this when the last answer of a connection is out.
 */
function linger(socket: Socket | null): void {
  if (socket === null) return
  socket.destroySoon = () => {
    socket.end()
    const late = setTimeout(() => socket.destroy(), limits.lingerMs)
    socket.once('close', () => clearTimeout(late))
  }
}

function failureOfFastify(error: FastifyError, method: string): Failure {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Failure('body_too_large', 'The request body is larger than this path takes.')
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Failure('path_unknown', 'There is nothing at this path.')
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Failure('body_invalid', 'The body is not as long as its Content-Length says.')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE':
      return contentTypeFailure(method)
    case 'ECONNRESET': // while its body was being read
      return new Failure(
        'client_disconnected',
        'The connection was closed before the body had come.',
        [],
        error,
      )
    default:
      return new Failure('internal', 'Something went wrong on our side. It has been noted.', [], error)
  }
}

/** What Node's parser refuses never becomes a request; it gets the same kind of answer all the same. */
export function clientErrorHandler(emit: EmitEvent) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    // A connection made ahead of need has sent nothing that could be answered.
    if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
      socket.destroy()
      return
    }
    const failure = clientFailure(error.code)
    emit({ kind: 'request-unreadable', code: failure.code })
    endWithProblem(socket, failure)
  }
}

/** CONNECT asks for a tunnel. Node hands over the connection instead of a request, and would close it without a word. */
export function connectHandler(emit: EmitEvent) {
  return (_request: IncomingMessage, socket: Duplex): void => {
    const failure = new Failure('method_not_allowed', 'CONNECT is for proxies; this is none.')
    socket.on('error', () => {})
    emit({ kind: 'request-unreadable', code: failure.code })
    endWithProblem(socket, failure, 'Allow: GET, HEAD, POST, QUERY\r\n')
  }
}

function endWithProblem(socket: Duplex, failure: Failure, more = ''): void {
  const status = statusOf[failure.code]
  const requestId = newRequestId()
  const body = problemBody(failure, requestId)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      `Content-Type: ${problemMediaType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Content-Type-Options: nosniff\r\nX-Request-Id: ${requestId}\r\n${more}Connection: close\r\n\r\n${body}`,
  )
}

function clientFailure(code: string | undefined): Failure {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `The request line and headers are longer than ${limits.headerBytesMax} bytes.`
    return new Failure('headers_too_large', message)
  }
  const message =
    code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? 'The request was not sent in time.'
      : 'This is not a well-formed HTTP request. Percent-encode what a URL cannot hold: spaces and all but ASCII.'
  return new Failure('request_invalid', message)
}
