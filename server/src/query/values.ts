import type { Condition, TextValue, Value } from '@quartermaster/filter'
import { type Field, type FieldType, typeNames } from '../catalog/field.ts'
import type { Fault } from '../errors/errors.ts'
import { excerpt, type Faults } from '../errors/faults.ts'
import { limits } from '../limits/limits.ts'
import type { TypedCondition } from './condition.ts'
import { isDecimal, isDecimalInRange } from './decimal.ts'
import type { PlainValue } from './predicate.ts'
import { parseTimeSpan, type TimeSpan } from './timestamp.ts'

type ParsedValue = { readonly plain: PlainValue } | { readonly span: TimeSpan } | Rejection
type Rejection = Pick<Fault, 'code' | 'message' | 'expected'> & { readonly replacement?: string }

/** The text of a filter, for suggestions in its faults. */
export interface FilterSource {
  readonly text: string
  /** The filter that was meant, if the text is SQL. */
  readonly fromSql: () => string | undefined
}

/** The values of a condition, parsed by the field's type. Adds a fault for each invalid value, and then returns undefined. */
export function typedValues(
  field: Field,
  condition: Condition,
  source: FilterSource,
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
    const parsed =
      value.kind === 'null' ? nullRejection(field, condition) : parsers[field.type](field, condition, value)
    if ('code' in parsed) faults.add(() => faultAt(value, parsed, source))
    else if ('span' in parsed) spans.push(parsed.span)
    else plain.push(parsed.plain)
  }
  if (faults.count > before) return undefined
  return { field, operator: condition.operator, values: plain, spans, hasNull }
}

const nullOperators: ReadonlySet<string> = new Set(['=', '!=', '[]', '![]'])

const parsers: Record<FieldType, (field: Field, condition: Condition, value: TextValue) => ParsedValue> = {
  text: parseText,
  integer: parseInteger,
  decimal: parseDecimal,
  boolean: parseBoolean,
  timestamp: parseTimestamp,
}

function parseText(field: Field, { operator }: Condition, { text }: TextValue): ParsedValue {
  if (text.includes('\0')) {
    return {
      code: 'value_not_for_type',
      message: `A value of ${field.name} cannot contain the NUL character.`,
    }
  }
  if (text === '' && (operator === '*' || operator === '!*')) {
    return {
      code: 'value_empty',
      message: `"${operator}" needs a text to search for; every ${field.name} contains the empty text.`,
      expected: ['a text of at least one character'],
    }
  }
  return { plain: text }
}

function parseInteger(field: Field, _: Condition, { text }: TextValue): ParsedValue {
  if (!/^-?(0|[1-9]\d*)$/.test(text)) return notOfType(field, text, ['an integer, such as 42'])
  if (text.length > 17 || Math.abs(Number(text)) > limits.integerMax) {
    return {
      code: 'value_out_of_range',
      message: `${field.name} is an integer from -${limits.integerMax} to ${limits.integerMax}; "${excerpt(text)}" is out of range.`,
    }
  }
  return { plain: text === '-0' ? '0' : text }
}

function parseDecimal(field: Field, _: Condition, { text }: TextValue): ParsedValue {
  if (text.length > limits.decimalCharactersMax || (isDecimal(text) && !isDecimalInRange(text))) {
    return {
      code: 'value_out_of_range',
      message:
        `A number in a filter can have at most ${limits.decimalCharactersMax} characters and an exponent within ` +
        `±${limits.decimalExponentMax}; "${excerpt(text)}" is out of range.`,
    }
  }
  return isDecimal(text) ? { plain: text } : notOfType(field, text, ['a number, such as 12.5'])
}

function parseBoolean(field: Field, _: Condition, { text }: TextValue): ParsedValue {
  if (text === 'true' || text === 'false') return { plain: text === 'true' }
  const meant = { true: 'true', '1': 'true', yes: 'true', false: 'false', '0': 'false', no: 'false' }[
    text.toLowerCase()
  ]
  return {
    ...notOfType(field, text, ['true', 'false']),
    ...(meant === undefined ? {} : { replacement: meant }),
  }
}

function parseTimestamp(field: Field, _: Condition, { text }: TextValue): ParsedValue {
  const span = parseTimeSpan(text)
  if (span !== undefined) return { span }
  const rejection = notOfType(field, text, [
    'an ISO 8601 date or date-time from year 0001 to 9999, such as 2026-11-14 or 2026-11-14T09:30:00Z',
  ])
  // In a URL an unencoded "+" is a space, so that 09:30+02:00 arrives as "09:30 02:00".
  const zoned = withoutSpaces(text)
  return zoned === undefined || parseTimeSpan(zoned) === undefined
    ? rejection
    : { ...rejection, message: `${rejection.message} In a URL, write "+" as %2B.`, replacement: zoned }
}

/** Replaces the space in a date-time by the "T" or "+" that was meant; undefined if the text is too long for a date-time. */
function withoutSpaces(text: string): string | undefined {
  if (text.length > limits.timestampCharactersMax) return undefined
  return text.replace(/^(\d{4}-\d{2}-\d{2}) /, '$1T').replace(/ (?=\d{2}:?\d{2}$)/, '+')
}

function notOfType(field: Field, text: string, expected: readonly string[]): Rejection {
  const problem = text === '' ? 'the value is empty' : `"${excerpt(text)}" is not`
  return {
    code: 'value_not_for_type',
    message: `${field.name} is ${typeNames[field.type]}; ${problem}.`,
    expected,
  }
}

function nullRejection(field: Field, { operator }: Condition): Rejection {
  return {
    code: 'value_null_not_comparable',
    message: `"${operator}" cannot be used with null. Use ${field.name}=null or ${field.name}!=null; for the text, write "null" in quotes.`,
    expected: ['a value that is not null'],
  }
}

function faultAt(value: Value, { replacement, ...rejection }: Rejection, source: FilterSource): Fault {
  const { offset, length } = value
  const { text } = source
  const suggestion =
    replacement === undefined
      ? source.fromSql()
      : text.slice(0, offset) + replacement + text.slice(offset + length)
  return { parameter: 'filter', ...rejection, offset, length, ...suggestionOf(suggestion) }
}

export function suggestionOf(suggestion: string | undefined): Pick<Fault, 'suggestion'> {
  return suggestion === undefined ? {} : { suggestion }
}
