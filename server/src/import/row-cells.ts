import type { Resource } from '../catalog/resources.ts'
import { nullCell } from './cell.ts'

type Cells = readonly (string | undefined)[]

/** One bit for each field with a column that the row contains. */
export function fieldMask({ fields }: Resource, row: Cells): number {
  return row.reduce(
    (mask, cell, i) => (cell === undefined || fields[i]?.customKey !== undefined ? mask : mask | (2 ** i)),
    0,
  )
}

/** The values of the account's own fields that the row contains, as the JSON object in `custom`. */
export function customCell(
  { fields }: Resource,
  row: Cells,
  { withNulls }: { readonly withNulls: boolean },
): string | undefined {
  const members = fields.flatMap(({ customKey }, i) => {
    const cell = row[i]
    if (customKey === undefined || cell === undefined || (cell === nullCell && !withNulls)) return []
    return [`"${customKey}":${cell === nullCell ? 'null' : cell}`]
  })
  return members.length === 0 ? undefined : `{${members.join(',')}}`
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
