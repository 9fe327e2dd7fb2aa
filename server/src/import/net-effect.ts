import type { Folded, RejectedLine, RowRejection } from './fold.ts'
import type { Row } from './row.ts'

/** The cells of a record in the order of the catalog's fields, in COPY's text format; undefined if the row does not contain the field. */
export type ImportRow = readonly (string | undefined)[]

export interface BatchOutcome {
  readonly inserted: number
  readonly updated: number
  readonly deleted: number
  /** Rows that were not written. */
  readonly rejected: readonly RejectedLine[]
  /** Ids that the batch must not use, and why: none of their lines was written. */
  readonly forbidden: ReadonlyMap<string, string>
  /** With this batch the first ids of another system came. */
  readonly becameExternal: boolean
}

/** What a batch does to the records. */
export interface NetEffect {
  readonly plain: PlainRows
  readonly folded: Folded
  /** Ids. */
  readonly deletes: readonly string[]
}

/** Rows of different records, without conditions. */
interface PlainRows {
  readonly added: readonly ImportRow[]
  readonly changed: readonly ImportRow[]
  readonly rejected: readonly RejectedLine[]
}

/** `existing`: the ids that records have. `faultOfNew`: why no record can be created from a row. */
export function plainRows(
  rows: readonly Row[],
  existing: ReadonlySet<string>,
  faultOfNew: (row: ImportRow) => RowRejection | undefined,
): PlainRows {
  const added: ImportRow[] = []
  const changed: ImportRow[] = []
  const rejected: RejectedLine[] = []
  for (const { line, cells } of rows) {
    const id = cells[0] ?? ''
    const fault = existing.has(id) ? undefined : faultOfNew(cells)
    if (fault !== undefined) rejected.push({ line, id, ...fault })
    else if (existing.has(id)) changed.push(cells)
    else added.push(cells)
  }
  return { added, changed, rejected }
}
