import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AllowedOrigins, OriginQuestion } from '../../accounts/allowed-origins.ts'
import { isOrigin } from '../../accounts/cors-origins.ts'
import { MemoryCounters } from '../../accounts/rate-limits/memory-counters.ts'
import { limits } from '../../limits/limits.ts'
import type { Limits } from '../../limits/passed-limits.ts'
import { accountNameOf, type Hosts, hostOf } from './authenticate.ts'
import { clientAddressOf, routeOf } from './request-context.ts'

/**
 * CORS (https://fetch.spec.whatwg.org/#http-cors-protocol): lets pages of the origins that an account allows use its API. Only
 * `/api/v1/`: a page of another origin can neither manage an account nor use the console. A request of any other origin gets the
 * same response as without `Origin`.
 */

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of a route that only rejects methods: those that its path supports. */
    readonly allows?: readonly string[]
  }
  interface FastifyRequest {
    /** The origin of the request, if the account allows it. */
    allowedOrigin: string | undefined
  }
}

const pathPrefix = '/api/v1/'

/** For a path that does not exist: the request itself then gets a 404 that the page can read. */
const allMethods = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'QUERY']

/** Headers that a request of the API can have, besides those that every page may send. */
export const requestHeaders = [
  'Authorization',
  'Accept',
  'Content-Type',
  'Content-Encoding',
  'Batch-Results',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'Last-Event-ID',
  'X-Request-Id',
]

/** Headers of responses of the API, besides those that every page may read. */
export const exposedHeaders = [
  'ETag',
  'Link',
  'Location',
  'Allow',
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
  'X-Total-Count',
  'X-Changes-Cursor',
  'Idempotent-Replayed',
  'Content-Disposition',
  'Content-Encoding',
  'Server-Timing',
  'Accept-Encoding',
  'Accept-Patch',
  'Accept-Post',
  'Accept-Query',
  'WWW-Authenticate',
]

const exposed = exposedHeaders.join(', ')
const allowed = requestHeaders.join(', ')

interface Parts {
  readonly hosts: Hosts
  readonly trustedProxies: BlockList
}

export class Cors {
  readonly #origins: AllowedOrigins
  readonly #hosts: Hosts
  readonly #trustedProxies: BlockList
  readonly #preflightsMax: number
  /** Of this process. They have no key, so they must not count against the limits of the account: anybody could exhaust those. */
  readonly #preflights = new MemoryCounters()

  constructor(origins: AllowedOrigins, { hosts, trustedProxies }: Parts, { corsPreflightsMax }: Limits) {
    this.#preflightsMax = corsPreflightsMax
    this.#origins = origins
    this.#hosts = hosts
    this.#trustedProxies = trustedProxies
  }

  /**
   * Sets the headers of a response to an allowed origin, before anything else can respond. Returns whether the request was a
   * preflight and has been answered: a preflight has no key. Called only if there is an `Origin`.
   */
  async apply(request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
    const question = this.#questionOf(request.raw)
    if (question === undefined) return false
    const isPreflight = isPreflightRequest(request.raw)
    if (isPreflight && !this.#isWithinRate(request, question)) return false
    if (!(await this.#origins.isAllowed(question))) return false
    request.allowedOrigin = question.origin
    reply.headers(headersFor(question.origin))
    if (isPreflight) await answer(request, reply)
    return isPreflight
  }

  /** Of a response that must not wait, so what was known last applies. */
  headersOf(request: IncomingMessage): Readonly<Record<string, string>> {
    if (request.headers.origin === undefined) return {}
    const question = this.#questionOf(request)
    return question !== undefined && this.#origins.wasAllowed(question) ? headersFor(question.origin) : {}
  }

  /** Undefined if no account can allow the origin, by its form, or if it is the origin of the account's own host. */
  #questionOf(request: IncomingMessage): OriginQuestion | undefined {
    const { origin = '' } = request.headers
    if (request.url?.startsWith(pathPrefix) !== true || !isOrigin(origin)) return undefined
    const host = hostOf(request, this.#trustedProxies)
    if (host === undefined || origin.slice(origin.indexOf('//') + 2) === host.toLowerCase()) return undefined
    const accountName = accountNameOf(host, this.#hosts)
    return accountName === undefined ? undefined : { accountName, origin }
  }

  /** Counted by account, too: without QUARTERMASTER_TRUSTED_PROXIES all clients have the address of the proxy. */
  #isWithinRate(request: FastifyRequest, { accountName }: OriginQuestion): boolean {
    const name = `${clientAddressOf(request, this.#trustedProxies) ?? ''} ${accountName}`
    const [used = 0] = this.#preflights.add([name], [1])
    return used <= this.#preflightsMax
  }
}

/** Run after the headers of the response are known: a response that can be cached already varies by others. */
export function varyByOrigin(reply: FastifyReply): void {
  const vary = reply.getHeader('vary')
  if (vary !== 'origin') reply.header('vary', `${String(vary)}, origin`)
}

/** Never `Access-Control-Allow-Credentials`: the service has no cookies. */
function headersFor(origin: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposed,
    vary: 'origin',
  }
}

/** A browser sends it without a key and without a body. */
function isPreflightRequest({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    headers.authorization === undefined &&
    headers['transfer-encoding'] === undefined &&
    Number(headers['content-length'] ?? 0) === 0
  )
}

function answer(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const methods = routeOf(request).config.allows ?? allMethods
  return reply
    .code(204)
    .removeHeader('access-control-expose-headers')
    .header('access-control-allow-methods', methods.join(', '))
    .header('access-control-allow-headers', allowed)
    .header('access-control-max-age', limits.corsPreflightSeconds)
    .send()
}
