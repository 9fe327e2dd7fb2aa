import { ifMatchMember } from './columns.ts'
import type { ConditionCode } from './row.ts'

/** Of a record, in the order of the catalog's fields and COPY's text format; undefined if the line does not contain the field. */
type Cells = readonly (string | undefined)[]

/** Several lines of one batch that upsert or delete the same record, in their order; or one with a condition. */
export interface RepeatedId {
  readonly id: string
  readonly lines: readonly RepeatedLine[]
}

interface RepeatedLine {
  readonly line: number
  readonly cells: Cells
  readonly isDelete?: true
  /** The ETag that the record must have. */
  readonly ifMatch?: string
}

export interface RowRejection {
  readonly field: string
  readonly reason: string
  readonly code?: ConditionCode
  /** Default: the id, if the field is the id. */
  readonly value?: string
}

/** What the fold has to know about the transaction that writes the lines. */
export interface FoldContext {
  /** The value of each field that a new record does not have. */
  readonly defaults: readonly string[]
  readonly writeDateIndex: number
  readonly writtenAt: string
  /** Why no record can be created from the row. */
  readonly faultOfNew: (row: Cells) => RowRejection | undefined
  /** Whether the ETag is that of the stored record, before the batch. */
  readonly isStored: (etag: string, id: string) => boolean
}

export interface FoldedLines {
  /** What to do with the stored record: delete it, replace it by a new one (both), change it, or nothing. */
  readonly isDeleted: boolean
  /** All cells of the record to insert. */
  readonly inserted: Cells | undefined
  /** All cells of the record to update. */
  readonly updated: Cells | undefined
  /** What each line did, as if each had a transaction of its own. */
  readonly counts: { readonly inserted: number; readonly updated: number; readonly deleted: number }
  readonly rejected: readonly ({ readonly line: number; readonly id: string } & RowRejection)[]
}

/**
 * The net effect of the lines on one record, with the same result as if each line were written by itself. `stored` has all cells
 * of the record before the batch. So a batch that alternates upserts and deletes of one record is written like any other.
 */
export function foldLines(
  { id, lines }: RepeatedId,
  stored: Cells | undefined,
  { defaults, writeDateIndex, writtenAt, faultOfNew, isStored }: FoldContext,
): FoldedLines {
  const counts = { inserted: 0, updated: 0, deleted: 0 }
  const rejected: FoldedLines['rejected'][number][] = []
  let current = stored
  for (const { line, cells, isDelete, ifMatch } of lines) {
    if (ifMatch !== undefined && !isApplied(cells, isDelete, current)) {
      // No client knows the ETag of what an earlier line of this transaction has written.
      const isWritten = counts.inserted + counts.updated + counts.deleted > 0
      const fault = faultOfCondition(current, !isWritten && isStored(ifMatch, id))
      if (fault !== undefined) {
        rejected.push({ line, id, ...fault, value: ifMatch })
        continue
      }
    }
    if (isDelete === true) {
      if (current !== undefined) counts.deleted += 1
      current = undefined
      continue
    }
    if (current === undefined) {
      const fault = faultOfNew(cells)
      if (fault !== undefined) {
        rejected.push({ line, id, ...fault })
        continue
      }
      current = defaults.map((fallback, i) => cells[i] ?? fallback)
      counts.inserted += 1
      continue
    }
    const before = current
    if (!cells.some((cell, i) => cell !== undefined && cell !== before[i])) continue
    current = before.map((cell, i) => cells[i] ?? (i === writeDateIndex ? writtenAt : cell))
    counts.updated += 1
  }
  const isDeleted = stored !== undefined && counts.deleted > 0
  const isUpdated = stored !== undefined && !isDeleted && stored.some((cell, i) => cell !== current?.[i])
  return {
    isDeleted,
    inserted: stored === undefined || isDeleted ? current : undefined,
    updated: isUpdated ? current : undefined,
    counts,
    rejected,
  }
}

/**
 * Whether the line has nothing left to write: it was sent before, and its response was lost. Then its condition guards nothing
 * (RFC 9110, 13.1.1), and a batch that is sent again ends like the first one.
 */
function isApplied(cells: Cells, isDelete: true | undefined, current: Cells | undefined): boolean {
  if (isDelete === true || current === undefined) return isDelete === true && current === undefined
  return cells.every((cell, i) => cell === undefined || cell === current[i])
}

function faultOfCondition(current: Cells | undefined, matches: boolean): RowRejection | undefined {
  const field = ifMatchMember
  if (current === undefined)
    return { field, code: 'record_unknown', reason: 'has no record: none has this id' }
  if (matches) return undefined
  return { field, code: 'changed', reason: 'is not the ETag of the record any more: it was changed' }
}

/** The net effect of all repeated ids of a batch. */
export function foldAll(
  repeated: readonly RepeatedId[],
  stored: ReadonlyMap<string, Cells>,
  context: FoldContext,
) {
  const all = {
    deletes: [] as string[],
    inserts: [] as Cells[],
    updates: [] as Cells[],
    counts: { inserted: 0, updated: 0, deleted: 0 },
    /** Also of records that a later line deleted: their ids are never assigned again. */
    highestInserted: 0,
    rejected: [] as FoldedLines['rejected'][number][],
  }
  for (const lines of repeated) {
    const folded = foldLines(lines, stored.get(lines.id), context)
    if (folded.isDeleted) all.deletes.push(lines.id)
    if (folded.inserted !== undefined) all.inserts.push(folded.inserted)
    if (folded.updated !== undefined) all.updates.push(folded.updated)
    if (folded.counts.inserted > 0) all.highestInserted = Math.max(all.highestInserted, Number(lines.id))
    all.counts.inserted += folded.counts.inserted
    all.counts.updated += folded.counts.updated
    all.counts.deleted += folded.counts.deleted
    all.rejected.push(...folded.rejected)
  }
  return all
}
