import type { Field } from '../../api/catalog.ts'
import type { Value } from '../../api/read.ts'
import { t } from '../../texts/texts.ts'
import { plainText } from '../format.ts'
import type { Cell } from './csv-rows.ts'

/** How numbers and dates are written in the file. */
export type Notation = 'service' | 'german'

/** As spreadsheets write them. */
const booleans: Readonly<Record<string, string>> = {
  true: 'true',
  false: 'false',
  wahr: 'true',
  falsch: 'false',
}

/** The cell as the service takes it. What it does not take stays as it is, and is rejected with its reason. */
export function sentCell({ type }: Field, cell: Cell, notation: Notation): Cell {
  if (cell === null || type === 'text') return cell
  const text = cell.trim()
  if (text === '') return null
  if (type === 'boolean') return booleans[text.toLowerCase()] ?? text
  if (notation === 'service') return text
  return type === 'timestamp' ? isoDay(text) : withPoint(text)
}

/** "1.234,50" → "1234.50" */
export function withPoint(text: string): string {
  return /^-?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?$/.test(text)
    ? text.replaceAll('.', '').replace(',', '.')
    : text
}

/** "31.12.2026 09:30" → "2026-12-31 09:30" */
function isoDay(text: string): string {
  return text.replace(
    /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?=$| )/,
    (_, day: string, month: string, year: string) =>
      `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`,
  )
}

/** Why the service will reject the cell; undefined if nothing is found here. The service validates every value. */
export function faultOf({ name, type, nullable }: Field, cell: Cell): string | undefined {
  if (cell === null) return nullable ? undefined : t.import.required
  if (type === 'integer') {
    if (!/^-?(?:0|[1-9]\d*)$/.test(cell)) return t.import.notInteger
    return name === 'id' && Number(cell) < 1 ? t.import.below1 : undefined
  }
  if (type === 'decimal')
    return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(cell) ? undefined : t.import.notDecimal
  if (type === 'boolean') return cell === 'true' || cell === 'false' ? undefined : t.import.notBoolean
  if (type === 'timestamp')
    return /^\d{4}-\d\d-\d\d/.test(cell) && !Number.isNaN(timeOf(cell)) ? undefined : t.import.notDate
  return undefined
}

/** Whether a cell that is valid has the same value as the record. */
export function isSame({ type }: Field, cell: Cell, value: Value | undefined): boolean {
  if (cell === null || value === null || value === undefined) return cell === (value ?? null)
  const stored = plainText(value)
  if (type === 'decimal') return canonical(cell) === canonical(stored)
  if (type === 'timestamp') return timeOf(cell) === timeOf(stored)
  return cell === stored
}

/** Without a time zone, a time is in UTC. */
function timeOf(text: string): number {
  const iso = text.replace(' ', 'T')
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(iso.slice(10))
  return Date.parse(iso.length > 10 && !hasZone ? `${iso}Z` : iso)
}

/** "1.50" and "15e-1" → "1.5". Exact: without a JavaScript number. */
function canonical(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (match === null) return text
  const [, sign = '', integer = '', fraction = '', exponent = '0'] = match
  const shift = Math.max(-400, Math.min(400, Number(exponent)))
  const digits = integer + fraction
  const point = integer.length + shift
  const padded = point > 0 ? digits.padEnd(point, '0') : '0'.repeat(1 - point) + digits
  const whole = padded.slice(0, Math.max(point, 1)).replace(/^0+(?=\d)/, '')
  const rest = withoutTrailingZeros(padded.slice(Math.max(point, 1)))
  const number = rest === '' ? whole : `${whole}.${rest}`
  return number === '0' ? '0' : sign + number
}

function withoutTrailingZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}
