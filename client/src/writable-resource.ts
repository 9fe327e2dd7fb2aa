import { UnexpectedResponse } from './errors.ts'
import { limits } from './limits.ts'
import { type Address, pathOf, type UniqueValue } from './own-fields.ts'
import { randomText } from './random-text.ts'
import { Resource } from './resource.ts'
import type { Call, CallOptions, Reply } from './sender.ts'
import {
  batchReplyOf,
  type KeyedRow,
  type UpsertEvents,
  type UpsertRow,
  type UpsertTotals,
  upsertRows,
} from './upsert.ts'

export interface CreateOptions extends CallOptions {
  /**
   * The same key and fields create one record, however often they are sent within 24 hours. By default each call
   * generates a key, which makes its retries safe. Pass your own, such as an order number, to be safe across restarts
   * of your program.
   */
  readonly idempotencyKey?: string | undefined
}

export interface DeleteOptions extends CreateOptions {
  /**
   * Only if no one else has changed the record: an `ETag`, or the record as `get` or `update` has returned it. Otherwise the call
   * throws PreconditionFailed.
   */
  readonly ifMatch?: string | object | undefined
}

export interface UpsertOptions<Row> extends CallOptions, UpsertEvents<Row> {
  /**
   * `update`: changes and deletes only records that exist, and rejects a row with an unknown id. Needed for records whose ids
   * Quartermaster assigned, except those from 2^32 on. `insert`: changes no record that exists. Default: `upsert`.
   */
  readonly mode?: 'upsert' | 'update' | 'insert' | undefined
}

export interface UpsertByKeyOptions<Row, K> extends UpsertOptions<Row> {
  /** The unique field by which rows name their records: `x_sku`. */
  readonly key: keyof UniqueValue<K> & string
}

/** The numbers to add, by the decimals of a record. A string has the digits of a number, which no JSON parser rounds. */
export type Adjustment<K> = {
  readonly [F in keyof K as K[F] extends 'decimal' ? F : never]?: number | string
}

/** Reads and writes. R: the record; K: the kind of each field; N: the fields of a new record. */
export class WritableResource<R extends { readonly id: number }, K, N> extends Resource<R, K> {
  /** Creates a record: exactly one, even if the request is retried. */
  async create(record: N, options: CreateOptions = {}): Promise<{ id: number }> {
    const reply = await this.sender.send({
      ...writeCall(options),
      method: 'POST',
      path: this.path,
      body: JSON.stringify(record),
    })
    return { id: idOf(this.json(reply), reply.requestId) }
  }

  /**
   * Changes fields of a record: those of `patch`; null clears a field. Returns the complete record. Throws NotFound if no record has this
   * id, and PreconditionFailed if none has this unique value.
   */
  async update(address: Address<K>, patch: Partial<N>, options: DeleteOptions = {}): Promise<R> {
    // By a unique field, a PATCH without a condition creates a record that does not exist.
    const ifMatch = options.ifMatch ?? (typeof address === 'number' ? undefined : '*')
    return await this.#patch(address, patch, { ...options, ifMatch })
  }

  /**
   * Changes the record with this value of a unique field, or creates it: `put({ x_sku: '4711' }, { name: 'Bolt' })`. Returns the complete
   * record. However many programs send the same value, it is one record.
   */
  async put(key: UniqueValue<K>, record: Partial<N>, options: DeleteOptions = {}): Promise<R> {
    return await this.#patch(key, record, options)
  }

  /**
   * Adds to numbers of a record, such as `{ qty_available: -3 }`, whatever others write at the same time. Retries of a call count once.
   * Returns the complete record.
   */
  async adjust(address: Address<K>, adjustment: Adjustment<K>, options: DeleteOptions = {}): Promise<R> {
    const reply = await this.sender.send({
      ...this.#conditional(options),
      method: 'POST',
      path: `${this.path}/${pathOf(address)}/adjust`,
      body: JSON.stringify(adjustment),
    })
    const { data }: { data: R } = this.json(reply)
    return this.withEtag(data, reply)
  }

  /** Deletes a record. Throws NotFound if there is none. */
  async delete(address: Address<K>, options: DeleteOptions = {}): Promise<void> {
    await this.sender.send({
      ...this.#conditional(options),
      method: 'DELETE',
      path: `${this.path}/${pathOf(address)}`,
    })
  }

  /**
   * Inserts, changes and deletes any number of records by their ids, or with `key` by a unique field. Sends them in batches, one after the
   * other, and sends a batch again if it was not confirmed. Rows that the service rejects are passed to `onRejected`; the others are written.
   */
  upsert<Row extends UpsertRow<N>>(
    rows: Iterable<Row> | AsyncIterable<Row>,
    options?: UpsertOptions<Row>,
  ): Promise<UpsertTotals>
  upsert<Row extends KeyedRow<N, K>>(
    rows: Iterable<Row> | AsyncIterable<Row>,
    options: UpsertByKeyOptions<Row, K>,
  ): Promise<UpsertTotals>
  async upsert<Row extends object>(
    rows: Iterable<Row> | AsyncIterable<Row>,
    options: UpsertOptions<Row> & { readonly key?: string } = {},
  ): Promise<UpsertTotals> {
    const { key, mode, onProgress, onRejected, signal, timeoutMs = limits.upsertAttemptMs } = options
    const headers = { accept: 'application/x-ndjson', 'content-type': 'application/x-ndjson' }
    const parameters = { ...(key === undefined ? {} : { key }), ...(mode === undefined ? {} : { mode }) }
    const query = String(new URLSearchParams(parameters))
    const path = `${this.path}/batch${query === '' ? '' : `?${query}`}`
    const call = { path, parameters, headers, signal, timeoutMs }
    const send = (body: string) =>
      this.sender.read({ ...call, method: 'POST', body }, async (response) =>
        batchReplyOf(await response.text(), response.headers.get('x-request-id') ?? undefined),
      )
    return await upsertRows(rows, send, { onProgress, onRejected })
  }

  async #patch(address: Address<K>, patch: Partial<N>, options: DeleteOptions): Promise<R> {
    const reply = await this.sender.send({
      ...this.#conditional(options),
      method: 'PATCH',
      path: `${this.path}/${pathOf(address)}`,
      body: JSON.stringify(patch),
    })
    const { data }: { data: R } = this.json(reply)
    return this.withEtag(data, reply)
  }

  #conditional({ ifMatch, ...options }: DeleteOptions): Omit<Call, 'method' | 'path'> {
    const call = writeCall(options)
    if (ifMatch === undefined) return call
    const etag = typeof ifMatch === 'string' ? ifMatch : this.etagOf(ifMatch)
    if (etag === undefined)
      throw new TypeError('ifMatch must be an ETag, or a record as get or update has returned it.')
    return { ...call, headers: { ...call.headers, 'if-match': etag } }
  }
}

function writeCall({
  idempotencyKey = randomText(limits.idempotencyKeyBytes),
  signal,
  timeoutMs,
}: CreateOptions) {
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    'idempotency-key': idempotencyKey,
  }
  return { parameters: {}, headers, signal, timeoutMs }
}

/** Accepts both response bodies of the specification: `{"data":{"id":123}}` and `123`. */
function idOf(
  body: { readonly data?: { readonly id?: unknown } | null } | number | null,
  requestId: Reply['requestId'],
): number {
  const id = typeof body === 'number' ? body : body?.data?.id
  if (typeof id === 'number') return id
  const message = 'The response to the create has no id.'
  throw new UnexpectedResponse({ status: 201, code: 'response_unexpected', message, requestId })
}
