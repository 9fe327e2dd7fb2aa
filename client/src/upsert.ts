import { ConnectionFailed, errorOf } from './errors.ts'
import { limits } from './limits.ts'
import type { UniqueValue } from './own-fields.ts'
import type { Problem } from './wire.ts'

/** The row is written only if its record has this `etag`. Otherwise it is rejected, with the code `changed` or `record_unknown`. */
interface Conditional {
  readonly $if_match?: string
}

/** Inserts the record with this id, or changes the fields that the row has; `$delete` deletes the record with this id. */
export type UpsertRow<N> = Conditional &
  (
    | (Partial<N> & { readonly id: number; readonly create_date?: string; readonly write_date?: string })
    | { readonly $delete: number }
  )

/** The same with the value of a unique field instead of the id. The service assigns the ids. */
export type KeyedRow<N, K> = Conditional &
  (
    | (Partial<N> & { readonly create_date?: string; readonly write_date?: string })
    | { readonly $delete: UniqueValue<K> }
  )

/** Numbers of rows. `read` is the sum of the others. */
export interface UpsertTotals {
  readonly read: number
  readonly inserted: number
  readonly updated: number
  readonly unchanged: number
  readonly deleted: number
  readonly rejected: number
  /** Set if nobody had assigned ids before: from now on your system does, and Quartermaster assigns those from 2^32 on. */
  readonly idsNow?: 'external'
}

export interface RowFault {
  /** Empty if the fault is not in a single field. */
  readonly field: string
  readonly reason: string
  /** The beginning of the value. */
  readonly value: string
  /** Why a valid row was not written. */
  readonly code?: 'changed' | 'record_unknown' | 'record_exists' | 'key_taken'
}

/** A row that the service has not written. */
export interface RejectedRow<Row> extends RowFault {
  readonly row: Row
  /** The number of rows before it. */
  readonly index: number
  /** Of its record, if there is one. */
  readonly id?: number
  readonly more?: readonly RowFault[]
}

/** The response to a batch: rejected rows with their lines in the request, and the totals. */
export interface BatchReply {
  readonly rejected: readonly (RowFault & { readonly line: number; readonly more?: readonly RowFault[] })[]
  readonly totals: UpsertTotals
}

type BatchLine = BatchReply['rejected'][number] | { $end: UpsertTotals } | { $error: Problem }

/** Sends the rows as NDJSON, and retries. */
export type SendBatch = (body: string) => Promise<BatchReply>

export interface UpsertEvents<Row> {
  /** Called after each confirmed request with the totals so far. */
  readonly onProgress?: ((totals: UpsertTotals) => void) | undefined
  readonly onRejected?: ((rejected: RejectedRow<Row>) => void) | undefined
}

/**
 * Sends rows in requests of limited size, one after the other. A request is confirmed by its end marker. Until then its rows are
 * in memory, and are sent again after a failure; rows that were written already are then unchanged.
 */
export async function upsertRows<Row extends object>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  send: SendBatch,
  { onProgress, onRejected }: UpsertEvents<Row>,
): Promise<UpsertTotals> {
  let totals: UpsertTotals = { read: 0, inserted: 0, updated: 0, unchanged: 0, deleted: 0, rejected: 0 }
  let pending: Row[] = []
  let body = ''
  const flush = async () => {
    if (pending.length === 0) return
    const sent = pending
    const reply = await send(body)
    ;[pending, body] = [[], '']
    for (const { line, ...fault } of reply.rejected) {
      const row = sent[line - 1]
      if (row !== undefined) onRejected?.({ ...fault, row, index: totals.read + line - 1 })
    }
    totals = sumOf(totals, reply.totals)
    onProgress?.(totals)
  }
  for await (const row of rows) {
    pending.push(row)
    body += `${JSON.stringify(row)}\n`
    if (pending.length >= limits.upsertRows || body.length >= limits.upsertCharacters) await flush()
  }
  await flush()
  return totals
}

function sumOf(one: UpsertTotals, other: UpsertTotals): UpsertTotals {
  return {
    read: one.read + other.read,
    inserted: one.inserted + other.inserted,
    updated: one.updated + other.updated,
    unchanged: one.unchanged + other.unchanged,
    deleted: one.deleted + other.deleted,
    rejected: one.rejected + other.rejected,
    ...((one.idsNow ?? other.idsNow) ? { idsNow: 'external' } : {}),
  }
}

/** Parses the response. Throws an error that is retried if the response is truncated. */
export function batchReplyOf(text: string, requestId: string | undefined): BatchReply {
  const rejected: BatchReply['rejected'][number][] = []
  for (const line of text.split('\n').slice(0, -1)) {
    const parsed: BatchLine = JSON.parse(line)
    if ('$end' in parsed) return { rejected, totals: parsed.$end }
    if ('$error' in parsed) {
      const { status, code, detail: message, errors: faults = [] } = parsed.$error
      throw errorOf({ status, code, message, requestId, faults })
    }
    rejected.push(parsed)
  }
  const message = 'The response to the batch was truncated.'
  throw new ConnectionFailed({ status: 200, code: 'connection_failed', message, requestId })
}
