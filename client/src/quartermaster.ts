import type { Cache } from './cache.ts'
import { Partners } from './partners.ts'
import { Resource } from './resource.ts'
import { defaults, Sender } from './sender.ts'
import { type Company, type CompanyKinds, type Product, type ProductKinds, paths } from './wire.ts'

export interface QuartermasterOptions {
  /** The account's own address: `https://acme.example.com`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** Milliseconds for each attempt, answer included; 30 seconds unless told otherwise. */
  readonly timeoutMs?: number
  /** Milliseconds for which a request is tried again; a minute unless told otherwise, 0 for never. */
  readonly retryForMs?: number
  /** Where answers to `list` and `get` are kept, to be asked for by ETag; none unless given. */
  readonly cache?: Cache
  /** To be used instead of the global fetch. */
  readonly fetch?: typeof fetch
}

/** An account of the service, by one of its keys. */
export class Quartermaster {
  readonly products: Resource<Product, ProductKinds>
  readonly partners: Partners
  readonly companies: Resource<Company, CompanyKinds>

  constructor(options: QuartermasterOptions) {
    const sender = new Sender({
      baseUrl: originOf(options.baseUrl),
      apiKey: keyOf(options.apiKey),
      timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
      retryForMs: options.retryForMs ?? defaults.retryForMs,
      cache: options.cache,
      // Called as a plain function: a browser's fetch refuses to be a method of anything else.
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    })
    this.products = new Resource(sender, paths.product)
    this.partners = new Partners(sender, paths.partner)
    this.companies = new Resource(sender, paths.company)
  }
}

/** A path before /api/v1 stays: a proxy may have the service below one. */
function originOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl))
    throw new TypeError(`baseUrl is "${baseUrl}"; it must be like https://acme.example.com.`)
  const { protocol, search, hash, username, origin, pathname } = new URL(baseUrl)
  if (!/^https?:$/.test(protocol) || search !== '' || hash !== '' || username !== '') {
    throw new TypeError('baseUrl must be an http or https address without a query, a fragment or a user.')
  }
  let end = pathname.length
  while (pathname[end - 1] === '/') end--
  return origin + pathname.slice(0, end)
}

function keyOf(apiKey: string): string {
  if (typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey)) return apiKey
  throw new TypeError(
    'apiKey is missing or has characters that a key never has. Is the variable set that it comes from?',
  )
}
