import type { Cache } from './cache.ts'
import type { Decimals, WithDecimals } from './decimals.ts'
import { Manage } from './manage.ts'
import type { NewOwnValues, OwnFields, OwnKinds, OwnValues } from './own-fields.ts'
import { defaults, Sender } from './sender.ts'
import {
  type Company,
  type CompanyKinds,
  decimalFields,
  type NewCompany,
  type NewPartner,
  type NewProduct,
  type Partner,
  type PartnerKinds,
  type Product,
  type ProductKinds,
  paths,
} from './wire.ts'
import { WritableResource } from './writable-resource.ts'

export interface QuartermasterOptions<
  D extends Decimals = 'number',
  F extends OwnFields | undefined = undefined,
> {
  /** The URL of the account's host: `https://acme.example.com`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** Timeout of each attempt in milliseconds, including reading the response. Default: 30,000. */
  readonly timeoutMs?: number
  /** How long a request is retried, in milliseconds. Default: 60,000. 0 disables retries. */
  readonly retryForMs?: number
  /** Caches responses of `list` and `get` by ETag. Default: none. */
  readonly cache?: Cache
  /** Replaces the global fetch. */
  readonly fetch?: typeof fetch
  /** How records have decimals: as numbers, or as strings with every digit. Default: `number`. */
  readonly decimals?: D
  /** The fields that the account has declared, as `quartermaster types` writes them: records have them, with their types. */
  readonly fields?: F
}

/** The records of a resource, with the fields that the account has declared. */
type Records<R extends { readonly id: number }, K, N, D, F, Name> = WritableResource<
  WithDecimals<R & OwnValues<F, Name>, K & OwnKinds<F, Name>, D> & { readonly id: number },
  K & OwnKinds<F, Name>,
  N & NewOwnValues<F, Name>
>

/** Customers, vendors and employees. */
export type Partners = WritableResource<Partner, PartnerKinds, NewPartner>

/** Access to one account of the service, with one of its API keys. */
export class Quartermaster<D extends Decimals = 'number', F extends OwnFields | undefined = undefined> {
  readonly products: Records<Product, ProductKinds, NewProduct, D, F, 'product'>
  readonly partners: Records<Partner, PartnerKinds, NewPartner, D, F, 'partner'>
  readonly companies: Records<Company, CompanyKinds, NewCompany, D, F, 'company'>
  /** Keys, webhooks, usage, and logs of the account. Needs a key with the scope `account:manage`. */
  readonly manage: Manage

  constructor(options: QuartermasterOptions<D, F>) {
    const sender = new Sender({
      baseUrl: normalizedUrl(options.baseUrl),
      apiKey: checkedKey(options.apiKey),
      timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
      retryForMs: options.retryForMs ?? defaults.retryForMs,
      cache: options.cache,
      // In a closure: a browser's fetch throws if it is called as a method of another object.
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    })
    const own: OwnFields = options.fields ?? {}
    const decimalsOf = (name: keyof OwnFields) => {
      if (options.decimals !== 'string') return undefined
      const declared = Object.entries(own[name] ?? {}).filter(([, kind]) => kind === 'decimal')
      return new Set([...decimalFields, ...declared.map(([field]) => field)])
    }
    this.products = new WritableResource(sender, paths.product, decimalsOf('product'))
    this.partners = new WritableResource(sender, paths.partner, decimalsOf('partner'))
    this.companies = new WritableResource(sender, paths.company, decimalsOf('company'))
    this.manage = new Manage(sender)
  }
}

/** Accepts a path before /api/v1: a proxy may serve the API below one. */
function normalizedUrl(baseUrl: string): string {
  if (!URL.canParse(baseUrl))
    throw new TypeError(`baseUrl is "${baseUrl}"; it must be like https://acme.example.com.`)
  const { protocol, search, hash, username, origin, pathname } = new URL(baseUrl)
  if (!/^https?:$/.test(protocol) || search !== '' || hash !== '' || username !== '') {
    throw new TypeError('baseUrl must be an http or https URL without a query, a fragment or a user.')
  }
  let end = pathname.length
  while (pathname[end - 1] === '/') end--
  return origin + pathname.slice(0, end)
}

function checkedKey(apiKey: string): string {
  if (typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey)) return apiKey
  throw new TypeError(
    'apiKey is missing, or contains characters that API keys do not have. Check that its variable is set.',
  )
}
