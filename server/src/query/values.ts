import type { Condition, TextValue, Value } from '@quartermaster/filter'
import { type Field, type FieldType, typeNames } from '../catalog/field.ts'
import type { Fault } from '../errors.ts'
import { excerpt, type Faults } from '../faults.ts'
import { limits } from '../limits.ts'
import type { TypedCondition } from './condition.ts'
import { isDecimal, isDecimalInRange } from './decimal.ts'
import type { PlainValue } from './predicate.ts'
import { parseTimeSpan, type TimeSpan } from './timestamp.ts'

type Reading = { readonly plain: PlainValue } | { readonly span: TimeSpan } | Refusal
type Refusal = Pick<Fault, 'code' | 'message' | 'expected'> & { readonly replacement?: string }

/** The values of a condition as the field's type reads them; undefined, with its faults told, where one cannot be. */
export function typedValues(
  field: Field,
  condition: Condition,
  filterText: string,
  faults: Faults,
): TypedCondition | undefined {
  const plain: PlainValue[] = []
  const spans: TimeSpan[] = []
  let hasNull = false
  const before = faults.count
  for (const value of condition.values) {
    if (value.kind === 'null' && nullOperators.has(condition.operator)) {
      hasNull = true
      continue
    }
    const reading =
      value.kind === 'null' ? nullRefusal(field, condition) : readers[field.type](field, condition, value)
    if ('code' in reading) faults.add(() => faultAt(value, reading, filterText))
    else if ('span' in reading) spans.push(reading.span)
    else plain.push(reading.plain)
  }
  if (faults.count > before) return undefined
  return { field, operator: condition.operator, values: plain, spans, hasNull }
}

const nullOperators: ReadonlySet<string> = new Set(['=', '!=', '[]', '![]'])

const readers: Record<FieldType, (field: Field, condition: Condition, value: TextValue) => Reading> = {
  text: readText,
  integer: readInteger,
  decimal: readDecimal,
  boolean: readBoolean,
  timestamp: readTimestamp,
}

function readText(field: Field, { operator }: Condition, { text }: TextValue): Reading {
  if (text.includes('\0')) {
    return { code: 'value_not_for_type', message: `No ${field.name} holds the NUL character.` }
  }
  if (text === '' && (operator === '*' || operator === '!*')) {
    return {
      code: 'value_empty',
      message: `"${operator}" needs a text to look for; every ${field.name} contains the empty one.`,
      expected: ['a text of at least one character'],
    }
  }
  return { plain: text }
}

function readInteger(field: Field, _: Condition, { text }: TextValue): Reading {
  if (!/^-?(0|[1-9]\d*)$/.test(text)) return notOfType(field, text, ['an integer, such as 42'])
  if (text.length > 17 || Math.abs(Number(text)) > limits.integerMax) {
    return {
      code: 'value_out_of_range',
      message: `${field.name} is an integer between -${limits.integerMax} and ${limits.integerMax}; "${excerpt(text)}" is beyond.`,
    }
  }
  return { plain: text === '-0' ? '0' : text }
}

function readDecimal(field: Field, _: Condition, { text }: TextValue): Reading {
  if (text.length > limits.decimalCharactersMax || (isDecimal(text) && !isDecimalInRange(text))) {
    return {
      code: 'value_out_of_range',
      message:
        `A number in a filter has at most ${limits.decimalCharactersMax} characters and an exponent within ` +
        `±${limits.decimalExponentMax}; "${excerpt(text)}" is beyond.`,
    }
  }
  return isDecimal(text) ? { plain: text } : notOfType(field, text, ['a number, such as 12.5'])
}

function readBoolean(field: Field, _: Condition, { text }: TextValue): Reading {
  if (text === 'true' || text === 'false') return { plain: text === 'true' }
  const meant = { true: 'true', '1': 'true', yes: 'true', false: 'false', '0': 'false', no: 'false' }[
    text.toLowerCase()
  ]
  return {
    ...notOfType(field, text, ['true', 'false']),
    ...(meant === undefined ? {} : { replacement: meant }),
  }
}

function readTimestamp(field: Field, _: Condition, { text }: TextValue): Reading {
  const span = parseTimeSpan(text)
  if (span !== undefined) return { span }
  const refusal = notOfType(field, text, [
    'an ISO 8601 date or date-time from year 0001 to 9999, such as 2026-11-14 or 2026-11-14T09:30:00Z',
  ])
  // In a URL a bare "+" is a space, so that a zone written 09:30+02:00 arrives with a hole in it.
  const zoned = withoutHoles(text)
  return zoned === undefined || parseTimeSpan(zoned) === undefined
    ? refusal
    : { ...refusal, message: `${refusal.message} In a URL, write "+" as %2B.`, replacement: zoned }
}

/** The text as a date-time where a space stands for the "T" or the "+" in it; undefined where it is too long for one. */
function withoutHoles(text: string): string | undefined {
  if (text.length > limits.timestampCharactersMax) return undefined
  return text.replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T').replace(/ (?=\d{2}:?\d{2}$)/, '+')
}

function notOfType(field: Field, text: string, expected: readonly string[]): Refusal {
  const what = text === '' ? 'an empty value is not one' : `"${excerpt(text)}" is not one`
  return {
    code: 'value_not_for_type',
    message: `${field.name} is ${typeNames[field.type]}; ${what}.`,
    expected,
  }
}

function nullRefusal(field: Field, { operator }: Condition): Refusal {
  return {
    code: 'value_null_not_comparable',
    message: `"${operator}" cannot be asked of null. Use ${field.name}=null or ${field.name}!=null; the text is "null" in quotes.`,
    expected: ['a value that is not null'],
  }
}

function faultAt(value: Value, { replacement, ...refusal }: Refusal, filterText: string): Fault {
  const { offset, length } = value
  return {
    parameter: 'filter',
    ...refusal,
    offset,
    length,
    ...(replacement === undefined
      ? {}
      : { suggestion: filterText.slice(0, offset) + replacement + filterText.slice(offset + length) }),
  }
}
