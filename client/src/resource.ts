import { type Condition, type Fields, fieldsOf } from './condition.ts'
import { type EndMark, recordsOf } from './export-lines.ts'
import { limits } from './limits.ts'
import { type ListParameters, listCall } from './list-call.ts'
import { type CallOptions, jsonOf, type Reply, type Sender } from './sender.ts'
import type { FilterText } from './template.ts'
import { type Place, type WalkPage, walk } from './walk.ts'
import type { Meta, Pagination } from './wire.ts'

/** Names of fields to have; an array whose content is not known to the compiler makes every field optional. */
export type Names<R> = readonly (keyof R & string)[]

/** A record with the fields that were asked for, and all of them where none were named. */
export type Selected<R, F> = F extends readonly (infer N)[]
  ? number extends F['length']
    ? Partial<Pick<R, N & keyof R>>
    : Pick<R, N & keyof R>
  : R

/** A filter: text, what the tag `filter` made, a condition, or a function from the fields to one. */
export type FilterOf<R, K> = string | FilterText | Condition<R> | ((fields: Fields<R, K>) => Condition<R>)

export interface OneOptions<F> extends CallOptions {
  readonly fields?: F | undefined
}

export interface SelectOptions<R, K, F> extends OneOptions<F> {
  readonly filter?: FilterOf<R, K> | undefined
}

export interface WalkOptions<R, K, F> extends SelectOptions<R, K, F> {
  /** Records per page that is fetched, 1 to 1000. */
  readonly limit?: number | undefined
}

export interface ListOptions<R, K, F> extends WalkOptions<R, K, F> {
  /** From 1. */
  readonly page?: number | undefined
}

export interface Page<R> {
  readonly data: R[]
  readonly meta: Meta
  readonly pagination: Pagination
  /** The same as long as nobody writes to this resource of the account: equal versions are equal data. */
  readonly version: string | undefined
  readonly requestId: string | undefined
}

interface ListBody<R> {
  readonly data: R[]
  readonly meta: Meta
  readonly pagination: Pagination
}

/** What can be read of products, partners and companies alike. R: a record; K: what kind each of its fields is. */
export class Resource<R extends { readonly id: number }, K> {
  protected readonly sender: Sender
  protected readonly path: string

  constructor(sender: Sender, path: string) {
    this.sender = sender
    this.path = path
  }

  /** One page of the records that match, by id, and how many there are in all. */
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

  /** Every record that matches, once, by id, while others write. Pages are fetched ahead of need. */
  async *all<const F extends Names<R> | undefined = undefined>(
    options: WalkOptions<R, K, F> = {},
  ): AsyncGenerator<Selected<R, F>, void, undefined> {
    const { limit = limits.walkPageRecords, timeoutMs } = options
    const names = namesOf(options.fields)
    const filter = textOf(options.filter)
    // The walk goes by ids: where none is wanted, it is asked for all the same, and taken out again.
    const isIdExtra = names !== undefined && !names.includes('id')
    const stopped = new AbortController()
    const signal =
      options.signal === undefined ? stopped.signal : AbortSignal.any([stopped.signal, options.signal])
    const fields = (isIdExtra ? [...names, 'id'] : names)?.join()
    // The ids go beside the filter: its text means what it means only as it was written, and may be at its bounds.
    const ask = async ({
      after: after_id,
      upTo: max_id,
      page,
    }: Place): Promise<WalkPage<Selected<R, F> & { id: number }>> => {
      const parameters = { fields, filter, after_id, max_id, page, limit }
      const { data, pagination, version } = await this.#page<Selected<R, F> & { id: number }>(
        parameters,
        { signal, timeoutMs },
        false,
      )
      return { records: data, isLast: pagination.nextPage === null, version }
    }
    try {
      for await (const record of walk(ask, ({ id }) => id)) {
        if (isIdExtra) Reflect.deleteProperty(record, 'id')
        yield record
      }
    } finally {
      stopped.abort()
    }
  }

  /** One record; NotFound where none has this id. */
  async get<const F extends Names<R> | undefined = undefined>(
    id: number,
    options: OneOptions<F> = {},
  ): Promise<Selected<R, F>> {
    if (!/^\d+$/.test(String(id)))
      throw new TypeError(`${String(id)} is no id: it must be a positive integer.`)
    const call = listCall(`${this.path}/${id}`, { fields: namesOf(options.fields)?.join() }, json, options)
    const { data }: { data: Selected<R, F> } = jsonOf(await this.sender.send({ ...call, cached: true }))
    return data
  }

  /**
   * Every record that matches, in one state of the data and in one answer: faster than a walk, but begun anew when the
   * connection breaks, with StreamCutShort. Returns the end mark, whose version names that state.
   */
  async *export<const F extends Names<R> | undefined = undefined>(
    options: SelectOptions<R, K, F> = {},
  ): AsyncGenerator<Selected<R, F>, EndMark, undefined> {
    const parameters = { fields: namesOf(options.fields)?.join(), filter: textOf(options.filter) }
    const { response, chunks } = await this.sender.stream(
      listCall(this.path, parameters, 'application/x-ndjson', options),
    )
    return yield* recordsOf<Selected<R, F>>(chunks, response.headers.get('x-request-id') ?? undefined)
  }

  /** A condition to use more than once: `where((product) => product.list_price.lt(5))`. */
  where(make: (fields: Fields<R, K>) => Condition<R>): Condition<R> {
    return make(fieldsOf<R, K>())
  }

  async #page<S>(parameters: ListParameters, options: CallOptions, cached: boolean): Promise<Page<S>> {
    const reply = await this.sender.send({ ...listCall(this.path, parameters, json, options), cached })
    const { data, meta, pagination }: ListBody<S> = jsonOf(reply)
    return { data, meta, pagination, version: versionOf(reply), requestId: reply.requestId }
  }
}

const json = 'application/json'

function namesOf(fields: readonly string[] | undefined): readonly string[] | undefined {
  if (fields?.length === 0) throw new TypeError('fields is empty. Leave it out to have all fields.')
  return fields
}

function textOf<R, K>(filter: FilterOf<R, K> | undefined): string | undefined {
  return filter === undefined
    ? undefined
    : String(typeof filter === 'function' ? filter(fieldsOf<R, K>()) : filter)
}

/** An ETag is `W/"VERSION-HASH"`: the version identifies the state of the data, the hash the request. */
function versionOf({ etag }: Reply): string | undefined {
  return /^W\/"([^"-]+-\d+)-/.exec(etag ?? '')?.[1]
}
