import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../../accounts/key-format.ts'
import type { KeyVerifier } from '../../accounts/key-verifier.ts'
import type { RateLimiter } from '../../accounts/rate-limits/rate-limiter.ts'
import { type Access, type Requested, requestedOf, type Verified } from '../../accounts/verifications.ts'
import type { ResourceName } from '../../catalog/resources.ts'
import { Failure, pathUnknown, unauthenticated } from '../../errors/errors.ts'
import type { ConnectionShares } from '../../scheduler/shares.ts'
import type { Tally } from '../../tally-state.ts'
import { accountNameIn } from '../http-server.ts'
import { isRepeated, rejectRepeated } from '../request/headers.ts'
import { contextOf, isTrusted, routeOf } from './request-context.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Served without a key, or for which requests it is. All other routes require one. */
    readonly isPublic?: boolean | ((request: FastifyRequest) => boolean)
    /** Any of them allows the request. */
    readonly scopes?: readonly Scope[]
    /** The resource of the route: what the request needs of it is read together with the key. */
    readonly resource?: ResourceName
    /** For an account that has declared no field of the resource, the path does not exist. */
    readonly needsDefinitions?: boolean
    /** The handler verifies the key, to read at the same time. No request of such a route has a body. */
    readonly isVerifiedInHandler?: boolean
  }
  interface FastifyRequest {
    verified: Verified | undefined
  }
}

/** How the host name of a request determines its account. */
export interface Hosts {
  readonly serviceDomain: string
  /** The account of hosts without a label, such as `localhost`. */
  readonly defaultAccount: string | undefined
}

export interface AuthenticationParts {
  readonly keyVerifier: KeyVerifier
  readonly hosts: Hosts
  readonly trustedProxies: BlockList
  readonly rateLimiter: RateLimiter
  readonly connections: ConnectionShares
}

export function isPublic(request: FastifyRequest): boolean {
  const { isPublic: setting } = routeOf(request).config
  return typeof setting === 'function' ? setting(request) : setting === true
}

/** Verifies the key and applies the rate limits, before path, method or body of the request are validated. */
export async function authenticate(
  request: FastifyRequest,
  reply: FastifyReply,
  authentication: AuthenticationParts,
): Promise<void> {
  const verification = startVerification(request, reply, authentication)
  await finishVerification(request, reply, verification, authentication)
}

export interface StartedVerification {
  /** What the key could do when it was verified last, if that was lately and the request is within its rate limits. */
  readonly recent: Access | undefined
  readonly startedAt: number
  readonly result: Promise<Verified | undefined>
}

/** Sends the key to be verified. Whoever starts a verification must finish it, whatever happens in between. */
export function startVerification(
  request: FastifyRequest,
  { raw }: FastifyReply,
  { keyVerifier, hosts, trustedProxies, rateLimiter }: AuthenticationParts,
): StartedVerification {
  // Judged by its form alone, so the response reveals nothing about the keys.
  rejectRepeated(request.raw, 'authorization', 'Authorization')
  const key = bearerOf(request.headers.authorization)
  const startedAt = performance.now()
  if (key === undefined) return { recent: undefined, startedAt, result: Promise.resolve(undefined) }
  const account = accountNameIn(raw) ?? accountNameOf(hostOf(request.raw, trustedProxies), hosts) ?? ''
  const { recent, result } = keyVerifier.verify(
    account === '' ? undefined : account,
    key,
    requestedBy(request),
  )
  const isWithinRate = recent !== undefined && rateLimiter.hasLeft(recent)
  return { recent: isWithinRate ? recent : undefined, startedAt, result }
}

/** A write needs no tally before it locks it. */
function requestedBy(request: FastifyRequest): Requested | undefined {
  const { resource } = routeOf(request).config
  return resource && requestedOf[resource][readingMethods.has(request.method) ? 'tally' : 'schema']
}

const readingMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY'])

/** Throws if the key is not valid, or exceeds a rate limit. */
export async function finishVerification(
  request: FastifyRequest,
  reply: FastifyReply,
  { startedAt, result }: StartedVerification,
  { rateLimiter, connections }: AuthenticationParts,
): Promise<void> {
  request.verified = await result
  const context = contextOf(request)
  context.verificationStartedAt = startedAt
  context.verificationMs = performance.now() - startedAt
  if (request.verified === undefined) throw unauthenticated()
  const { accountId } = request.verified.access
  if (!connections.onAccepted(request.raw.socket, accountId)) reply.header('connection', 'close')
  countRequest(request.verified.access, reply, rateLimiter)
}

/** The same error as that of a path that no account has, whatever the scopes of the key and the method. */
export function requireDefinitions(request: FastifyRequest): void {
  if (routeOf(request).config.needsDefinitions !== true) return
  if (request.verified?.schema === 0) throw pathUnknown()
}

/** Sets the headers of draft-ietf-httpapi-ratelimit-headers on the response, also on errors that are thrown later. */
function countRequest(access: Access, reply: FastifyReply, rateLimiter: RateLimiter): void {
  const { exceeded, max, secondsLeft, policy, state } = rateLimiter.take(access)
  reply.header('ratelimit-policy', policy).header('ratelimit', state)
  if (exceeded === undefined) return
  reply.header('retry-after', secondsLeft)
  throw new Failure(
    `${exceeded}_rate_exceeded`,
    `This ${exceeded === 'account' ? 'account' : 'API key'} has exceeded its limit of ${max} requests per minute. ` +
      `Retry in ${secondsLeft} s.`,
  )
}

/** The account and key of the request; throws if the key has none of the route's scopes. */
export function accessFor(request: FastifyRequest): Access {
  const access = request.verified?.access
  const { url, config } = routeOf(request)
  const { scopes } = config
  if (access === undefined || scopes === undefined) throw new Error(`the route ${url} has no scope`)
  for (const scope of scopes) if (access.scopes.has(scope)) return access
  const names = scopes.join(' or ')
  throw new Failure('scope_missing', `This request needs the scope ${names}, which the key does not have.`)
}

/** If the route has several scopes and the request needs this one. */
export function requireScope({ scopes }: Access, scope: Scope): void {
  if (scopes.has(scope)) return
  throw new Failure('scope_missing', `This request needs the scope ${scope}, which the key does not have.`)
}

/** Also has the tally of the route's resource. */
export function verifiedFor(request: FastifyRequest): Verified & { readonly tally: Tally } {
  const access = accessFor(request)
  const tally = request.verified?.tally
  if (tally === undefined) throw new Error(`the account ${access.accountId} has no tally for the route`)
  return { access, tally, schema: tally.schema }
}

/** Also has the version of the account's fields of the route's resource. */
export function accessAndSchema(request: FastifyRequest): Verified & { readonly schema: number } {
  const access = accessFor(request)
  const schema = request.verified?.schema
  if (schema === undefined) throw new Error(`the account ${access.accountId} has no tally for the route`)
  return { access, tally: undefined, schema }
}

/** The bearer token. No regular expression: `RegExp.lastMatch` and its siblings would retain the key. */
export function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  if (!header.startsWith('Bearer ') && header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  let [start, end] = [7, header.length]
  while (header[start] === ' ') start++
  while (end > start && header[end - 1] === ' ') end--
  return header.slice(start, end)
}

/** The host that the client sent; none of two Host headers. X-Forwarded-Host is used only if a trusted proxy sent it. */
export function hostOf(
  { headers, rawHeaders, socket }: IncomingMessage,
  trustedProxies: BlockList,
): string | undefined {
  const forwarded = headers['x-forwarded-host']
  if (typeof forwarded === 'string' && isTrusted(socket.remoteAddress, trustedProxies)) {
    return forwarded.includes(',') || isRepeated(rawHeaders, 'x-forwarded-host') ? undefined : forwarded
  }
  return isRepeated(rawHeaders, 'host') ? undefined : headers.host
}

/** `acme` for `acme.<service domain>`. Undefined if the host belongs to no account. */
export function accountNameOf(host: string | undefined, hosts: Hosts): string | undefined {
  if (host === undefined) return undefined
  const name = host.replace(/:\d+$/, '').toLowerCase()
  const suffix = `.${hosts.serviceDomain}`
  if (name.endsWith(suffix)) {
    const label = name.slice(0, -suffix.length)
    return /^[a-z0-9-]{1,63}$/.test(label) ? label : undefined
  }
  return isWithoutLabel(name, hosts.serviceDomain) ? hosts.defaultAccount : undefined
}

function isWithoutLabel(name: string, serviceDomain: string): boolean {
  return (
    name === serviceDomain ||
    name === 'localhost' ||
    /^\d{1,3}(\.\d{1,3}){3}$/.test(name) ||
    /^\[[0-9a-f:.]+\]$/.test(name)
  )
}
