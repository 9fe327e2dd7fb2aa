import { type Field, typeNames } from '../catalog/field.ts'
import { limits } from '../limits.ts'
import { parseTimeSpan, timestampText } from '../query/timestamp.ts'

/** Why a value is not taken, as the rest of a sentence that begins with the field. */
export interface Refusal {
  readonly reason: string
}

/** A JSON number as it was written: a double would have rounded it. */
export class JsonNumber {
  readonly source: string
  constructor(source: string) {
    this.source = source
  }

  /** For messages: a number inside something that is refused as a whole. */
  toJSON(): number {
    return Number(this.source)
  }
}

/** A value in COPY's text form, or why it is none. */
export type Cell = string | Refusal

export const nullCell = '\\N'
const required: Refusal = { reason: 'is required' }

/** A cell of a CSV file. Between nothing and `""` only a text can tell the difference. */
export function cellOfCsv(field: Field, text: string, quoted: boolean): Cell {
  if (text === '' && field.type === 'text') return quoted || !field.nullable ? '' : nullCell
  if (text === '') return field.nullable ? nullCell : required
  return cellOfText(field, text)
}

/** A member of a JSON object, its numbers as they were written. A decimal may come as text, to keep it exact. */
export function cellOfJson(field: Field, value: unknown): Cell {
  if (value === null) return field.nullable ? nullCell : required
  if (typeof value === 'string') {
    const fits = field.type === 'text' || field.type === 'timestamp' || field.type === 'decimal'
    return fits ? cellOfText(field, value) : notOfType(field)
  }
  if (typeof value === 'boolean') return field.type === 'boolean' ? String(value) : notOfType(field)
  const number =
    value instanceof JsonNumber ? value.source : typeof value === 'number' ? String(value) : undefined
  const fits = number !== undefined && (field.type === 'integer' || field.type === 'decimal')
  return fits ? cellOfText(field, number) : notOfType(field)
}

function cellOfText(field: Field, text: string): Cell {
  switch (field.type) {
    case 'text':
      return textCell(field, text)
    case 'integer':
      return integerCell(field, text)
    case 'decimal':
      return decimalCell(text)
    case 'boolean':
      return text === 'true' || text === 'false' ? text : { reason: 'is not true or false' }
    case 'timestamp':
      return timestampCell(text)
    default:
      return field.type satisfies never
  }
}

function notOfType(field: Field): Refusal {
  return { reason: `is not ${typeNames[field.type]}` }
}

const copyEscapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function textCell(field: Field, text: string): Cell {
  const max = field.charactersMax
  // Code points are never more than code units, so most texts need no counting.
  if (max !== undefined && text.length > max) {
    const characters = Array.from(text).length
    if (characters > max) return { reason: `has ${characters} characters; at most ${max} are kept` }
  }
  if (text.includes('\0')) return { reason: 'has a NUL character' }
  if (!text.isWellFormed()) return { reason: 'has half a surrogate pair, which is no character' }
  return /[\\\t\n\r]/.test(text) ? text.replace(/[\\\t\n\r]/g, (c) => copyEscapes[c] ?? c) : text
}

function integerCell(field: Field, text: string): Cell {
  if (!/^-?(?:0|[1-9]\d*)$/.test(text)) return notOfType(field)
  const number = Number(text)
  if (field.name === 'id' && number < 1) return { reason: 'is below 1' }
  if (Math.abs(number) > limits.integerMax) return { reason: `is beyond ±${limits.integerMax}` }
  return text === '-0' ? '0' : text
}

/** The shortest plain form, the only one that the columns take. */
function decimalCell(text: string): Cell {
  if (text.length > limits.decimalCharactersMax) {
    return { reason: `is longer than ${limits.decimalCharactersMax} characters` }
  }
  const match = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (match === null) return { reason: `is not ${typeNames.decimal}` }
  const [, sign = '', written = '', writtenFraction = '', exponent] = match
  const [whole, fraction] = shifted(written, writtenFraction, Number(exponent ?? 0))
  if (whole.length > limits.decimalIntegerDigitsMax) {
    return { reason: `has more than ${limits.decimalIntegerDigitsMax} digits before the point` }
  }
  if (fraction.length > limits.decimalFractionDigitsMax) {
    return { reason: `has more than ${limits.decimalFractionDigitsMax} digits after the point` }
  }
  if (fraction !== '') return `${sign}${whole}.${fraction}`
  return whole === '0' ? '0' : sign + whole
}

/** Whole and fraction digits after the point has moved, without the zeros that say nothing. */
function shifted(
  written: string,
  writtenFraction: string,
  exponent: number,
): [whole: string, fraction: string] {
  if (exponent === 0) return [written, withoutLastZeros(writtenFraction)]
  const digits = written + writtenFraction
  if (/^0+$/.test(digits)) return ['0', '']
  // What is stored has far fewer digits: an exponent beyond this cannot be kept, however it is written.
  const point = written.length + Math.max(-200, Math.min(200, exponent))
  const padded = point > 0 ? digits.padEnd(point, '0') : '0'.repeat(1 - point) + digits
  const at = Math.max(point, 1)
  return [padded.slice(0, at).replace(/^0+(?=\d)/, ''), withoutLastZeros(padded.slice(at))]
}

function withoutLastZeros(digits: string): string {
  let end = digits.length
  while (digits.charCodeAt(end - 1) === 48) end -= 1
  return digits.slice(0, end)
}

function timestampCell(text: string): Cell {
  // A space instead of the T is how PostgreSQL and many ERP exports write it.
  const span = parseTimeSpan(text.charAt(10) === ' ' ? text.replace(' ', 'T') : text)
  if (span === undefined) {
    return { reason: 'is not an ISO 8601 date or date-time that exists in the years 0001 to 9999' }
  }
  // As we write it ourselves, and most do: printing it again would be a seventh of all the work on a row.
  if (text.length === 24 && text.endsWith('Z') && text.charAt(10) === 'T') return text
  // Rounded, it would be another moment than the file says.
  return /\.\d{3}\d*[1-9]/.test(text) ? { reason: 'is finer than milliseconds' } : timestampText(span.start)
}
