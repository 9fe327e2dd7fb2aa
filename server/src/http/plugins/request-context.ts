import type { BlockList } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorTitles } from '../../errors.ts'
import type { EmitEvent, RequestCompleted, RequestContext, Source } from '../../observability/events.ts'
import { isTrusted } from '../client-address.ts'
import { statusOf } from '../problem.ts'

declare module 'fastify' {
  interface FastifyRequest {
    context: RequestContext | undefined
  }
}

export function contextOf(request: FastifyRequest): RequestContext {
  request.context ??= {
    code: undefined,
    detail: undefined,
    records: 0,
    source: undefined,
    form: undefined,
    verificationMs: undefined,
    databaseStartedAt: undefined,
    databaseMs: undefined,
  }
  return request.context
}

/** Counts the time of a read or write in the database as this request's. */
export async function timed<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  const context = contextOf(request)
  const begun = performance.now()
  context.databaseStartedAt = begun
  try {
    return await work()
  } finally {
    context.databaseMs = performance.now() - begun
  }
}

/**
 * An answer from the cache, or the read that produces it. A read that this request did not start itself belongs to
 * another request: it is recorded as joined, with the time that this request waited for it.
 */
export function answerFrom<T>(request: FastifyRequest, answer: T | Promise<T>): T | Promise<T> {
  const context = contextOf(request)
  if (!(answer instanceof Promise)) {
    context.source = 'cached'
    return answer
  }
  if (context.source === 'read') return answer
  context.source = 'joined'
  return timed(request, () => answer)
}

/** Tells of every request once. */
export class RequestObserver {
  readonly #emit: EmitEvent
  readonly #trustedProxies: BlockList
  readonly #shutdown: AbortSignal

  /** `shutdown` is aborted when the process closes the connections of requests that are still under way. */
  constructor(emit: EmitEvent, trustedProxies: BlockList, shutdown: AbortSignal) {
    this.#emit = emit
    this.#trustedProxies = trustedProxies
    this.#shutdown = shutdown
  }

  report(request: FastifyRequest, reply: FastifyReply): void {
    if (!reply.raw.writableFinished) noteUnanswered(request, this.#shutdown)
    this.#emit(answered(request, reply, this.#trustedProxies))
  }

  /** Where the client does not wait for the answer, none is ever out. */
  reportIfDisconnected(request: FastifyRequest, reply: FastifyReply): void {
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) this.report(request, reply)
    })
  }
}

/** All that is worth telling of a request. On the way of every one: nothing is parsed or decoded here. */
function answered(request: FastifyRequest, reply: FastifyReply, trustedProxies: BlockList): RequestCompleted {
  const code = reply.raw.writableFinished ? undefined : contextOf(request).code
  const status = code === undefined ? reply.statusCode : statusOf[code]
  return {
    kind: 'request-completed',
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url ?? 'unknown',
    status,
    ms: millis(reply.elapsedTime),
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

/** The client went before the answer was out, unless this process closed the connection or had another reason to. */
function noteUnanswered(request: FastifyRequest, shutdown: AbortSignal): void {
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
 * Where the time went until the answer was ready, in milliseconds, for those who manage the account. Others learn
 * nothing of how long a check or a read takes but what their own clock says.
 */
export function serverTiming(request: FastifyRequest, reply: FastifyReply): void {
  if (request.verified?.access.scopes.has('account:manage') !== true) return
  const { verificationMs, databaseMs } = contextOf(request)
  const source = sourceOf(request, reply.statusCode)
  const database = request.method === 'POST' ? 'write' : 'read'
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

function sourceOf({ routeOptions, context }: FastifyRequest, status: number): Source | undefined {
  if (status === 304) return 'unchanged'
  if (status !== 200 || routeOptions.config.resource === undefined) return undefined
  return context?.source ?? 'read'
}

/** Taken over from our own proxies alone: a stranger would choose what is traced, and into whose trace it goes. */
function traceparentOf({ raw }: FastifyRequest, trustedProxies: BlockList): string | undefined {
  const { traceparent } = raw.headers
  return typeof traceparent === 'string' && isTrusted(raw.socket.remoteAddress, trustedProxies)
    ? traceparent
    : undefined
}
