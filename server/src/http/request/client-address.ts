import { type BlockList, isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

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
