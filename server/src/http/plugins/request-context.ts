import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type BlockList, isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RequestRouteOptions } from 'fastify/types/request.js'
import type { Actor } from '../../accounts/audit.ts'
import { withoutKeys } from '../../accounts/key-format.ts'
import type { Access } from '../../accounts/verifications.ts'
import { errorTitles } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'
import type { EmitEvent, RequestCompleted, RequestContext, Source } from '../../observability/events.ts'
import { statusOf } from '../problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    context: RequestContext | undefined
    route: RequestRouteOptions | undefined
  }
}

/** The route of the request. Fastify's own getter creates an object with every use. */
export function routeOf(request: FastifyRequest): RequestRouteOptions {
  request.route ??= request.routeOptions
  return request.route
}

/** The query of the URL, unparsed: a filter may contain `&`, which a standard query parser would split. */
export function rawQueryOf(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

/** Aborted if the client disconnects before the response is sent. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    // 'close' is emitted after every response. abort() creates an error with a stack, the most expensive part of a signal.
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}

export function contextOf(request: FastifyRequest): RequestContext {
  request.context ??= {
    code: undefined,
    detail: undefined,
    records: 0,
    source: undefined,
    form: undefined,
    verificationStartedAt: undefined,
    verificationMs: undefined,
    databaseStartedAt: undefined,
    databaseMs: undefined,
    waitedMs: 0,
  }
  return request.context
}

/** Records the time of a read or write in the database in the request context. */
export async function timed<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  const context = contextOf(request)
  const startedAt = performance.now()
  context.databaseStartedAt = startedAt
  try {
    return await work()
  } finally {
    context.databaseMs = performance.now() - startedAt
  }
}

/**
 * Records where the response of a request comes from. A value is a cached response, a promise a read in flight. If another
 * request started that read, this one has joined it, and its own waiting time is recorded.
 */
export function recordSource<T>(request: FastifyRequest, response: T | Promise<T>): T | Promise<T> {
  const context = contextOf(request)
  if (!(response instanceof Promise)) {
    context.source = 'cached'
    return response
  }
  if (context.source === 'read') return response
  context.source = 'joined'
  return timed(request, () => response)
}

/** Emits one event per request. */
export class RequestObserver {
  readonly #emit: EmitEvent
  readonly #trustedProxies: BlockList
  readonly #shutdown: AbortSignal

  /** `shutdown` is aborted when the process closes the connections of requests in flight. */
  constructor(emit: EmitEvent, trustedProxies: BlockList, shutdown: AbortSignal) {
    this.#emit = emit
    this.#trustedProxies = trustedProxies
    this.#shutdown = shutdown
  }

  report(request: FastifyRequest, reply: FastifyReply): void {
    if (!reply.raw.writableFinished) recordAbort(request, this.#shutdown)
    this.#emit(completionOf(request, reply, this.#trustedProxies))
  }

  /** Fastify does not run onResponse if the connection closes before the response is sent. */
  reportIfDisconnected(request: FastifyRequest, reply: FastifyReply): void {
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) this.report(request, reply)
    })
  }
}

/** On the hot path of every request: nothing is parsed or decoded here. */
function completionOf(
  request: FastifyRequest,
  reply: FastifyReply,
  trustedProxies: BlockList,
): RequestCompleted {
  const code = reply.raw.writableFinished ? undefined : contextOf(request).code
  const status = code === undefined ? reply.statusCode : statusOf[code]
  return {
    kind: 'request-completed',
    requestId: request.id,
    method: request.method,
    route: routeOf(request).url ?? 'unknown',
    status,
    ms: millis(Math.max(0, reply.elapsedTime - (request.context?.waitedMs ?? 0))),
    source: sourceOf(request, status),
    access: request.verified?.access,
    url: request.raw.url ?? '',
    bytes:
      request.method === 'HEAD' || !reply.raw.writableFinished
        ? 0
        : Number(reply.getHeader('content-length') ?? 0),
    context: request.context,
    traceparent: traceparentOf(request, trustedProxies),
  }
}

/** Records why no response was sent: an error, a shutdown, or the client, which disconnected. */
function recordAbort(request: FastifyRequest, shutdown: AbortSignal): void {
  const context = contextOf(request)
  if (context.code !== undefined && context.code !== 'client_disconnected') return
  if (shutdown.aborted) {
    context.code = 'shutting_down'
    context.detail = errorTitles.shutting_down
  } else {
    context.code = 'client_disconnected'
    context.detail ??= errorTitles.client_disconnected
  }
}

/**
 * Server-Timing in milliseconds, only for keys that manage the account. Other clients should not learn more about the time
 * of key verification and reads than they can measure.
 */
export function serverTiming(request: FastifyRequest, reply: FastifyReply): void {
  if (request.verified?.access.scopes.has('account:manage') !== true) return
  const { verificationMs, databaseMs } = contextOf(request)
  const source = sourceOf(request, reply.statusCode)
  const database = ['POST', 'PATCH', 'DELETE'].includes(request.method) ? 'write' : 'read'
  reply.header(
    'server-timing',
    `auth;dur=${millis(verificationMs)}` +
      (databaseMs === undefined ? '' : `, ${database};dur=${millis(databaseMs)}`) +
      (source === undefined ? '' : `, source;desc=${source}`) +
      `, total;dur=${millis(reply.elapsedTime)}`,
  )
}

function millis(time = 0): number {
  return Math.round(time * 1000) / 1000
}

function sourceOf(request: FastifyRequest, status: number): Source | undefined {
  if (status === 304) return 'unchanged'
  if (status !== 200 || routeOf(request).config.resource === undefined) return undefined
  return request.context?.source ?? 'read'
}

/** Only from trusted proxies: any other client could choose which requests are traced, and add spans to others' traces. */
function traceparentOf({ raw }: FastifyRequest, trustedProxies: BlockList): string | undefined {
  const { traceparent } = raw.headers
  return typeof traceparent === 'string' && isTrusted(raw.socket.remoteAddress, trustedProxies)
    ? traceparent
    : undefined
}

const requestIdPattern = new RegExp(`^[A-Za-z0-9._:-]{1,${limits.requestIdCharactersMax}}$`)

/** The client's X-Request-Id if it is valid, so that client and operator can find the request in their logs; otherwise a new id. */
export function requestIdOf(request: IncomingMessage): string {
  const id = request.headers['x-request-id']
  // It is logged and sent back, so it must not contain a key. Tested before the regular expression, which would retain it.
  if (typeof id !== 'string' || withoutKeys(id) !== id) return randomUUID()
  return requestIdPattern.test(id) ? id : randomUUID()
}

/** Who makes the change of a request, for the audit log. */
export function actorOf(request: FastifyRequest, { keyId }: Access, trustedProxies: BlockList): Actor {
  const application = request.headers['user-agent'] ?? null
  return { kind: 'key', id: keyId, application, address: clientAddressOf(request, trustedProxies) }
}

/**
 * The address of the client. Each proxy appends the address of its own client to X-Forwarded-For. Only addresses that
 * trusted proxies appended are used, so the header is read from its end up to the first address that is not a trusted proxy.
 */
export function clientAddressOf({ raw }: FastifyRequest, trustedProxies: BlockList): string | null {
  let address = plainAddress(raw.socket.remoteAddress)
  const forwarded = raw.headers['x-forwarded-for']
  const hops = (typeof forwarded === 'string' ? forwarded : '').split(',').map((hop) => hop.trim())
  for (const hop of hops.toReversed()) {
    if (!isTrusted(address, trustedProxies) || isIP(hop) === 0) break
    address = plainAddress(hop)
  }
  return address ?? null
}

export function isTrusted(address: string | undefined, trustedProxies: BlockList): boolean {
  const plain = plainAddress(address)
  return plain !== undefined && trustedProxies.check(plain, plain.includes(':') ? 'ipv6' : 'ipv4')
}

/** Converts an IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) to IPv4. */
function plainAddress(address: string | undefined): string | undefined {
  return address?.replace(/^::ffff:(?=\d+\.)/, '')
}
