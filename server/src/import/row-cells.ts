import type { Resource } from '../catalog/resources.ts'
import { nullCell } from './cell.ts'

type Cells = readonly (string | undefined)[]

/** One bit for each field that the row contains. */
export function fieldMask(row: Cells): number {
  return row.reduce((mask, cell, i) => (cell === undefined ? mask : mask | (2 ** i)), 0)
}

export function highestId(rows: readonly Cells[]): number {
  return rows.reduce((highest, row) => Math.max(highest, Number(row[0])), 0)
}

/** The cells that a new record has unless its row contains them. */
export function defaultCells({ fields }: Resource, writtenAt: string): string[] {
  return fields.map(({ absent }) => {
    if (absent === 'now') return writtenAt
    return absent === null ? nullCell : String(absent)
  })
}
