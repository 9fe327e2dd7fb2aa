import type { BlockList } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Access, Check, Checks } from '../accounts/checks.ts'
import { accountNameOf, type Hosts } from '../accounts/host.ts'
import type { Scope } from '../accounts/key.ts'
import type { Rates } from '../accounts/rates.ts'
import type { ResourceName } from '../catalog/resources.ts'
import { Failure } from '../errors.ts'
import type { Tally } from '../tally-state.ts'
import { isTrusted } from './client-address.ts'
import { factsOf } from './facts.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered without a key. Everything else needs one. */
    readonly open?: boolean
    /** What the request is about: the state of its tally is looked up together with the key. */
    readonly resource?: ResourceName
  }
  interface FastifyRequest {
    check: Check | undefined
  }
}

export interface Doorkeeper {
  readonly checks: Checks
  readonly hosts: Hosts
  readonly trustedProxies: BlockList
  readonly rates: Rates
}

/** The first thing asked of every request, whatever its path, method or body: who it is from, and one more of them? */
export async function authenticate(
  request: FastifyRequest,
  reply: FastifyReply,
  doorkeeper: Doorkeeper,
): Promise<void> {
  const key = bearerOf(request.headers.authorization)
  const account = accountNameOf(hostOf(request, doorkeeper.trustedProxies), doorkeeper.hosts)
  const { resource } = request.routeOptions.config
  const begun = performance.now()
  request.check = key === undefined ? undefined : await doorkeeper.checks.check(account, key, resource)
  factsOf(request).checkMs = performance.now() - begun
  if (request.check === undefined) {
    // One answer for every reason: which part was wrong would help only those who guess.
    throw new Failure(
      'unauthenticated',
      "Send a valid API key of this account as 'Authorization: Bearer <key>' to the account's own host.",
    )
  }
  countRequest(request.check.access, reply, doorkeeper.rates)
}

/** draft-ietf-httpapi-ratelimit-headers: the limits, and what is left of them, on every answer from here on. */
function countRequest(access: Access, reply: FastifyReply, rates: Rates): void {
  const { refused, most, secondsLeft, policy, state } = rates.take(access)
  reply.header('ratelimit-policy', policy).header('ratelimit', state)
  if (refused === undefined) return
  reply.header('retry-after', secondsLeft)
  throw new Failure(
    `${refused}_rate_exceeded`,
    `This ${refused === 'account' ? 'account' : 'API key'} may send ${most} requests a minute, and has. ` +
      `There will be more in ${secondsLeft} s.`,
  )
}

/** Whose data the request may touch; refused where the key lacks the scope. */
export function accessFor(request: FastifyRequest, scope: Scope): Access {
  const access = request.check?.access
  if (access === undefined) throw new Error(`a route without authentication asks for ${scope}`)
  if (!access.scopes.has(scope)) {
    throw new Failure('scope_missing', `This request needs the scope ${scope}, which the key does not have.`)
  }
  return access
}

/** The same for a read, with the state of what is read. */
export function checkFor(request: FastifyRequest, scope: Scope): Check & { readonly tally: Tally } {
  const access = accessFor(request, scope)
  const tally = request.check?.tally
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
