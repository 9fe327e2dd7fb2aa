import { gapsBetweenValues, orderOf } from './condition.ts'
import type { Bound, OneOf, Predicate, Range, Ranges } from './predicate.ts'

/** The predicate that is true for exactly the records for which this one is not, those with null included. */
export function complementOf(predicate: Predicate): Predicate {
  switch (predicate.kind) {
    case 'all':
      return { kind: 'any', terms: predicate.terms.map(complementOf) }
    case 'any':
      return { kind: 'all', terms: predicate.terms.map(complementOf) }
    case 'one-of':
      return notOneOf(predicate)
    case 'none-of':
      return { ...predicate, kind: 'one-of', orNull: isNullOpposite(predicate) }
    case 'ranges':
      return notInRanges(predicate)
    case 'contains':
      return { ...predicate, negated: !predicate.negated, orNull: isNullOpposite(predicate) }
    case 'not-null':
      return { kind: 'one-of', field: predicate.field, values: [], orNull: true }
    default:
      return predicate satisfies never
  }
}

function isNullOpposite({
  field,
  orNull,
}: Exclude<Predicate, { kind: 'all' | 'any' | 'not-null' }>): boolean {
  return field.nullable && !orNull
}

function notOneOf(predicate: OneOf): Predicate {
  const { field, values } = predicate
  const orNull = isNullOpposite(predicate)
  if (field.type === 'boolean')
    return { kind: 'one-of', field, values: [true, false].filter((one) => !values.includes(one)), orNull }
  if (values.length === 0 && predicate.orNull) return { kind: 'not-null', field }
  // Above this number the planner would find the ranges one by one; the records with these values are few enough to be counted.
  if (values.length > 1 || field.type === 'timestamp') return { kind: 'none-of', field, values, orNull }
  return { kind: 'ranges', field, ranges: gapsBetweenValues(values.toSorted(orderOf[field.type])), orNull }
}

/** The gaps of `![]` are values again. */
function notInRanges(predicate: Ranges): Predicate {
  const { field } = predicate
  const orNull = isNullOpposite(predicate)
  const gaps = gapsOf(predicate)
  const values = gaps.flatMap(({ from, to }) =>
    from !== undefined && from.value === to?.value && from.inclusive && to.inclusive ? [from.value] : [],
  )
  return values.length === gaps.length && field.type !== 'timestamp'
    ? { kind: 'one-of', field, values, orNull }
    : { kind: 'ranges', field, ranges: gaps, orNull }
}

/** The ranges between these. They are sorted and do not overlap. */
function gapsOf({ ranges }: Ranges): Range[] {
  const gaps: Range[] = []
  let from: Bound | undefined
  let isOpen = true
  for (const range of ranges) {
    if (range.from !== undefined) gaps.push({ ...(from && { from }), to: opposite(range.from) })
    isOpen = range.to !== undefined
    from = range.to && opposite(range.to)
  }
  return isOpen ? [...gaps, { ...(from && { from }) }] : gaps
}

function opposite({ value, inclusive }: Bound): Bound {
  return { value, inclusive: !inclusive }
}
