import type { Resource } from '../catalog/resources.ts'
import { nullCell } from './cell.ts'
import { customCell, defaultCells, fieldMask } from './row-cells.ts'
import { fieldColumns, type UpdateColumn } from './statements.ts'

type Cells = readonly (string | undefined)[]

/** New records as lines for COPY, without what precedes their fields. */
export function insertedLines(resource: Resource, rows: readonly Cells[], writtenAt: string): string[] {
  const defaults = defaultCells(resource, writtenAt).slice(0, fieldColumns(resource).length)
  return rows.map((row) => {
    const line = defaults.map((fallback, i) => row[i] ?? fallback).join('\t')
    if (resource.schema === undefined) return line
    return `${line}\t${customCell(resource, row, { withNulls: false }) ?? nullCell}`
  })
}

export interface StagedRows {
  /** The columns that any row contains. */
  readonly columns: readonly UpdateColumn[]
  /** Whether a row has values of the account's own fields, which are then in one more column. */
  readonly hasOwn: boolean
  readonly lines: readonly string[]
}

/** Rows of existing records as lines for COPY into the staging table. */
export function stagedRows(resource: Resource, rows: readonly Cells[]): StagedRows {
  const masks = rows.map((row) => fieldMask(resource, row))
  const columns = fieldColumns(resource).flatMap(({ name }, fieldIndex) => {
    const bit = 2 ** fieldIndex
    if (!masks.some((mask) => mask & bit)) return []
    return [{ name, fieldIndex, bit, always: masks.every((mask) => mask & bit) }]
  })
  const customs = rows.map((row) => customCell(resource, row, { withNulls: true }))
  const hasOwn = customs.some((custom) => custom !== undefined)
  const lines = rows.map((row, i) => {
    const cells = columns.map(({ fieldIndex }) => row[fieldIndex] ?? nullCell)
    return [masks[i], ...cells, ...(hasOwn ? [customs[i] ?? '{}'] : [])].join('\t')
  })
  return { columns, hasOwn, lines }
}
