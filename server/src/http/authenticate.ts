import type { BlockList } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Access, Accesses } from '../accounts/access.ts'
import { accountNameOf, type Hosts } from '../accounts/host.ts'
import type { Scope } from '../accounts/key.ts'
import { Failure } from '../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered without a key. Everything else needs one. */
    readonly open?: boolean
  }
  interface FastifyRequest {
    access: Access | undefined
  }
}

export interface Doorkeeper {
  readonly accesses: Accesses
  readonly hosts: Hosts
  readonly trustedProxies: BlockList
}

/** The first thing asked of every request, whatever its path, method or body. */
export async function authenticate(request: FastifyRequest, doorkeeper: Doorkeeper): Promise<void> {
  const key = bearerOf(request.headers.authorization)
  const account = accountNameOf(hostOf(request, doorkeeper.trustedProxies), doorkeeper.hosts)
  request.access = key === undefined ? undefined : await doorkeeper.accesses.find(account, key)
  if (request.access === undefined) {
    // One answer for every reason: which part was wrong would help only those who guess.
    throw new Failure(
      'unauthenticated',
      "Send a valid API key of this account as 'Authorization: Bearer <key>' to the account's own host.",
    )
  }
}

/** Whose data the request may touch; refused where the key lacks the scope. */
export function accessFor(request: FastifyRequest, scope: Scope): Access {
  const { access } = request
  if (access === undefined) throw new Error(`a route without authentication asks for ${scope}`)
  if (!access.scopes.has(scope)) {
    throw new Failure('scope_missing', `This request needs the scope ${scope}, which the key does not have.`)
  }
  return access
}

function bearerOf(header: string | undefined): string | undefined {
  return header === undefined ? undefined : /^Bearer +([^\s]+) *$/i.exec(header)?.[1]
}

/** The host as the client wrote it. What a proxy forwarded counts only from a proxy we were told to trust. */
function hostOf(request: FastifyRequest, trustedProxies: BlockList): string | undefined {
  const { headersDistinct, socket } = request.raw
  const forwarded = headersDistinct['x-forwarded-host']
  if (forwarded !== undefined && isTrusted(socket.remoteAddress, trustedProxies)) {
    return forwarded.length === 1 && !forwarded[0]?.includes(',') ? forwarded[0] : undefined
  }
  return headersDistinct['host']?.length === 1 ? headersDistinct['host'][0] : undefined
}

function isTrusted(address: string | undefined, trustedProxies: BlockList): boolean {
  if (address === undefined) return false
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
  return trustedProxies.check(plain, plain.includes(':') ? 'ipv6' : 'ipv4')
}
