import type { Field, FieldType } from '../../catalog/field.ts'
import { limits } from '../../limits.ts'
import { type Fragment, identifier, join, sql, value } from '../../sql.ts'
import type { Border, Predicate, Range, Ranges } from '../predicate.ts'

/** The predicate as SQL over the columns of one record. */
export function where(predicate: Predicate): Fragment {
  switch (predicate.kind) {
    case 'all':
      return sql`(${join(predicate.terms.map(where), ' and ')})`
    case 'some':
      return sql`(${join(predicate.terms.map(where), ' or ')})`
    case 'one-of':
      return orNull(predicate, oneOf(predicate.field, predicate.values))
    case 'none-of':
      return orNull(
        predicate,
        sql`${column(predicate.field)} <> all(${list(predicate.field, predicate.values)})`,
      )
    case 'ranges':
      return anyOf(rangesOf(predicate))
    case 'contains': {
      const pattern = value(`%${predicate.text.replace(/[\\%_]/g, '\\$&')}%`)
      // The columns order by bytes; only the database's own collation folds case, and the trigram index is built with it.
      const folded = sql`${column(predicate.field)} collate "default"`
      return orNull(
        predicate,
        predicate.negated ? sql`${folded} not ilike ${pattern}::text` : sql`${folded} ilike ${pattern}::text`,
      )
    }
    case 'known':
      return sql`${column(predicate.field)} is not null`
    default:
      return predicate satisfies never
  }
}

/**
 * The same as conditions apart from each other, of which at most one holds for a record: each can be looked up in the
 * field's index by itself. PostgreSQL would have to guess from all accounts' statistics that `categ_id!=7` is rare in
 * this one, and guesses wrong; two look-ups need no guess.
 */
export function disjunctsOf(predicate: Predicate): readonly Fragment[] {
  const ranges = predicate.kind === 'ranges' ? rangesOf(predicate) : []
  return ranges.length > 1 && ranges.length <= limits.filterDisjunctsMax ? ranges : [where(predicate)]
}

/**
 * The same for a walk along the ids, where PostgreSQL plans once for all accounts and values. What gives records in the
 * order of their ids may use its index: an equality, or the id itself. For the rest `is true` keeps PostgreSQL from
 * looking up all matches by an index and sorting them: that a walk is shorter was seen, not guessed.
 */
export function whereOnOrderedScan(predicate: Predicate): Fragment {
  return whereByIndex(predicate, (term) => isEquality(term) || concernsId(term))
}

/**
 * The same for one plan that serves all small accounts. The trigram index may not be used by it: a text of one or two
 * letters has no trigrams, and then the index is read from end to end, that of all accounts.
 */
export function whereInAccount(predicate: Predicate): Fragment {
  return whereByIndex(predicate, (term) => !concernsPart(term))
}

/** What may not be looked up by an index is hidden from the planner: `is true` fits none. */
function whereByIndex(predicate: Predicate, mayBe: (term: Predicate) => boolean): Fragment {
  if (predicate.kind === 'all') {
    return join(
      predicate.terms.map((term) => whereByIndex(term, mayBe)),
      ' and ',
    )
  }
  return mayBe(predicate) ? where(predicate) : sql`(${where(predicate)}) is true`
}

/** Whether some hundred records are held against it in no time. */
export function isCheapToEvaluate(predicate: Predicate): boolean {
  return conditionsOf(predicate) <= limits.pipelinedConditionsMax && !concernsPart(predicate)
}

function conditionsOf(predicate: Predicate): number {
  switch (predicate.kind) {
    case 'all':
    case 'some':
      return predicate.terms.reduce((sum, term) => sum + conditionsOf(term), 0)
    case 'one-of':
    case 'none-of':
      return predicate.values.length
    case 'ranges':
      return predicate.ranges.length
    case 'contains':
    case 'known':
      return 1
    default:
      return predicate satisfies never
  }
}

function concernsPart(predicate: Predicate): boolean {
  if (predicate.kind === 'all' || predicate.kind === 'some') return predicate.terms.some(concernsPart)
  return predicate.kind === 'contains'
}

/** Whether an index of an equality's field leads along the ids: with another one, the equality could not be seen. */
export function hasEquality(predicate: Predicate): boolean {
  return predicate.kind === 'all' ? predicate.terms.some(hasEquality) : isEquality(predicate)
}

function isEquality(predicate: Predicate): boolean {
  return predicate.kind === 'one-of' && predicate.values.length === 1 && !predicate.orNull
}

/** Whether that plan is the best one for all values: not where the id is one way among others. */
export function isGenericOnOrderedScan(predicate: Predicate): boolean {
  if (predicate.kind === 'all') return predicate.terms.every(isGenericOnOrderedScan)
  return predicate.kind !== 'some' || !concernsId(predicate)
}

function concernsId(predicate: Predicate): boolean {
  if (predicate.kind === 'all' || predicate.kind === 'some') return predicate.terms.some(concernsId)
  return predicate.field.name === 'id'
}

export function anyOf(disjuncts: readonly Fragment[]): Fragment {
  return disjuncts.length === 0 ? sql`false` : sql`(${join(disjuncts, ' or ')})`
}

function rangesOf({ field, ranges, orNull: wanted }: Ranges): readonly Fragment[] {
  const each = ranges.map((range) => inRange(field, range))
  return wanted ? [...each, sql`${column(field)} is null`] : each
}

function orNull({ field, orNull: wanted }: { field: Field; orNull: boolean }, test: Fragment): Fragment {
  return wanted ? sql`(${test} or ${column(field)} is null)` : test
}

function oneOf(field: Field, values: readonly (string | boolean)[]): Fragment {
  if (values.length === 0) return sql`false`
  if (values.length > 1) return sql`${column(field)} = any(${list(field, values)})`
  return sql`${column(field)} = ${value(values[0])}::${types[field.type]}`
}

function list(field: Field, values: readonly (string | boolean)[]): Fragment {
  return sql`${value(values)}::${types[field.type]}[]`
}

function inRange(field: Field, { from, to }: Range): Fragment {
  const low = from && sql`${column(field)} ${from.inclusive ? sql`>=` : sql`>`} ${border(field, from)}`
  const high = to && sql`${column(field)} ${to.inclusive ? sql`<=` : sql`<`} ${border(field, to)}`
  if (low && high) return sql`(${low} and ${high})`
  return low ?? high ?? sql`true`
}

function border(field: Field, { value: at }: Border): Fragment {
  return sql`${value(at)}::${types[field.type]}`
}

function column(field: Field): Fragment {
  return identifier(field.name)
}

const types: Record<FieldType, Fragment> = {
  integer: sql`bigint`,
  decimal: sql`numeric`,
  text: sql`text`,
  boolean: sql`boolean`,
  timestamp: sql`timestamptz`,
}
