import { type Condition, type Fields, fieldsOf } from './condition.ts'
import { type EndMarker, recordsOf } from './export-lines.ts'
import { iterate, type PagePosition, type RecordPage } from './iterate.ts'
import { limits } from './limits.ts'
import { type ListParameters, listCall } from './list-call.ts'
import { type CallOptions, jsonOf, type Reply, type Sender } from './sender.ts'
import type { FilterText } from './template.ts'
import type { Meta, Pagination } from './wire.ts'

/** Names of the requested fields. If the compiler does not know the array's elements, every field is optional. */
export type Names<R> = readonly (keyof R & string)[]

/** A record with the requested fields; with all fields if none were requested. */
export type Selected<R, F> = F extends readonly (infer N)[]
  ? number extends F['length']
    ? Partial<Pick<R, N & keyof R>>
    : Pick<R, N & keyof R>
  : R

/** A filter: a string, a `filter` template, a condition, or a function that builds a condition from the fields. */
export type FilterOf<R, K> = string | FilterText | Condition<R> | ((fields: Fields<R, K>) => Condition<R>)

export interface GetOptions<F> extends CallOptions {
  readonly fields?: F | undefined
}

export interface ExportOptions<R, K, F> extends GetOptions<F> {
  readonly filter?: FilterOf<R, K> | undefined
}

export interface AllOptions<R, K, F> extends ExportOptions<R, K, F> {
  /** Records per page, 1 to 1000. */
  readonly limit?: number | undefined
}

export interface ListOptions<R, K, F> extends AllOptions<R, K, F> {
  /** The page number, from 1. */
  readonly page?: number | undefined
}

export interface Page<R> {
  readonly data: R[]
  readonly meta: Meta
  readonly pagination: Pagination
  /** Changes with every write to this resource of the account: equal versions mean equal data. */
  readonly version: string | undefined
  readonly requestId: string | undefined
}

interface ListBody<R> {
  readonly data: R[]
  readonly meta: Meta
  readonly pagination: Pagination
}

/** The reads that products, partners and companies have in common. R: the record; K: the kind of each field. */
export class Resource<R extends { readonly id: number }, K> {
  protected readonly sender: Sender
  protected readonly path: string

  constructor(sender: Sender, path: string) {
    this.sender = sender
    this.path = path
  }

  /** One page of the matching records, ordered by id, and the total. */
  async list<const F extends Names<R> | undefined = undefined>(
    options: ListOptions<R, K, F> = {},
  ): Promise<Page<Selected<R, F>>> {
    const { page, limit } = options
    const parameters = {
      fields: namesOf(options.fields)?.join(),
      filter: textOf(options.filter),
      page,
      limit,
    }
    return this.#page(parameters, options, true)
  }

  /** Every matching record exactly once, ordered by id, even while others write. The next page is prefetched. */
  async *all<const F extends Names<R> | undefined = undefined>(
    options: AllOptions<R, K, F> = {},
  ): AsyncGenerator<Selected<R, F>, void, undefined> {
    const { limit = limits.iterationPageRecords, timeoutMs } = options
    const names = namesOf(options.fields)
    const filter = textOf(options.filter)
    // Iteration needs the ids: if the caller does not request them, they are requested and removed again.
    const isIdExtra = names !== undefined && !names.includes('id')
    const ended = new AbortController()
    const signal =
      options.signal === undefined ? ended.signal : AbortSignal.any([ended.signal, options.signal])
    const fields = (isIdExtra ? [...names, 'id'] : names)?.join()
    // The id bounds are separate parameters: combining them with the filter could change its meaning or exceed its limits.
    const fetchPage = async ({
      after: after_id,
      upTo: max_id,
      page,
    }: PagePosition): Promise<RecordPage<Selected<R, F> & { id: number }>> => {
      const parameters = { fields, filter, after_id, max_id, page, limit }
      const { data, pagination, version } = await this.#page<Selected<R, F> & { id: number }>(
        parameters,
        { signal, timeoutMs },
        false,
      )
      return { records: data, isLast: pagination.nextPage === null, version }
    }
    try {
      for await (const record of iterate(fetchPage, ({ id }) => id)) {
        if (isIdExtra) Reflect.deleteProperty(record, 'id')
        yield record
      }
    } finally {
      ended.abort()
    }
  }

  /** One record. Throws NotFound if no record has this id. */
  async get<const F extends Names<R> | undefined = undefined>(
    id: number,
    options: GetOptions<F> = {},
  ): Promise<Selected<R, F>> {
    if (!/^\d+$/.test(String(id))) throw new TypeError(`${String(id)} is not an id: pass a positive integer.`)
    const call = listCall(`${this.path}/${id}`, { fields: namesOf(options.fields)?.join() }, json, options)
    const { data }: { data: Selected<R, F> } = jsonOf(await this.sender.send({ ...call, cached: true }))
    return data
  }

  /**
   * Every matching record from one snapshot, in one response. Faster than `all`, but if the connection breaks it throws
   * StreamTruncated and must be started again. Returns the end marker, whose version identifies the snapshot.
   */
  async *export<const F extends Names<R> | undefined = undefined>(
    options: ExportOptions<R, K, F> = {},
  ): AsyncGenerator<Selected<R, F>, EndMarker, undefined> {
    const parameters = { fields: namesOf(options.fields)?.join(), filter: textOf(options.filter) }
    const { response, chunks } = await this.sender.stream(
      listCall(this.path, parameters, 'application/x-ndjson', options),
    )
    return yield* recordsOf<Selected<R, F>>(chunks, response.headers.get('x-request-id') ?? undefined)
  }

  /** A condition to use more than once: `where((product) => product.list_price.lt(5))`. */
  where(build: (fields: Fields<R, K>) => Condition<R>): Condition<R> {
    return build(fieldsOf<R, K>())
  }

  async #page<S>(parameters: ListParameters, options: CallOptions, cached: boolean): Promise<Page<S>> {
    const reply = await this.sender.send({ ...listCall(this.path, parameters, json, options), cached })
    const { data, meta, pagination }: ListBody<S> = jsonOf(reply)
    return { data, meta, pagination, version: versionOf(reply), requestId: reply.requestId }
  }
}

const json = 'application/json'

function namesOf(fields: readonly string[] | undefined): readonly string[] | undefined {
  if (fields?.length === 0) throw new TypeError('fields is empty. Leave it out to get all fields.')
  return fields
}

function textOf<R, K>(filter: FilterOf<R, K> | undefined): string | undefined {
  return filter === undefined
    ? undefined
    : String(typeof filter === 'function' ? filter(fieldsOf<R, K>()) : filter)
}

/** An ETag is `W/"VERSION-HASH"`: the version identifies the snapshot, the hash the request. */
function versionOf({ etag }: Reply): string | undefined {
  return /^W\/"([^"-]+-\d+)-/.exec(etag ?? '')?.[1]
}
