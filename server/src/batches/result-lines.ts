import { excerpt } from '../errors/faults.ts'
import type { ImportTotals } from '../import/import-rows.ts'
import type { RowFault } from '../import/row.ts'
import { limits } from '../limits/limits.ts'

/** One line of NDJSON for each rejected row: its first fault, and the others in `more`. */
export function resultLines(faults: readonly RowFault[]): string {
  return byRow(faults)
    .map((row) => {
      const { line, ...result } = resultOf(row)
      return `${JSON.stringify({ line, ...result })}\n`
    })
    .join('')
}

/** The same as JSON: the member of each row is its index, from 0. */
export function rejectedRows(faults: readonly RowFault[]): string {
  const rows = byRow(faults.toSorted((a, b) => a.line - b.line)).map((row) => {
    const { line, ...result } = resultOf(row)
    return { index: line - 1, ...result }
  })
  return JSON.stringify(rows)
}

/** Of each row, up to `batchFaultsMax`. Faults of one row are adjacent. */
function byRow(faults: readonly RowFault[]): (readonly [RowFault, ...RowFault[]])[] {
  const rows: [RowFault, ...RowFault[]][] = []
  for (const fault of faults) {
    const row = rows.at(-1)
    if (row?.[0].line !== fault.line) rows.push([fault])
    else if (row.length < limits.batchFaultsMax) row.push(fault)
  }
  return rows
}

function resultOf([first, ...others]: readonly [RowFault, ...RowFault[]]) {
  const { line, id, key } = first
  const named = {
    ...(id === undefined ? {} : { id: Number(id) }),
    ...(key === undefined ? {} : { key: excerpt(key) }),
  }
  const more = others.length > 0 ? { more: others.map(describe) } : {}
  return { line, ...named, ...describe(first), ...more }
}

function describe({ field, reason, value, code }: RowFault) {
  return { field: excerpt(field), reason, value: excerpt(value), ...(code === undefined ? {} : { code }) }
}

/** The last line of a complete batch. */
export function endLine(totals: ImportTotals): string {
  return `${JSON.stringify({ $end: totals })}\n`
}
