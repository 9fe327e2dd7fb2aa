import type { Condition, Filter, Value } from '@quartermaster/filter'
import { compareDecimals, decimal } from './decimal.ts'
import { memoize } from './memoize.ts'
import type { Field, PlainRecord, Resource } from './schema.ts'
import { timeSpan, timestampMs } from './timestamp.ts'

/**
 * A reference implementation of filters: slow and simple, one record and one condition at a time. It shares only the syntax
 * tree with the service.
 */
export function evaluate(filter: Filter, resource: Resource, records: readonly PlainRecord[]): PlainRecord[] {
  const matches = matcher(filter, resource)
  return records.filter(matches)
}

// The same records are evaluated for every filter, so parsed values are cached.
const decimalOf = memoize(decimal)
const msOf = memoize(timestampMs)

type Matcher = (record: PlainRecord) => boolean

function matcher(filter: Filter, resource: Resource): Matcher {
  switch (filter.kind) {
    case 'and': {
      const terms = filter.terms.map((term) => matcher(term, resource))
      return (record) => terms.every((matches) => matches(record))
    }
    case 'or': {
      const terms = filter.terms.map((term) => matcher(term, resource))
      return (record) => terms.some((matches) => matches(record))
    }
    case 'condition':
      return conditionMatcher(filter, resource)
    default:
      return filter satisfies never
  }
}

function conditionMatcher(condition: Condition, resource: Resource): Matcher {
  const field = resource.fields.find(({ name }) => name === condition.field.text)
  if (field === undefined) throw new Error(`no field ${condition.field.text}`)
  const matches = testOf(condition, field)
  return (record) => {
    const value = record[field.name]
    if (value === undefined) throw new Error(`the record has no ${field.name}`)
    return matches(value)
  }
}

type Test = (value: string | boolean | null) => boolean

/** Negated operators are the exact opposite of the positive ones, so they match null. */
function testOf({ operator, values }: Condition, field: Field): Test {
  switch (operator) {
    case '=':
    case '[]':
      return anyOf(values.map((value) => equals(value, field)))
    case '!=':
    case '![]':
      return not(anyOf(values.map((value) => equals(value, field))))
    case '*':
      return contains(only(values))
    case '!*':
      return not(contains(only(values)))
    case '>':
    case '>=':
    case '<':
    case '<=':
      return ordered(operator, only(values), field)
    default:
      return operator satisfies never
  }
}

const not =
  (test: Test): Test =>
  (value) =>
    !test(value)
const anyOf =
  (tests: readonly Test[]): Test =>
  (value) =>
    tests.some((test) => test(value))

function only(values: readonly Value[]): string {
  const [value] = values
  if (values.length !== 1 || value?.kind !== 'text') throw new Error('the operator needs exactly one text')
  return value.text
}

function equals(value: Value, field: Field): Test {
  if (value.kind === 'null') return (found) => found === null
  const { text } = value
  switch (field.type) {
    case 'text':
      return (found) => found === text
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw new Error(`not a boolean: ${text}`)
      return (found) => found === (text === 'true')
    case 'integer':
    case 'decimal': {
      const wanted = decimal(text)
      return (found) => typeof found === 'string' && compareDecimals(decimalOf(found), wanted) === 0
    }
    case 'timestamp': {
      const { start, end } = timeSpan(text)
      return (found) => typeof found === 'string' && msOf(found) >= start && msOf(found) < end
    }
    default:
      return field.type satisfies never
  }
}

/** Null is neither greater nor less than anything. */
function ordered(operator: '>' | '>=' | '<' | '<=', text: string, field: Field): Test {
  if (field.type === 'integer' || field.type === 'decimal') {
    const bound = decimal(text)
    return (found) => {
      if (typeof found !== 'string') return false
      const order = compareDecimals(decimalOf(found), bound)
      if (operator === '>') return order > 0
      if (operator === '>=') return order >= 0
      return operator === '<' ? order < 0 : order <= 0
    }
  }
  if (field.type !== 'timestamp') throw new Error(`${operator} does not apply to ${field.type}`)
  const { start, end } = timeSpan(text)
  return (found) => {
    if (typeof found !== 'string') return false
    const at = msOf(found)
    if (operator === '>') return at >= end
    if (operator === '>=') return at >= start
    return operator === '<' ? at < start : at < end
  }
}

function contains(text: string): Test {
  if (text === '') throw new Error('contains needs a non-empty text')
  const wanted = folded(text)
  return (found) => typeof found === 'string' && folded(found).includes(wanted)
}

/**
 * Lower case, character by character, as PostgreSQL's ILIKE folds under C.UTF-8: Σ is always σ, never the final ς.
 * İ is the one character whose lower case is two in JavaScript (i and a dot above) and one in the C library (i).
 */
function folded(text: string): string {
  let lower = ''
  for (const character of text) lower += firstCharacter(character.toLowerCase())
  return lower
}

function firstCharacter(text: string): string {
  return String.fromCodePoint(text.codePointAt(0) ?? 0)
}
