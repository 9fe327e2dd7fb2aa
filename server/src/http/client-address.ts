import { type BlockList, isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/**
 * Where a request came from. Proxies add the address that they were called from to X-Forwarded-For; only what trusted
 * ones added counts, so it is read from its end, up to the first address that is not one of theirs.
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

/** IPv4 as such, also where the socket is one of IPv6. */
function plainAddress(address: string | undefined): string | undefined {
  return address?.replace(/^::ffff:(?=\d+\.)/, '')
}
