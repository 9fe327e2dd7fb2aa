import type { FieldType } from '../api/catalog.ts'
import type { Value } from '../api/read.ts'

const integers = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** 12345 → "12,345". For counts, not for the values of records, which are shown as they are. */
export function grouped(count: number): string {
  return integers.format(count)
}

export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} KB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

export function msText(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** The parts of a timestamp in UTC: day and time. Undefined if the text is not a timestamp. */
export function timestampParts(value: Value): readonly [string, string] | undefined {
  if (typeof value !== 'string') return undefined
  const match = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.\d+)?Z)?$/.exec(value)
  return match === null ? undefined : [match[1] ?? '', match[2] ?? '']
}

/** A value as one text: for tooltips, titles and CSV. */
export function plainText(value: Value | undefined): string {
  if (value === null || value === undefined) return ''
  return Array.isArray(value) ? value.join(', ') : String(value)
}

export function isNumeric(type: FieldType): boolean {
  return type === 'integer' || type === 'decimal'
}
