import type { Field } from '../../catalog/field.ts'
import { limits } from '../../limits/limits.ts'
import { type Fragment, identifier, join, sql, value } from '../../sql.ts'
import type { Bound, Predicate, Range, Ranges } from '../predicate.ts'
import { ownColumn, ownParameter, ownParameterTypes } from './field-columns.ts'
import { parameterTypes } from './parameter-types.ts'

/** The predicate as SQL over the columns of one record. */
export function where(predicate: Predicate): Fragment {
  switch (predicate.kind) {
    case 'all':
      return sql`(${join(predicate.terms.map(where), ' and ')})`
    case 'any':
      return sql`(${join(predicate.terms.map(where), ' or ')})`
    case 'one-of':
      return orNull(predicate, oneOf(predicate.field, predicate.values))
    case 'none-of':
      return orNull(
        predicate,
        sql`${columnOf(predicate.field)} <> all(${list(predicate.field, predicate.values)})`,
      )
    case 'ranges':
      return anyOf(rangesOf(predicate))
    case 'contains': {
      const pattern = value(`%${predicate.text.replace(/[\\%_]/g, '\\$&')}%`)
      // The columns have collation "C". Only the default collation folds case, and the trigram index is built with it.
      const folded = sql`${columnOf(predicate.field)} collate "default"`
      return orNull(
        predicate,
        predicate.negated ? sql`${folded} not ilike ${pattern}::text` : sql`${folded} ilike ${pattern}::text`,
      )
    }
    case 'not-null':
      return sql`${columnOf(predicate.field)} is not null`
    default:
      return predicate satisfies never
  }
}

/**
 * The predicate as disjuncts of which at most one is true for a record, so that each becomes an index scan of its own.
 * For one condition such as `categ_id!=7` PostgreSQL estimates the number of matches from statistics over all accounts,
 * and can be far off for this one. Separate index scans do not depend on the estimate.
 */
export function disjunctsOf(predicate: Predicate): readonly Fragment[] {
  // No index has a field of the account, so each scan would read all of its records.
  const ranges =
    predicate.kind === 'ranges' && predicate.field.customKey === undefined ? rangesOf(predicate) : []
  return ranges.length > 1 && ranges.length <= limits.filterDisjunctsMax ? ranges : [where(predicate)]
}

/**
 * The predicate for an ordered scan by id, with one generic plan for all accounts and values. Only conditions whose index
 * returns records in order of their ids may use it: an equality, or a condition on the id itself. `is true` prevents
 * PostgreSQL from finding all other matches by an index and sorting them: the number of matches is known to be above
 * the sort threshold, so the ordered scan is shorter.
 */
export function whereOnOrderedScan(predicate: Predicate): Fragment {
  return whereByIndex(predicate, (term) => isEquality(term) || refersToId(term))
}

/**
 * The predicate for the generic plan of small accounts. It must not use the trigram index: a text of one or two
 * characters has no trigrams, and PostgreSQL would then read the entire index, which contains all accounts.
 */
export function whereInSmallAccount(predicate: Predicate): Fragment {
  return whereByIndex(predicate, (term) => !hasContains(term))
}

/** No index matches a condition with `is true`, so the planner does not use one for it. */
function whereByIndex(predicate: Predicate, mayUseIndex: (term: Predicate) => boolean): Fragment {
  if (predicate.kind === 'all') {
    return join(
      predicate.terms.map((term) => whereByIndex(term, mayUseIndex)),
      ' and ',
    )
  }
  return mayUseIndex(predicate) ? where(predicate) : sql`(${where(predicate)}) is true`
}

/** Whether evaluating it for all records of a small account is fast enough for a pipelined connection. */
export function isCheapToEvaluate(predicate: Predicate): boolean {
  return conditionsOf(predicate) <= limits.pipelinedConditionsMax && !hasContains(predicate)
}

function conditionsOf(predicate: Predicate): number {
  switch (predicate.kind) {
    case 'all':
    case 'any':
      return predicate.terms.reduce((sum, term) => sum + conditionsOf(term), 0)
    case 'one-of':
    case 'none-of':
      return predicate.values.length
    case 'ranges':
      return predicate.ranges.length
    case 'contains':
    case 'not-null':
      return 1
    default:
      return predicate satisfies never
  }
}

export function hasContains(predicate: Predicate): boolean {
  if (predicate.kind === 'all' || predicate.kind === 'any') return predicate.terms.some(hasContains)
  return predicate.kind === 'contains'
}

/**
 * Whether the predicate requires an equality. Then an index-only scan is possible only on the index of that field, since no
 * other index contains the field; and that index returns records in order of their ids.
 */
export function hasEquality(predicate: Predicate): boolean {
  return predicate.kind === 'all' ? predicate.terms.some(hasEquality) : isEquality(predicate)
}

function isEquality(predicate: Predicate): boolean {
  if (predicate.kind !== 'one-of' || predicate.field.customKey !== undefined) return false
  return predicate.values.length === 1 && !predicate.orNull
}

/**
 * Whether one plan of the ordered scan is best for all values. Not if the id occurs in an `or`: then the best plan depends
 * on the values.
 */
export function isGenericOnOrderedScan(predicate: Predicate): boolean {
  if (predicate.kind === 'all') return predicate.terms.every(isGenericOnOrderedScan)
  return predicate.kind !== 'any' || !refersToId(predicate)
}

function refersToId(predicate: Predicate): boolean {
  if (predicate.kind === 'all' || predicate.kind === 'any') return predicate.terms.some(refersToId)
  return predicate.field.name === 'id'
}

export function anyOf(disjuncts: readonly Fragment[]): Fragment {
  return disjuncts.length === 0 ? sql`false` : sql`(${join(disjuncts, ' or ')})`
}

function rangesOf({ field, ranges, orNull: includesNull }: Ranges): readonly Fragment[] {
  const each = ranges.map((range) => inRange(field, range))
  return includesNull ? [...each, sql`${columnOf(field)} is null`] : each
}

function orNull(
  { field, orNull: includesNull }: { field: Field; orNull: boolean },
  test: Fragment,
): Fragment {
  return includesNull ? sql`(${test} or ${columnOf(field)} is null)` : test
}

function oneOf(field: Field, values: readonly (string | boolean)[]): Fragment {
  if (values.length === 0) return sql`false`
  if (values.length > 1) return sql`${columnOf(field)} = any(${list(field, values)})`
  return sql`${columnOf(field)} = ${value(values[0])}::${parameterTypeOf(field)}`
}

function list(field: Field, values: readonly (string | boolean)[]): Fragment {
  return sql`${value(values)}::${parameterTypeOf(field)}[]`
}

function inRange(field: Field, { from, to }: Range): Fragment {
  const low = from && sql`${columnOf(field)} ${from.inclusive ? sql`>=` : sql`>`} ${bound(field, from)}`
  const high = to && sql`${columnOf(field)} ${to.inclusive ? sql`<=` : sql`<`} ${bound(field, to)}`
  if (low && high) return sql`(${low} and ${high})`
  return low ?? high ?? sql`true`
}

function bound(field: Field, { value: limit }: Bound): Fragment {
  const parameter = field.customKey === undefined ? limit : ownParameter(field.type, limit)
  return sql`${value(parameter)}::${parameterTypeOf(field)}`
}

/** A field of the catalog has a column. */
export function columnOf({ name, type, customKey }: Field): Fragment {
  return customKey === undefined ? identifier(name) : ownColumn(type, customKey)
}

function parameterTypeOf({ type, customKey }: Field): Fragment {
  return customKey === undefined ? parameterTypes[type] : ownParameterTypes[type]
}

/** Whether it refers to a field that the account has declared. */
export function refersToOwnField(predicate: Predicate): boolean {
  if (predicate.kind === 'all' || predicate.kind === 'any') return predicate.terms.some(refersToOwnField)
  return predicate.field.customKey !== undefined
}
