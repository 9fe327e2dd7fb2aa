import { type Change, type ChangesBody, changesOf, type FetchChanges, watchChanges } from './changes.ts'
import { type Condition, type Fields, fieldsOf } from './condition.ts'
import { quoteDecimals } from './decimals.ts'
import { type EndMarker, recordsOf } from './export-lines.ts'
import { iterate, type PagePosition, type RecordPage } from './iterate.ts'
import { limits } from './limits.ts'
import { type ListParameters, listCall } from './list-call.ts'
import { type Address, pathOf } from './own-fields.ts'
import { type CallOptions, jsonOf, type Reply, type Sender } from './sender.ts'
import {
  type Groups,
  type Numbers,
  type Ordered,
  type Summary,
  type SummaryGroup,
  type SummaryOptions,
  summaryParameters,
} from './summary.ts'
import { type SyncBatch, type SyncState, syncBatches } from './sync.ts'
import type { FilterText } from './template.ts'
import type { Meta, Pagination, SummaryMeta } from './wire.ts'

/** What `fields` may name besides the fields of a record. */
export interface Computed {
  /** The ETag of the record, as `ifMatch` and `$if_match` take it. */
  readonly etag: string
  /** Who created the record: a key id, or `import`; null if it is not known. */
  readonly created_by: string | null
  /** Who wrote it last: a key id, `import` or `restore`; null if it is not known. */
  readonly changed_by: string | null
}

/** Names of the requested fields. If the compiler does not know the array's elements, every field is optional. */
export type Names<R> = readonly ((keyof R | keyof Computed) & string)[]

/** A record with the requested fields; with all fields if none were requested. */
export type Selected<R, F> = F extends readonly (infer N)[]
  ? number extends F['length']
    ? Partial<Pick<R & Computed, N & keyof (R & Computed)>>
    : Pick<R & Computed, N & keyof (R & Computed)>
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
  /** Words that must each occur in a text field of the record, in whichever, ignoring case. */
  readonly search?: string | undefined
  /** The field by which the records are ordered; with `-` before it, descending. Default: `id`. */
  readonly sort?: SortOf<R> | undefined
}

/** Not a field that the account has declared. */
export type SortOf<R> = keyof R extends infer N
  ? N extends `x_${string}`
    ? never
    : N extends string
      ? N | `-${N}`
      : never
  : never

export interface WatchOptions<R, K, F> extends AllOptions<R, K, F> {
  /** The cursor of a change that you have received, or of an export with the same filter. */
  readonly since?: string | undefined
}

export interface SyncOptions<R, K, F> extends AllOptions<R, K, F> {
  /** The state that was stored with the last batch; or a cursor, if `changes` or `export` has made the copy. Default: a new copy. */
  readonly since?: SyncState | string | undefined
}

export interface ChangesOptions<R, K, F> extends WatchOptions<R, K, F> {
  /** Seconds to wait for the first change, if there is none yet: 0 to 30. Default: 0. */
  readonly wait?: number | undefined
}

export interface Page<R> {
  readonly data: R[]
  readonly meta: Meta
  readonly pagination: Pagination
  /** Changes with every write to this resource of the account: equal versions mean equal data. */
  readonly version: string | undefined
  readonly requestId: string | undefined
}

export interface ListBody<R> {
  readonly data: R[]
  readonly meta: Meta
  readonly pagination: Pagination
}

/** The reads that products, partners and companies have in common. R: the record; K: the kind of each field. */
export class Resource<R extends { readonly id: number }, K> {
  protected readonly sender: Sender
  protected readonly path: string

  /** The fields whose numbers become strings; undefined if decimals are numbers. */
  readonly #decimals: ReadonlySet<string> | undefined
  readonly #etags = new WeakMap<object, string>()

  constructor(sender: Sender, path: string, decimals?: ReadonlySet<string>) {
    this.sender = sender
    this.path = path
    this.#decimals = decimals
  }

  /** One page of the matching records, ordered by id unless `sort` says otherwise, and the total. */
  async list<const F extends Names<R> | undefined = undefined>(
    options: ListOptions<R, K, F> = {},
  ): Promise<Page<Selected<R, F>>> {
    const { page, limit, search, sort } = options
    const parameters = {
      fields: namesOf(options.fields)?.join(),
      filter: textOf(options.filter),
      search,
      sort,
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

  /** One record, by its id or by a unique field: `get({ x_sku: '4711' })`. Throws NotFound if there is none. */
  async get<const F extends Names<R> | undefined = undefined>(
    address: Address<K>,
    options: GetOptions<F> = {},
  ): Promise<Selected<R, F>> {
    const path = `${this.path}/${pathOf(address)}`
    const call = listCall(path, { fields: namesOf(options.fields)?.join() }, json, options)
    const reply = await this.sender.send({ ...call, cached: true })
    const { data }: { data: Selected<R, F> & object } = this.json(reply)
    return this.withEtag(data, reply)
  }

  /**
   * The number of the matching records, in groups of equal values, with sums, minima, maxima and averages of other fields: exact, and
   * from one snapshot. `summary({ group: ['categ_id'], sum: ['qty_available'] })`
   */
  async summary<
    const G extends Groups<K> = undefined,
    const Sum extends Numbers<K> = undefined,
    const Min extends Ordered<K> = undefined,
    const Max extends Ordered<K> = undefined,
    const Avg extends Numbers<K> = undefined,
  >(
    options: SummaryOptions<FilterOf<R, K>, G, Sum, Min, Max, Avg> = {},
  ): Promise<Summary<SummaryGroup<R, G, Sum, Min, Max, Avg>>> {
    const parameters = { filter: textOf(options.filter), ...summaryParameters(options) }
    const call = listCall(`${this.path}/summary`, parameters, json, options)
    const reply = await this.sender.send({ ...call, cached: true })
    const { data, meta }: { data: SummaryGroup<R, G, Sum, Min, Max, Avg>[]; meta: SummaryMeta } =
      this.json(reply)
    return { data, meta, version: versionOf(reply), requestId: reply.requestId }
  }

  /** The ETag of a record that `get` or `update` has returned. */
  etagOf(record: object): string | undefined {
    return this.#etags.get(record)
  }

  /**
   * Every matching record from one snapshot, in one response. Faster than `all`, but if the connection breaks it throws
   * StreamTruncated and must be started again. Returns the end marker, with the version of the snapshot and the cursor for
   * its `changes`.
   */
  async *export<const F extends Names<R> | undefined = undefined>(
    options: ExportOptions<R, K, F> = {},
  ): AsyncGenerator<Selected<R, F>, EndMarker, undefined> {
    const { records } = await this.#startExport<Selected<R, F>>(options)
    return yield* records
  }

  /**
   * The changes since a cursor: every record if there is none, the changes from now on if it is `now`. Ends when there are no
   * more, and returns the cursor with which to continue. Throws CursorExpired if changes may be missing.
   */
  changes<const F extends Names<R> | undefined = undefined>(
    options: ChangesOptions<R, K, F> = {},
  ): AsyncGenerator<Change<Selected<R, F>>, string, undefined> {
    return changesOf(this.#changes(options), options.since, options.wait ?? 0)
  }

  /**
   * Changes as they are written, without an end: from now on, or since a cursor. Resumes by itself after restarts and
   * failures. Throws CursorExpired if changes may be missing.
   */
  watch<const F extends Names<R> | undefined = undefined>(
    options: WatchOptions<R, K, F> = {},
  ): AsyncGenerator<Change<Selected<R, F>>, never, undefined> {
    return watchChanges(this.#changes(options), options.since ?? 'now', options.signal)
  }

  /**
   * Keeps a copy in step, without an end. Yields batches, each for one transaction: first every record, then every change. With
   * `since`, only what follows it. Resumes by itself. If changes may be missing, it walks through all records again, and the copy
   * stays complete meanwhile: records are marked, and what has no mark at the end is swept.
   */
  sync<const F extends Names<R> | undefined = undefined>(
    options: SyncOptions<R, K, F> = {},
  ): AsyncGenerator<SyncBatch<Selected<R, F>>, never, undefined> {
    if (options.fields !== undefined && !options.fields.includes('id'))
      throw new TypeError('fields must include id, because a copy needs it.')
    return syncBatches(this.#changes(options), options.since, options.signal)
  }

  /** The parsed body. The caller declares its type. */
  protected json(reply: Reply): ReturnType<typeof JSON.parse> {
    return jsonOf({ ...reply, body: this.#exact(reply.body) })
  }

  protected withEtag<S extends object>(record: S, { etag }: Reply): S {
    if (etag !== undefined) this.#etags.set(record, etag)
    return record
  }

  #exact(text: string): string {
    return this.#decimals === undefined ? text : quoteDecimals(text, this.#decimals)
  }

  #changes<F extends Names<R> | undefined>({
    fields,
    filter,
    limit = limits.changesPageRecords,
    signal,
    timeoutMs,
  }: AllOptions<R, K, F>): FetchChanges<Selected<R, F>> {
    const query = { fields: namesOf(fields)?.join(), filter: textOf(filter), limit }
    return async (since, wait) => {
      const parameters = { ...query, since, ...(wait > 0 ? { wait } : {}) }
      const call = listCall(`${this.path}/changes`, parameters, json, { signal, timeoutMs })
      const body: ChangesBody<Selected<R, F>> = this.json(
        await this.sender.send({ ...call, waitMs: wait * 1000 }),
      )
      return body
    }
  }

  async #startExport<S>(
    options: ExportOptions<R, K, readonly string[] | undefined>,
  ): Promise<{ cursor: string | undefined; records: AsyncGenerator<S, EndMarker, undefined> }> {
    const parameters = { fields: namesOf(options.fields)?.join(), filter: textOf(options.filter) }
    const { response, chunks } = await this.sender.stream(
      listCall(this.path, parameters, 'application/x-ndjson', options),
    )
    const cursor = response.headers.get('x-changes-cursor') ?? undefined
    return {
      cursor,
      records: recordsOf<S>(
        chunks,
        (line) => this.#exact(line),
        response.headers.get('x-request-id') ?? undefined,
        cursor,
      ),
    }
  }

  /** A condition to use more than once: `where((product) => product.list_price.lt(5))`. */
  where(build: (fields: Fields<R, K>) => Condition<R>): Condition<R> {
    return build(fieldsOf<R, K>())
  }

  async #page<S>(parameters: ListParameters, options: CallOptions, cached: boolean): Promise<Page<S>> {
    const reply = await this.sender.send({ ...listCall(this.path, parameters, json, options), cached })
    const { data, meta, pagination }: ListBody<S> = this.json(reply)
    return { data, meta, pagination, version: versionOf(reply), requestId: reply.requestId }
  }
}

const json = 'application/json'

export function namesOf(fields: readonly string[] | undefined): readonly string[] | undefined {
  if (fields?.length === 0) throw new TypeError('fields is empty. Leave it out to get all fields.')
  return fields
}

export function textOf<R, K>(filter: FilterOf<R, K> | undefined): string | undefined {
  return filter === undefined
    ? undefined
    : String(typeof filter === 'function' ? filter(fieldsOf<R, K>()) : filter)
}

/** An ETag is `W/"VERSION-HASH"`: the version identifies the snapshot, the hash the request. */
function versionOf({ etag }: Reply): string | undefined {
  return /^W\/"([^"-]+-\d+)-/.exec(etag ?? '')?.[1]
}
