import type { Condition, Operator, TextValue, Value } from '@quartermaster/filter'
import { type Field, type FieldType, typeNames } from '../catalog/field.ts'
import type { Fault } from '../errors/errors.ts'
import { excerpt, type Faults } from '../errors/faults.ts'
import { limits } from '../limits/limits.ts'
import { compareDecimals, isDecimal, isDecimalInRange } from './decimal.ts'
import type { PlainValue, Predicate, Range } from './predicate.ts'
import { parseTimeSpan, type TimeSpan, timestampText } from './timestamp.ts'

/** A condition whose values have the field's type. A null among them is not in `values`, but sets `hasNull`. */
export interface TypedCondition {
  readonly field: Field
  readonly operator: Operator
  readonly values: readonly PlainValue[]
  readonly spans: readonly TimeSpan[]
  readonly hasNull: boolean
}

type Comparison = '>' | '>=' | '<' | '<='

/** The predicate of one condition. `!=` and `![]` become ranges if possible, because an index can find ranges. */
export function predicateOf(condition: TypedCondition): Predicate {
  const { field, operator, values, hasNull } = condition
  switch (operator) {
    case '=':
    case '[]':
      return field.type === 'timestamp'
        ? { kind: 'ranges', field, ranges: mergedSpans(condition.spans).map(rangeOf), orNull: hasNull }
        : { kind: 'one-of', field, values: [...new Set(values)], orNull: hasNull }
    case '!=':
    case '![]':
      return notEqualPredicate(condition)
    case '*':
    case '!*':
      return containsPredicate(condition, String(values[0]))
    case '>':
    case '>=':
    case '<':
    case '<=':
      return { kind: 'ranges', field, ranges: [comparisonRange(condition, operator)], orNull: false }
    default:
      return operator satisfies never
  }
}

/**
 * A text longer than any stored text is contained in none, so PostgreSQL need not compare it: for every record it would
 * fold the case of the entire text again, and 64 KB on 3,000 records took nine seconds. Case folding can lengthen a
 * stored text, but not to three times its length.
 */
function containsPredicate({ field, operator }: TypedCondition, text: string): Predicate {
  const negated = operator === '!*'
  const orNull = negated && field.nullable
  const isTooLong = field.charactersMax !== undefined && text.length > field.charactersMax * 3
  if (!isTooLong) return { kind: 'contains', field, text, negated, orNull }
  return { kind: negated ? 'none-of' : 'one-of', field, values: [], orNull }
}

function notEqualPredicate({ field, values, spans, hasNull }: TypedCondition): Predicate {
  const orNull = field.nullable && !hasNull
  if (field.type === 'boolean') {
    return { kind: 'one-of', field, values: [true, false].filter((v) => !values.includes(v)), orNull }
  }
  if (values.length === 0 && spans.length === 0) return { kind: 'not-null', field }
  if (field.type === 'timestamp')
    return { kind: 'ranges', field, ranges: gapsBetweenSpans(mergedSpans(spans)), orNull }
  const distinct = [...new Set(values)]
  if (distinct.length > limits.filterGapValuesMax) return { kind: 'none-of', field, values: distinct, orNull }
  return { kind: 'ranges', field, ranges: gapsBetweenValues(distinct.toSorted(orderOf[field.type])), orNull }
}

function comparisonRange({ values, spans }: TypedCondition, operator: Comparison): Range {
  const [span] = spans
  const below = operator === '<' || operator === '<='
  if (span !== undefined) {
    // A date is the span of its day: `>` begins at the end of the span, and `<=` includes all of it.
    const value = timestampText(operator === '>' || operator === '<=' ? span.end : span.start)
    return below ? { to: { value, inclusive: false } } : { from: { value, inclusive: true } }
  }
  const bound = { value: values[0] ?? '', inclusive: operator === '>=' || operator === '<=' }
  return below ? { to: bound } : { from: bound }
}

/** The order of the columns: text by UTF-8 bytes (collation "C"), numbers by value. */
export const orderOf: Record<
  Exclude<FieldType, 'boolean' | 'timestamp'>,
  (a: PlainValue, b: PlainValue) => number
> = {
  text: (a, b) => Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b))),
  integer: (a, b) => Number(a) - Number(b),
  decimal: (a, b) => compareDecimals(String(a), String(b)),
}

export function gapsBetweenValues(sorted: readonly PlainValue[]): Range[] {
  const ranges: Range[] = []
  for (let i = 0; i <= sorted.length; i++) {
    const left = sorted[i - 1]
    const right = sorted[i]
    ranges.push({
      ...(left === undefined ? {} : { from: { value: left, inclusive: false } }),
      ...(right === undefined ? {} : { to: { value: right, inclusive: false } }),
    })
  }
  return ranges
}

function gapsBetweenSpans(spans: readonly TimeSpan[]): Range[] {
  const ranges: Range[] = []
  for (let i = 0; i <= spans.length; i++) {
    const left = spans[i - 1]
    const right = spans[i]
    ranges.push({
      ...(left === undefined ? {} : { from: { value: timestampText(left.end), inclusive: true } }),
      ...(right === undefined ? {} : { to: { value: timestampText(right.start), inclusive: false } }),
    })
  }
  return ranges
}

function rangeOf(span: TimeSpan): Range {
  return {
    from: { value: timestampText(span.start), inclusive: true },
    to: { value: timestampText(span.end), inclusive: false },
  }
}

/** Sorted spans that do not overlap. Empty spans are dropped: a fraction finer than a millisecond can be empty. */
function mergedSpans(spans: readonly TimeSpan[]): TimeSpan[] {
  const result: TimeSpan[] = []
  for (const span of spans.filter((s) => s.start < s.end).toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1)
    if (last !== undefined && span.start <= last.end) {
      result[result.length - 1] = { start: last.start, end: Math.max(last.end, span.end) }
    } else {
      result.push(span)
    }
  }
  return result
}

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
        `Numbers in filters are limited to ${limits.decimalCharactersMax} characters and exponents within ` +
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
