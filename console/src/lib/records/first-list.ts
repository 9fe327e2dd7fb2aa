import { type CollectionName, collections } from '../../api/catalog.ts'
import { landingOf, readStoredSelf } from '../keys/stored-self.ts'
import { parseSearch } from '../search.ts'
import { type ListParameters, listParameters, unknownParameters } from './records-search.ts'

const pages: Readonly<Record<string, CollectionName>> = {
  products: 'product',
  partners: 'partner',
  companies: 'company',
  keys: 'key',
  fields: 'field',
  webhooks: 'webhook',
  deliveries: 'delivery',
  audit: 'audit',
  requests: 'request',
}

interface FirstList {
  readonly name: CollectionName
  readonly parameters: ListParameters
}

/** The list that the page at this address shows; undefined if it shows none. */
export function firstListOf({
  pathname,
  search,
}: Pick<Location, 'pathname' | 'search'>): FirstList | undefined {
  const page = pathname.replace(/^\/console\/?/, '')
  const name = page === '' ? landingOf(readStoredSelf())[0] : pages[page]
  const parameters = parseSearch(search)
  if (name === undefined || unknownParameters(parameters).length > 0) return undefined
  return { name, parameters: listParameters(name, parameters) }
}

/** The request for this list as the console sends it: path and query. */
export function requestUrlOf({ name, parameters }: FirstList): string {
  const query = Object.entries(parameters).flatMap(([parameter, value]) =>
    value === undefined ? [] : [`${parameter}=${encodeURIComponent(value)}`],
  )
  return `${collections[name].path}?${query.join('&')}`
}
