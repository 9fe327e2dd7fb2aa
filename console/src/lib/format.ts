import type { Field, FieldType } from '../api/catalog.ts'
import type { Value } from '../api/read.ts'
import { t } from '../texts/texts.ts'

const integers = new Map<string, Intl.NumberFormat>()

function integerText(value: number | bigint): string {
  const known = integers.get(t.locale) ?? new Intl.NumberFormat(t.locale, { maximumFractionDigits: 0 })
  integers.set(t.locale, known)
  return known.format(value)
}

/** With the decimal sign of the language. */
export function fixed(value: number, digits: number): string {
  return value.toFixed(digits).replace('.', t.decimalSign)
}

/** 12345 → "12,345" */
export function grouped(count: number): string {
  return integerText(count)
}

/** "1234567.5" → "1,234,567.5", with every digit. */
export function groupedDecimal(text: string): string {
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(text)
  if (match === null) return text
  const [, sign = '', whole = '', fraction = ''] = match
  return `${sign}${integerText(BigInt(whole))}${fraction.replace('.', t.decimalSign)}`
}

/** Whether a number is an amount. Integers that identify something, or may do so, have no separators. */
export function isAmount({ name, type }: Pick<Field, 'name' | 'type'>): boolean {
  return type === 'decimal' || (type === 'integer' && !/^x_|^id$|_id$/.test(name))
}

export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  if (bytes < 1_000_000) return `${fixed(bytes / 1_000, 1)} KB`
  return `${fixed(bytes / 1_000_000, 1)} MB`
}

export function msText(ms: number): string {
  if (ms < 10) return `${fixed(ms, 1)} ms`
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${fixed(ms / 1_000, 1)} s`
}

/** A value as one text: for tooltips, titles and CSV. */
export function plainText(value: Value | undefined): string {
  if (value === null || value === undefined) return ''
  return Array.isArray(value) ? value.join(', ') : String(value)
}

/** A mail or telephone address that a click can use; undefined for other texts. */
export function contactLink({ name, type }: Pick<Field, 'name' | 'type'>, value: string): string | undefined {
  if (type !== 'text') return undefined
  if (/(?:^|_)e?mail$/.test(name) && /^[^\s@<>"?&]+@[^\s@<>"?&]+$/.test(value))
    return `mailto:${encodeURIComponent(value).replaceAll('%40', '@')}`
  if (/(?:^|_)(?:phone|mobile|tel)$/.test(name) && /^\+?[\d\s().\-/]{4,}$/.test(value))
    return `tel:${value.replace(/[^\d+]/g, '')}`
  return undefined
}

export function isNumeric(type: FieldType): boolean {
  return type === 'integer' || type === 'decimal'
}
