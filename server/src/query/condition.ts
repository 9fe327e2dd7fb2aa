import type { Operator } from '@quartermaster/filter'
import type { Field, FieldType } from '../catalog/field.ts'
import { limits } from '../limits/limits.ts'
import { compareDecimals } from './decimal.ts'
import type { PlainValue, Predicate, Range } from './predicate.ts'
import { type TimeSpan, timestampText } from './timestamp.ts'

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
const orderOf: Record<
  Exclude<FieldType, 'boolean' | 'timestamp'>,
  (a: PlainValue, b: PlainValue) => number
> = {
  text: (a, b) => Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b))),
  integer: (a, b) => Number(a) - Number(b),
  decimal: (a, b) => compareDecimals(String(a), String(b)),
}

function gapsBetweenValues(sorted: readonly PlainValue[]): Range[] {
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
