import { excerpt } from '../errors/faults.ts'
import type { ImportTotals } from '../import/import-rows.ts'
import type { RowFault } from '../import/row.ts'
import { limits } from '../limits/limits.ts'

/** One line of NDJSON for each rejected row: its first fault, and the others in `more`. */
export function resultLines(faults: readonly RowFault[]): string {
  let text = ''
  for (let start = 0; start < faults.length; ) {
    const line = faults[start]?.line
    let end = start
    while (end < faults.length && faults[end]?.line === line) end++
    text += resultLine(faults.slice(start, Math.min(end, start + limits.batchFaultsMax)))
    start = end
  }
  return text
}

function resultLine([first, ...others]: readonly RowFault[]): string {
  if (first === undefined) return ''
  const { line, id } = first
  const more = others.length > 0 ? { more: others.map(describe) } : {}
  return `${JSON.stringify({ line, ...(id === undefined ? {} : { id: Number(id) }), ...describe(first), ...more })}\n`
}

function describe({ field, reason, value, code }: RowFault) {
  return { field: excerpt(field), reason, value: excerpt(value), ...(code === undefined ? {} : { code }) }
}

/** The last line of a complete batch. */
export function endLine(totals: ImportTotals): string {
  return `${JSON.stringify({ $end: totals })}\n`
}
