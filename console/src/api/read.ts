import { MemoryCache, Quartermaster, type WritableResource } from '@quartermaster/client'
import { quoted } from '@quartermaster/filter'
import { queryOptions } from '@tanstack/react-query'
import { isOffline } from '../lib/online.ts'
import type { ListParameters } from '../lib/records/records-search.ts'
import { currentKey } from '../session.ts'
import { t } from '../texts/texts.ts'
import { type CollectionName, collections } from './catalog.ts'
import { type Read, RequestFailed, recorded } from './exchange.ts'
import { sendManage } from './manage.ts'
import { quoteInexact } from './own-fields.ts'

/** Lists and records, read with the TypeScript client. Lists for administrators have no client methods: `manage.ts`. */

export type Value = string | number | boolean | null | readonly string[]
export type Row = Readonly<Record<string, Value>>

export interface List {
  readonly data: readonly Row[]
  readonly meta: { readonly count: number; readonly total: number }
  readonly pagination: {
    readonly previousPage: number | null
    readonly currentPage: number
    readonly nextPage: number | null
    readonly totalPages: number
  }
}

/** How long a failed request is retried: a person waits for it. */
const retryForMs = 3_000
let cache = new MemoryCache()

/** Responses belong to a key: another key may have other scopes. */
export function forgetResponses(): void {
  cache = new MemoryCache()
}

export function listQuery(name: CollectionName, parameters: ListParameters) {
  return queryOptions({
    queryKey: ['list', name, parameters],
    queryFn: ({ signal }) => readList(name, parameters, signal),
  })
}

export function recordQuery(name: CollectionName, id: string) {
  return queryOptions({
    queryKey: ['record', name, id],
    queryFn: ({ signal }): Promise<Read<Row>> =>
      isResource(name)
        ? recorded(async (fetch) => await resourceOf(clientWith(fetch), name).get(asSent(id), { signal }))
        : readEntry(name, id, signal),
  })
}

/** An entry of a list for administrators, found by its id. */
async function readEntry(name: CollectionName, id: string, signal: AbortSignal): Promise<Read<Row>> {
  const filter = `${name === 'key' ? 'key_id' : 'id'}=${quoted(id)}`
  const { body, exchange } = await readList(name, { filter, limit: '1' }, signal)
  const [entry] = body.data
  if (entry !== undefined) return { body: entry, exchange }
  const detail = t.record.unknownId(t.nouns[name].one, id)
  throw new RequestFailed({ status: 404, code: 'record_unknown', title: t.record.unknown, detail }, exchange)
}

export async function readList(
  name: CollectionName,
  parameters: ListParameters,
  signal?: AbortSignal,
): Promise<Read<List>> {
  if (!isResource(name))
    return await sendManage<List>(collections[name].path, { parameters: { ...parameters }, signal })
  const { filter, fields, search, sort, page, limit } = parameters
  return await recorded(async (fetch) => {
    const { data, meta, pagination } = await resourceOf(clientWith(fetch), name).list({
      filter,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client types a record; here it is any of three
      fields: fields?.split(',') as ['id'] | undefined,
      search,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sent as it is, so that the service explains it
      sort: sort as 'id' | undefined,
      page: page === undefined ? undefined : asSent(page),
      limit: limit === undefined ? undefined : asSent(limit),
      signal,
    })
    return { data, meta, pagination }
  })
}

export type ResourceName = 'product' | 'partner' | 'company'

export function isResource(name: CollectionName): name is ResourceName {
  return name === 'product' || name === 'partner' || name === 'company'
}

export function clientWith(recording: typeof fetch): Quartermaster<'string'> {
  return new Quartermaster({
    baseUrl: location.origin,
    apiKey: currentKey() ?? '',
    // Nothing changes while a person waits without a connection.
    retryForMs: isOffline() ? 0 : retryForMs,
    // A number would lose the digits beyond the 15th.
    decimals: 'string',
    cache,
    fetch: async (input, init) => exact(await recording(input, init)),
  })
}

/** The client knows the decimals of the service, but not those of the account. */
async function exact(response: Response): Promise<Response> {
  const { ok, status, headers } = response
  return ok && status !== 204
    ? new Response(quoteInexact(await response.text()), { status, headers })
    : response
}

export function resourceOf(
  client: Quartermaster<'string'>,
  name: CollectionName,
): WritableResource<Row & { readonly id: number }, unknown, Row> {
  const { products, partners, companies } = client
  const resource = name === 'product' ? products : name === 'partner' ? partners : companies
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client types a record; here it is any of three
  return resource as unknown as WritableResource<Row & { readonly id: number }, unknown, Row>
}

/** The client types numbers; a wrong number in the URL of the page is sent as it is, so that the service explains it. */
export function asSent(text: string): number {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sent as it is, so that the service explains it
  return text as unknown as number
}
