import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { Failure, internalError, pathUnknown } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { etagOf, type ReadResponse } from '../lists/response.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { TallyState } from '../tally-state.ts'
import type { Written } from '../writes/idempotency.ts'
import { leaveFlow } from './http-server.ts'
import { contextOf, routeOf } from './plugins/request-context.ts'
import { problemBody, problemMediaType, retryAfterSeconds, statusOf } from './problem.ts'
import { contentTypeFailure } from './request/body.ts'
import { acceptsGzip } from './request/headers.ts'

/** Writes every JSON response and every problem response of a route. `http-server.ts` writes those of requests that Fastify never sees. */

const jsonMediaType = 'application/json; charset=utf-8'
const gzipBody = promisify(gzip)

/** The `ETag` of this state, if the request's If-None-Match has it. */
export function matchingEtag(
  request: FastifyRequest,
  state: TallyState,
  requestHash: string,
): string | undefined {
  if (request.headers['if-none-match'] === undefined) return undefined
  const etag = etagOf(state, requestHash)
  return isNotModified(request, etag) ? etag : undefined
}

/** Whether If-None-Match has this ETag, by weak comparison (RFC 9110, 13.1.2). */
export function isNotModified(request: FastifyRequest, etag: string): boolean {
  const header = request.headers['if-none-match']
  if (header === undefined) return false
  if (header === etag) return true
  const opaque = withoutWeakness(etag)
  return header.split(',').some((one) => withoutWeakness(one.trim()) === opaque)
}

function withoutWeakness(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag
}

export function setCacheHeaders(reply: FastifyReply, etag: string): FastifyReply {
  return reply
    .header('etag', etag)
    .header('cache-control', 'private, no-cache')
    .header('vary', 'accept, accept-encoding')
}

export function sendNotModified(reply: FastifyReply, etag: string): FastifyReply {
  return setCacheHeaders(reply, etag).code(304).send()
}

/** Sends a list or a record. */
export async function sendRead(
  request: FastifyRequest,
  reply: FastifyReply,
  response: ReadResponse,
): Promise<FastifyReply> {
  // `*` matches any existing record, and only now is it known that there is one.
  if (request.headers['if-none-match'] === '*' || isNotModified(request, response.etag)) {
    return sendNotModified(reply, response.etag)
  }
  setCacheHeaders(reply, response.etag).type(jsonMediaType)
  if (response.link !== undefined) reply.header('link', response.link)
  if (response.bytes < limits.gzipBytesMin || !acceptsGzip(request.headers['accept-encoding'])) {
    return reply.header('content-length', response.bytes).send(response.body)
  }
  response.gzipped ??= gzipBody(response.body)
  const gzipped = await response.gzipped
  // A strong ETag would say that the bytes are those of the plain body.
  reply.header('etag', `W/${withoutWeakness(response.etag)}`)
  return reply.header('content-encoding', 'gzip').header('content-length', gzipped.length).send(gzipped)
}

/** Sends what no cache may store: keys, and lists for administrators. */
export function sendUncached(reply: FastifyReply, body: string): FastifyReply {
  return reply.header('cache-control', 'no-store').type(jsonMediaType).send(body)
}

/** Sends a body that no cache may store, compressed if the client accepts that. */
export async function sendUncachedPage(
  request: FastifyRequest,
  reply: FastifyReply,
  body: string,
): Promise<FastifyReply> {
  reply.header('vary', 'accept, accept-encoding')
  if (body.length < limits.gzipBytesMin || !acceptsGzip(request.headers['accept-encoding']))
    return sendUncached(reply, body)
  const gzipped = await gzipBody(body)
  reply.header('content-encoding', 'gzip').header('content-length', gzipped.length)
  return reply.header('cache-control', 'no-store').type(jsonMediaType).send(gzipped)
}

export function sendCreated(reply: FastifyReply, path: string, body: string): FastifyReply {
  return reply.code(201).header('location', path).type(jsonMediaType).send(body)
}

/** Sends the changed record. */
export function sendPatched(reply: FastifyReply, { etag, record, replayed }: Written): FastifyReply {
  if (replayed) reply.header('idempotent-replayed', 'true')
  if (etag !== null) setCacheHeaders(reply, etag)
  return reply.type(jsonMediaType).send(`{"data":${record}}`)
}

/** Sends the changed record, or the new one with its path. */
export function sendUpserted(reply: FastifyReply, written: Written, path: string): FastifyReply {
  if (written.status === 201) reply.code(201).header('location', path)
  return sendPatched(reply, written)
}

export function sendDeleted(reply: FastifyReply, { replayed }: Written): FastifyReply {
  if (replayed) reply.header('idempotent-replayed', 'true')
  return reply.code(204).send()
}

/** Responses that are held, because the account itself has too much in flight, and for how long on average. */
const heldMs: ReadonlyMap<string, number> = new Map([
  ['account_busy', limits.busyResponseMs],
  ['export_limit', limits.slotResponseMs],
  ['feed_limit', limits.slotResponseMs],
])

/** Sends a problem response for every error that a hook or handler throws. The cause of a 5xx is logged, not sent. */
export function errorHandler(emit: EmitEvent) {
  let held = 0
  return async (
    error: FastifyError | Failure,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const failure = error instanceof Failure ? error : failureOfFastify(error, request)
    reportDefect(emit, request, failure)
    // A client that repeats a rejected request at once would keep the process busy with rejections.
    const ms = heldMs.get(failure.code)
    if (ms !== undefined && held < limits.busyResponsesHeldMax) {
      leaveFlow(reply.raw)
      held++
      // Spread, so that clients that were rejected together do not return together.
      await sleep(ms * (0.5 + Math.random()))
      held--
    }
    return sendProblem(reply, failure, request.id)
  }
}

/** Reports the cause of a 5xx to the operator. */
export function reportDefect(emit: EmitEvent, { id: requestId }: FastifyRequest, failure: Failure): void {
  if (statusOf[failure.code] < 500) return
  emit({ kind: 'request-failed', requestId, code: failure.code, cause: failure.cause ?? failure })
}

export function sendProblem(reply: FastifyReply, failure: Failure, requestId: string): FastifyReply {
  // The onRequest hook sets these, too, but does not run for a path that the router rejects.
  reply.header('x-request-id', requestId).header('x-content-type-options', 'nosniff')
  // If the connection is closed, the request has already been reported with its cause.
  if (!reply.raw.destroyed) {
    const context = contextOf(reply.request)
    context.code = failure.code
    context.detail = failure.message
  }
  const retryAfter = retryAfterSeconds[failure.code]
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  setAccepted(reply, failure)
  if (failure.code === 'unauthenticated') reply.header('www-authenticate', 'Bearer')
  if (failure.code === 'url_too_long' || failure.code === 'body_too_large') closeAfterResponse(reply)
  return reply.code(statusOf[failure.code]).type(problemMediaType).send(problemBody(failure, requestId))
}

/**
 * After a body of a wrong type or encoding, what the route takes: `Accept-Query` (RFC 10008), `Accept-Patch` (RFC 5789), `Accept-Post`
 * (W3C LDP), and only because of an encoding `Accept-Encoding` (RFC 9110, 12.5.3).
 */
function setAccepted(reply: FastifyReply, { code, faults }: Failure): void {
  const isType = faults.some((fault) => fault.code === 'content_type_invalid')
  if (code !== 'media_type_unsupported' && !isType) return
  const encoding = faults.find(({ parameter }) => parameter === 'Content-Encoding')
  if (encoding?.expected !== undefined) reply.header('accept-encoding', encoding.expected.join(', '))
  const { method } = reply.request
  const types = routeOf(reply.request).config.bodies?.join(', ')
  if (types === undefined || types === '') return
  if (method === 'QUERY') reply.header('accept-query', types)
  else if (method === 'PATCH') reply.header('accept-patch', types)
  else if (method === 'POST') reply.header('accept-post', types)
}

/** For a request whose body is not read to its end. */
export function closeAfterResponse(reply: FastifyReply): void {
  const { raw } = reply
  linger(raw.socket)
  if (!raw.headersSent) {
    reply.header('connection', 'close')
    return
  }
  const { socket } = raw
  raw.once('finish', () => socket?.destroySoon())
}

/**
 * If a server closes a connection while the client still sends, TCP resets it, and the client may lose the response. So
 * received data is discarded for `lingerMs` before the connection is closed. Node calls `destroySoon` after the last
 * response of a connection.
 */
function linger(socket: Socket | null): void {
  if (socket === null) return
  socket.destroySoon = () => {
    socket.end()
    const timeout = setTimeout(() => socket.destroy(), limits.lingerMs)
    socket.once('close', () => clearTimeout(timeout))
  }
}

function failureOfFastify(error: FastifyError, request: FastifyRequest): Failure {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new Failure(
        'body_too_large',
        `The request body is larger than ${bodyBytesMax(request.method)} bytes, the maximum.`,
      )
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return pathUnknown()
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new Failure('body_invalid', 'The length of the body differs from its Content-Length.')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE':
      return contentTypeFailure(request)
    case 'ECONNRESET': // while the body was being received
      return new Failure(
        'client_disconnected',
        'The connection was closed before the body was received.',
        [],
        error,
      )
    default:
      return internalError(error)
  }
}

function bodyBytesMax(method: string): number {
  return method === 'QUERY' ? limits.queryBodyBytesMax : limits.createBodyBytesMax
}
