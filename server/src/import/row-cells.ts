type Cells = readonly (string | undefined)[]

/** One bit for each field that the row contains. */
export function fieldMask(row: Cells): number {
  return row.reduce((mask, cell, i) => (cell === undefined ? mask : mask | (2 ** i)), 0)
}

export function highestId(rows: readonly Cells[]): number {
  return rows.reduce((highest, row) => Math.max(highest, Number(row[0])), 0)
}
