import type { BatchParts } from '../src/import/batch.ts'
import type { ImportRow } from '../src/import/net-effect.ts'

/** Rows of different records, as a file has them. */
export function rowParts(rows: readonly ImportRow[]): BatchParts {
  return { rows: rows.map((cells, i) => ({ line: i + 1, cells: [...cells] })), deletes: [], ordered: [] }
}
