import type { KeyField } from '../catalog/own-fields.ts'
import { excerpt } from '../errors/faults.ts'
import { type KeyChanges, keyChanges } from '../writes/record-keys.ts'
import { ifMatchMember } from './columns.ts'
import type { WriteMode } from './id-rules.ts'
import { type KeyLedger, textOfCell } from './key-ledger.ts'
import type { Row, RowCode } from './row.ts'

/** Of a record, in the order of the catalog's fields and COPY's text format; undefined if the row does not contain the field. */
type Cells = readonly (string | undefined)[]

export interface RowRejection {
  readonly field: string
  readonly reason: string
  readonly code?: RowCode
  /** Default: the id, if the field is the id. */
  readonly value?: string
}

export interface RejectedLine extends RowRejection {
  readonly line: number
  readonly id?: string
  /** If rows name their records by a unique field: its value. */
  readonly key?: string
}

/** What the fold has to know about the transaction that writes the rows. */
export interface FoldContext {
  readonly mode: WriteMode
  readonly noun: string
  /** The value of each field that a new record does not have. */
  readonly defaults: readonly string[]
  readonly writeDateIndex: number
  readonly writtenAt: string
  /** Why no record can be created from the row. */
  readonly faultOfNew: (row: Cells) => RowRejection | undefined
  /** Whether the ETag is that of the stored record, before the batch. */
  readonly isStored: (etag: string, id: string) => boolean
  readonly keys: KeyLedger
  /** If rows name their records by a unique field: the field, and the id of the next record. */
  readonly address?: { readonly field: KeyField; readonly index: number; readonly nextId: () => string }
}

interface FoldedRecord {
  readonly id: string
  /** Before the batch. */
  readonly stored: Cells | undefined
  current: Cells | undefined
  isWritten: boolean
  isDeleted: boolean
}

/**
 * Rows that take effect one after the other, with the same result as if each were written by itself: rows of one record, rows with a
 * condition, and all rows if a field is unique, because a value may move from one record to another. So the result is the same however
 * the rows of an input are divided into batches, and a batch that alternates upserts and deletes of one record is written like any other.
 */
export class Fold {
  readonly #context: FoldContext
  readonly #stored: ReadonlyMap<string, Cells>
  readonly #records = new Map<string, FoldedRecord>()
  readonly #rejected: RejectedLine[] = []
  readonly #counts = { inserted: 0, updated: 0, deleted: 0 }
  #highestInserted = 0

  /** `stored`: all cells of the records before the batch, by their ids. */
  constructor(stored: ReadonlyMap<string, Cells>, context: FoldContext) {
    this.#stored = stored
    this.#context = context
  }

  apply(row: Row): void {
    const id = this.#idOf(row)
    const record = id === undefined ? undefined : this.#recordOf(id)
    const fault = this.#faultOfCondition(row, record) ?? this.#write(row, id, record)
    if (fault === undefined) return
    const key = this.#context.address === undefined ? {} : { key: this.#addressOf(row).value }
    this.#rejected.push({ line: row.line, ...(id === undefined ? {} : { id }), ...key, ...fault })
  }

  /** Returns why the row cannot be written. */
  #write(row: Row, id: string | undefined, record: FoldedRecord | undefined): RowRejection | undefined {
    if (row.isDelete === true) return this.#delete(record)
    if (record?.current === undefined) return this.#insert(row, id)
    return this.#update(row, record, record.current)
  }

  #delete(record: FoldedRecord | undefined): RowRejection | undefined {
    if (this.#context.mode === 'insert')
      return { field: '$delete', reason: 'is not possible with mode=insert' }
    if (record?.current === undefined) return undefined
    this.#counts.deleted += 1
    record.isDeleted ||= record.stored !== undefined
    this.#set(record, undefined)
    return undefined
  }

  #insert({ cells }: Row, id: string | undefined): RowRejection | undefined {
    const { defaults, faultOfNew, address } = this.#context
    const fault = faultOfNew(cells) ?? this.#faultOfKeys(cells, id)
    if (fault !== undefined) return fault
    const newId = id ?? address?.nextId() ?? ''
    this.#counts.inserted += 1
    this.#highestInserted = Math.max(this.#highestInserted, Number(newId))
    const values = defaults.map((fallback, i) => cells[i] ?? fallback)
    this.#set(this.#recordOf(newId), [newId, ...values.slice(1)])
    return undefined
  }

  #update(row: Row, record: FoldedRecord, before: Cells): RowRejection | undefined {
    const { cells } = row
    const { mode, noun, writeDateIndex, writtenAt } = this.#context
    if (mode === 'insert') {
      const reason = `is that of ${noun} ${record.id}, and mode=insert changes none`
      return { ...this.#addressOf(row), code: 'record_exists', reason }
    }
    const fault = this.#faultOfKeys(cells, record.id)
    if (fault !== undefined) return fault
    if (!cells.some((cell, i) => cell !== undefined && cell !== before[i])) return undefined
    this.#counts.updated += 1
    this.#set(
      record,
      before.map((cell, i) => cells[i] ?? (i === writeDateIndex ? writtenAt : cell)),
    )
    return undefined
  }

  #set(record: FoldedRecord, after: Cells | undefined): void {
    this.#context.keys.move(record.id, record.current, after)
    record.current = after
    record.isWritten = true
  }

  #idOf({ cells }: Row): string | undefined {
    const { address, keys } = this.#context
    if (address === undefined) return cells[0] ?? ''
    const { field, index } = address
    const value = textOfCell(field, cells[index])
    return value === undefined ? undefined : keys.holderOf({ field, value })
  }

  #addressOf({ cells }: Row): { readonly field: string; readonly value: string } {
    const { address } = this.#context
    if (address === undefined) return { field: 'id', value: cells[0] ?? '' }
    return { field: address.field.name, value: textOfCell(address.field, cells[address.index]) ?? '' }
  }

  #recordOf(id: string): FoldedRecord {
    const found = this.#records.get(id)
    if (found !== undefined) return found
    const stored = this.#stored.get(id)
    const record = { id, stored, current: stored, isWritten: false, isDeleted: false }
    this.#records.set(id, record)
    return record
  }

  #faultOfKeys(cells: Cells, id: string | undefined): RowRejection | undefined {
    const taken = this.#context.keys.takenFrom(cells, id)
    if (taken === undefined) return undefined
    return {
      field: taken.field.name,
      code: 'key_taken',
      reason: `is that of ${this.#context.noun} ${taken.id}`,
      value: excerpt(taken.value),
    }
  }

  #faultOfCondition(
    { cells, isDelete, ifMatch }: Row,
    record: FoldedRecord | undefined,
  ): RowRejection | undefined {
    if (ifMatch === undefined || isApplied(cells, isDelete, record?.current)) return undefined
    const rejection = { field: ifMatchMember, value: ifMatch }
    if (record?.current === undefined)
      return {
        ...rejection,
        code: 'record_unknown',
        reason: `has no record: none has this ${this.#addressName}`,
      }
    // No client knows the ETag of what an earlier row of this transaction has written.
    if (!record.isWritten && this.#context.isStored(ifMatch, record.id)) return undefined
    return { ...rejection, code: 'changed', reason: "is no longer the record's ETag: it was changed" }
  }

  get #addressName(): string {
    return this.#context.address?.field.name ?? 'id'
  }

  /** What to do with the stored records, and what the rows did, as if each had a transaction of its own. */
  result(): Folded {
    const records = [...this.#records.values()]
    const isNew = ({ stored, isDeleted }: FoldedRecord) => stored === undefined || isDeleted
    const currentOf = (found: readonly FoldedRecord[]) =>
      found.flatMap(({ current }) => (current === undefined ? [] : [current]))
    const { keys } = this.#context
    return {
      deletes: records.filter(({ isDeleted }) => isDeleted).map(({ id }) => id),
      inserts: currentOf(records.filter(isNew)),
      updates: currentOf(
        records.filter((record) => !isNew(record) && isChanged(record.stored, record.current)),
      ),
      counts: { ...this.#counts },
      highestInserted: this.#highestInserted,
      rejected: this.#rejected,
      keys: keyChanges(
        records.flatMap(({ id, stored }) => keys.heldBy(id, stored)),
        records.flatMap(({ id, current }) => keys.heldBy(id, current)),
      ),
    }
  }
}

export interface Folded {
  readonly deletes: readonly string[]
  /** All cells of the records to insert. */
  readonly inserts: readonly Cells[]
  /** All cells of the records to update. */
  readonly updates: readonly Cells[]
  readonly counts: { readonly inserted: number; readonly updated: number; readonly deleted: number }
  /** Also of records that a later row deleted: their ids are never assigned again. 0 if there are none. */
  readonly highestInserted: number
  readonly rejected: readonly RejectedLine[]
  readonly keys: KeyChanges
}

function isChanged(stored: Cells | undefined, current: Cells | undefined): boolean {
  return stored?.some((cell, i) => cell !== current?.[i]) === true
}

/**
 * Whether the row has nothing left to write: it was sent before, and its response was lost. Then its condition guards nothing
 * (RFC 9110, 13.1.1), and a batch that is sent again ends like the first one.
 */
function isApplied(cells: Cells, isDelete: true | undefined, current: Cells | undefined): boolean {
  if (isDelete === true || current === undefined) return isDelete === true && current === undefined
  return cells.every((cell, i) => cell === undefined || cell === current[i])
}
