import type { BlockList } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { accountNameOf, type Hosts } from '../../accounts/hosts.ts'
import type { Scope } from '../../accounts/key-format.ts'
import type { Access, KeyVerifier, Verified } from '../../accounts/key-verifier.ts'
import type { RateLimiter } from '../../accounts/rate-limiter.ts'
import type { ResourceName } from '../../catalog/resources.ts'
import { Failure } from '../../errors.ts'
import type { Tally } from '../../tally-state.ts'
import { isTrusted } from '../client-address.ts'
import { contextOf } from './request-context.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered without a key. Everything else needs one. */
    readonly open?: boolean
    /** What the request is about: the state of its tally is looked up together with the key. */
    readonly resource?: ResourceName
  }
  interface FastifyRequest {
    verified: Verified | undefined
  }
}

export interface AuthenticationParts {
  readonly keyVerifier: KeyVerifier
  readonly hosts: Hosts
  readonly trustedProxies: BlockList
  readonly rateLimiter: RateLimiter
}

/** The first thing asked of every request, whatever its path, method or body: who it is from, and one more of them? */
export async function authenticate(
  request: FastifyRequest,
  reply: FastifyReply,
  authentication: AuthenticationParts,
): Promise<void> {
  const key = bearerOf(request.headers.authorization)
  const account = accountNameOf(hostOf(request, authentication.trustedProxies), authentication.hosts)
  const { resource } = request.routeOptions.config
  const begun = performance.now()
  request.verified =
    key === undefined ? undefined : await authentication.keyVerifier.verify(account, key, resource)
  contextOf(request).verificationMs = performance.now() - begun
  if (request.verified === undefined) {
    // One answer for every reason: which part was wrong would help only those who guess.
    throw new Failure(
      'unauthenticated',
      "Send a valid API key of this account as 'Authorization: Bearer <key>' to the account's own host.",
    )
  }
  countRequest(request.verified.access, reply, authentication.rateLimiter)
}

/** draft-ietf-httpapi-ratelimit-headers: the limits, and what is left of them, on every answer from here on. */
function countRequest(access: Access, reply: FastifyReply, rateLimiter: RateLimiter): void {
  const { exceeded, max, secondsLeft, policy, state } = rateLimiter.take(access)
  reply.header('ratelimit-policy', policy).header('ratelimit', state)
  if (exceeded === undefined) return
  reply.header('retry-after', secondsLeft)
  throw new Failure(
    `${exceeded}_rate_exceeded`,
    `This ${exceeded === 'account' ? 'account' : 'API key'} may send ${max} requests a minute, and has. ` +
      `There will be more in ${secondsLeft} s.`,
  )
}

/** Whose data the request may touch; refused where the key lacks the scope. */
export function accessFor(request: FastifyRequest, scope: Scope): Access {
  const access = request.verified?.access
  if (access === undefined) throw new Error(`a route without authentication asks for ${scope}`)
  if (!access.scopes.has(scope)) {
    throw new Failure('scope_missing', `This request needs the scope ${scope}, which the key does not have.`)
  }
  return access
}

/** The same for a read, with the state of what is read. */
export function verifiedFor(request: FastifyRequest, scope: Scope): Verified & { readonly tally: Tally } {
  const access = accessFor(request, scope)
  const tally = request.verified?.tally
  if (tally === undefined) throw new Error(`the account ${access.accountId} has no tally for ${scope}`)
  return { access, tally }
}

/** Without a regular expression: JavaScript remembers what the last one was matched against, here a secret. */
function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined || header.slice(0, 7).toLowerCase() !== 'bearer ') return undefined
  let [start, end] = [7, header.length]
  while (header[start] === ' ') start++
  while (end > start && header[end - 1] === ' ') end--
  return header.slice(start, end)
}

/** The host as the client wrote it. What a proxy forwarded counts only from a proxy we were told to trust. */
function hostOf(request: FastifyRequest, trustedProxies: BlockList): string | undefined {
  const { headers, rawHeaders, socket } = request.raw
  const forwarded = headers['x-forwarded-host']
  if (typeof forwarded === 'string' && isTrusted(socket.remoteAddress, trustedProxies)) {
    return forwarded.includes(',') || isRepeated(rawHeaders, 'x-forwarded-host') ? undefined : forwarded
  }
  return isRepeated(rawHeaders, 'host') ? undefined : headers.host
}

/** Of two hosts, Node keeps the first and proxies perhaps the last: which one is meant is not ours to guess. */
function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const other = rawHeaders[i]
    if (other?.length === name.length && other.toLowerCase() === name) count++
  }
  return count > 1
}
