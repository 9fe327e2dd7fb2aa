import { type Field, typeNames } from '../catalog/field.ts'
import { limits } from '../limits/limits.ts'
import { parseTimeSpan, timestampText } from '../query/timestamp.ts'
import { JsonNumber } from './exact-json.ts'

/** Why a value is rejected: the predicate of a sentence whose subject is the field name. */
export interface Rejection {
  readonly reason: string
}

/** A value of a record in the text form of PostgreSQL, or why it was rejected. */
export type FieldValue = string | null | Rejection

export const required: Rejection = { reason: 'is required' }

/** Parses a member of a JSON object, whose numbers are `JsonNumber`. A decimal may also be a string. */
export function valueOfJson(field: Field, value: unknown): FieldValue {
  if (value === null) return field.nullable ? null : required
  if (typeof value === 'string') {
    const fits = field.type === 'text' || field.type === 'timestamp' || field.type === 'decimal'
    return fits ? valueOfText(field, value) : notOfType(field)
  }
  if (typeof value === 'boolean') return field.type === 'boolean' ? String(value) : notOfType(field)
  const number =
    value instanceof JsonNumber ? value.source : typeof value === 'number' ? String(value) : undefined
  const fits = number !== undefined && (field.type === 'integer' || field.type === 'decimal')
  return fits ? valueOfText(field, number) : notOfType(field)
}

export function valueOfText(field: Field, text: string): string | Rejection {
  switch (field.type) {
    case 'text':
      return checkedText(field, text)
    case 'integer':
      return integerText(field, text)
    case 'decimal':
      return decimalText(text)
    case 'boolean':
      return text === 'true' || text === 'false' ? text : { reason: 'is not true or false' }
    case 'timestamp':
      return timeText(text)
    default:
      return field.type satisfies never
  }
}

function notOfType(field: Field): Rejection {
  return { reason: `is not ${typeNames[field.type]}` }
}

function checkedText(field: Field, text: string): string | Rejection {
  const max = field.charactersMax
  // A text has at most as many code points as code units, so most texts need no counting.
  if (max !== undefined && text.length > max) {
    const characters = Array.from(text).length
    if (characters > max) return { reason: `has ${characters} characters; at most ${max} are allowed` }
  }
  if (text.includes('\0')) return { reason: 'has a NUL character' }
  if (!text.isWellFormed()) return { reason: 'has an unpaired surrogate, which is not a character' }
  return text
}

function integerText(field: Field, text: string): string | Rejection {
  if (!/^-?(?:0|[1-9]\d*)$/.test(text)) return notOfType(field)
  const number = Number(text)
  if (field.name === 'id' && number < 1) return { reason: 'is below 1' }
  if (Math.abs(number) > limits.integerMax) return { reason: `is beyond ±${limits.integerMax}` }
  return text === '-0' ? '0' : text
}

/** Normalizes to the shortest form without exponent, the only form that the check constraint accepts. */
function decimalText(text: string): string | Rejection {
  if (text.length > limits.decimalCharactersMax) {
    return { reason: `is longer than ${limits.decimalCharactersMax} characters` }
  }
  const match = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (match === null) return { reason: `is not ${typeNames.decimal}` }
  const [, sign = '', integerDigits = '', fractionDigits = '', exponent] = match
  const [integer, fraction] = applyExponent(integerDigits, fractionDigits, Number(exponent ?? 0))
  if (integer.length > limits.decimalIntegerDigitsMax) {
    return { reason: `has more than ${limits.decimalIntegerDigitsMax} digits before the point` }
  }
  if (fraction.length > limits.decimalFractionDigitsMax) {
    return { reason: `has more than ${limits.decimalFractionDigitsMax} digits after the point` }
  }
  if (fraction !== '') return `${sign}${integer}.${fraction}`
  return integer === '0' ? '0' : sign + integer
}

/** The digits before and after the decimal point, without leading and trailing zeros. */
function applyExponent(
  integerDigits: string,
  fractionDigits: string,
  exponent: number,
): [integer: string, fraction: string] {
  if (exponent === 0) return [integerDigits, trimTrailingZeros(fractionDigits)]
  const digits = integerDigits + fractionDigits
  if (/^0+$/.test(digits)) return ['0', '']
  // The limits on digits are far below 200, so a clamped exponent is still rejected.
  const point = integerDigits.length + Math.max(-200, Math.min(200, exponent))
  const padded = point > 0 ? digits.padEnd(point, '0') : '0'.repeat(1 - point) + digits
  const at = Math.max(point, 1)
  return [padded.slice(0, at).replace(/^0+(?=\d)/, ''), trimTrailingZeros(padded.slice(at))]
}

function trimTrailingZeros(digits: string): string {
  let end = digits.length
  while (digits.charCodeAt(end - 1) === 48) end -= 1
  return digits.slice(0, end)
}

function timeText(text: string): string | Rejection {
  // PostgreSQL and most ERP exports write a space instead of the T.
  const span = parseTimeSpan(text.charAt(10) === ' ' ? text.replace(' ', 'T') : text)
  if (span === undefined) {
    return { reason: 'is not an ISO 8601 date or date-time that exists in the years 0001 to 9999' }
  }
  // Already in our own format, as most are. Formatting it again would take a seventh of the CPU time of a row.
  if (text.length === 24 && text.endsWith('Z') && text.charAt(10) === 'T') return text
  // Not rounded: the stored time would differ from the file.
  return /\.\d{3}\d*[1-9]/.test(text) ? { reason: 'is finer than milliseconds' } : timestampText(span.start)
}
