import { lookup as systemLookup } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { callbackify } from 'node:util'
import { limits } from '../limits/limits.ts'
import { parseNetworks } from '../networks.ts'
import type { DeliveryOutcome } from '../observability/events.ts'

/** IPv4 networks that are not on the public internet (IANA's registry of special-purpose addresses), and multicast. */
const forbiddenIpv4 = parseNetworks(
  [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10', // carrier-grade NAT
    '127.0.0.0/8',
    '169.254.0.0/16', // link-local; metadata services of clouds
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.31.196.0/24',
    '192.52.193.0/24',
    '192.88.99.0/24', // 6to4 relays
    '192.168.0.0/16',
    '192.175.48.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/4', // multicast
    '240.0.0.0/4', // reserved, broadcast
    '168.63.129.16', // the metadata service of Azure has a public address
  ].join(','),
)

/**
 * Public IPv6 addresses are in 2000::/3. Loopback, unique local, link-local, multicast, IPv4-mapped and NAT64 addresses are not,
 * so they need no entries.
 */
const publicIpv6 = parseNetworks('2000::/3')
const forbiddenIpv6 = parseNetworks(
  [
    '2001::/23', // Teredo and other protocol assignments
    '2001:db8::/32',
    '2002::/16', // 6to4 contains an IPv4 address
    '3fff::/20',
  ].join(','),
)

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** Resolves a host name to all of its addresses. */
export type Resolve = (hostname: string) => Promise<readonly ResolvedAddress[]>

/** Why a message was not sent. A closed list: the delivery log and metrics have these codes. */
export type SendErrorCode = Exclude<DeliveryOutcome, 'delivered' | 'status'>

export class SendError extends Error {
  override readonly name = 'SendError'
  readonly code: SendErrorCode

  constructor(code: SendErrorCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** Decides to which URLs and addresses webhooks may be sent, so that no account can reach the operator's own network. */
export class AddressGuard {
  /** Addresses that the operator allows in addition. */
  readonly #allowed: BlockList
  readonly #resolve: Resolve

  constructor(allowed: BlockList = new BlockList(), resolve: Resolve = resolveAll) {
    this.#allowed = allowed
    this.#resolve = resolve
  }

  isAllowed(address: string): boolean {
    const family = isIP(address)
    if (family === 0) return false
    if (family === 4) return !forbiddenIpv4.check(address, 'ipv4') || this.#allowed.check(address, 'ipv4')
    if (this.#allowed.check(address, 'ipv6')) return true
    return publicIpv6.check(address, 'ipv6') && !forbiddenIpv6.check(address, 'ipv6')
  }

  /** The URL of a receiver. Throws a `SendError` that explains why it is not accepted. Host names are resolved later, by `lookup`. */
  parse(text: string): URL {
    if (text.length > limits.webhookUrlCharactersMax)
      throw forbidden(`has more than ${limits.webhookUrlCharactersMax} characters`)
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url === undefined) throw forbidden('is not a URL')
    if (url.protocol !== 'https:') throw forbidden('must begin with https://')
    if (url.username !== '' || url.password !== '')
      throw forbidden('must not contain a user name or password')
    if (url.hash !== '') throw forbidden('must not have a fragment')
    const port = url.port === '' ? 443 : Number(url.port)
    if (port !== 443 && port < limits.webhookPortMin)
      throw forbidden(`has the port ${port}; only 443 and ports from ${limits.webhookPortMin} on are allowed`)
    const literal = hostOf(url)
    if (isIP(literal) !== 0 && !this.isAllowed(literal)) throw addressForbidden()
    return url
  }

  /**
   * For `node:net`: resolves a host name, once, and returns only allowed addresses. These are the ones that are connected, so
   * that a DNS server cannot show one address to the check and another one to the connection.
   */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.#lookup(hostname, (error, addresses) => {
      if (error !== null) callback(error, '')
      else if (options.all === true) callback(null, [...addresses])
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
    })
  }

  readonly #lookup = callbackify((hostname: string) => this.#allowedAddresses(hostname))

  async #allowedAddresses(hostname: string): Promise<readonly ResolvedAddress[]> {
    let found: readonly ResolvedAddress[]
    try {
      found = await this.#resolve(hostname)
    } catch (error) {
      throw new SendError('host_unknown', 'The host name of the URL cannot be resolved.', error)
    }
    const addresses = found.filter(({ address }) => this.isAllowed(address))
    if (addresses.length > 0) return addresses
    throw found.length === 0
      ? new SendError('host_unknown', 'The host name of the URL has no address.')
      : addressForbidden()
  }
}

/** Without the brackets of an IPv6 address. */
export function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

function resolveAll(hostname: string): Promise<readonly ResolvedAddress[]> {
  return systemLookup(hostname, { all: true })
}

function forbidden(why: string): SendError {
  return new SendError('url_forbidden', `The URL ${why}.`)
}

function addressForbidden(): SendError {
  return new SendError(
    'address_forbidden',
    'The URL leads to an address that is not on the public internet. Your operator can allow internal networks with QUARTERMASTER_WEBHOOK_NETWORKS.',
  )
}
