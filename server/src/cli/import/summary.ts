import type { ImportTotals } from '../../import/import-rows.ts'
import { grouped, perSecond } from '../progress.ts'

export function summaryText(totals: ImportTotals, seconds: number): string {
  const lines: [name: string, value: string][] = [
    ['read', grouped(totals.read)],
    ['inserted', grouped(totals.inserted)],
    ['updated', grouped(totals.updated)],
    ['unchanged', grouped(totals.unchanged)],
    ['deleted', grouped(totals.deleted)],
    ['rejected', grouped(totals.rejected)],
    ['seconds', seconds.toFixed(1)],
    ['rows/s', grouped(perSecond(totals.read, seconds))],
  ]
  const width = Math.max(...lines.map(([, value]) => value.length))
  return lines.map(([name, value]) => `${name.padEnd(10)} ${value.padStart(width)}\n`).join('')
}

export function summaryJson(totals: ImportTotals, seconds: number, rejects: string | undefined): string {
  const summary = {
    ...totals,
    seconds: Number(seconds.toFixed(3)),
    rowsPerSecond: perSecond(totals.read, seconds),
  }
  return `${JSON.stringify({ ...summary, rejects: rejects ?? null })}\n`
}
