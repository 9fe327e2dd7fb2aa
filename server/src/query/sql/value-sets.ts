import type { Field, FieldType } from '../../catalog/field.ts'
import type { Resource } from '../../catalog/resources.ts'
import { limits } from '../../limits/limits.ts'
import type { AccountScope } from '../../scope.ts'
import { type Fragment, identifier, join, type Statement, sql, type Value, value } from '../../sql.ts'
import type { All, Any, Bound, PlainValue, Predicate, Range } from '../predicate.ts'
import { recordsById } from './by-id.ts'
import { disjunctsOf, hasContains, refersToOwnField, where } from './where.ts'

/**
 * A filter on fields that an account has declared, as sets of records in the table of their values. There a condition is found by an
 * index; on the records themselves it is evaluated for each one.
 */
export type ValueFilter = OneCondition | Complement | Candidates

/** The filter is one condition: each part has records that match it, and no record is in two. */
interface OneCondition {
  readonly kind: 'one-condition'
  readonly parts: readonly Fragment[]
  readonly dense: readonly string[]
}

/** The filter is one condition that is also true without a value: the parts have the records that do not match. */
interface Complement {
  readonly kind: 'complement'
  readonly parts: readonly Fragment[]
  readonly dense: readonly string[]
}

/** Each set has all records that match the filter, and others. */
interface Candidates {
  readonly kind: 'candidates'
  readonly sets: readonly Fragment[]
  readonly dense: readonly string[]
}

/** The table of values of a resource. */
export interface ValueTable {
  readonly account: Value
  readonly resource: string
  /** The fields whose missing values are marked, by their numbers. */
  readonly dense: ReadonlySet<string>
}

/** More candidates would be counted for nothing: one of the first is nearly always small enough. */
const candidateSetsMax = 3

/** Undefined if the table of values does not help. */
export function valueFilter(predicate: Predicate, table: ValueTable): ValueFilter | undefined {
  const dense = new Set<string>()
  const found = predicate.kind === 'all' ? amongIds(predicate, table, dense) : undefined
  if (found !== undefined) return { kind: 'one-condition', parts: found, dense: [...dense] }
  if (predicate.kind === 'all' || predicate.kind === 'any') {
    // A "contains" may first find all records with a frequent word.
    const ordered = candidatesOf(predicate, table, dense).toSorted(
      (a, b) => Number(a.isSlow) - Number(b.isSlow),
    )
    const sets = ordered.slice(0, candidateSetsMax).map(({ selects }) => join(selects, ' union all '))
    return sets.length === 0 ? undefined : { kind: 'candidates', sets, dense: [...dense] }
  }
  if (predicate.field.customKey === undefined) return undefined
  const parts = partsOf(predicate, table, dense)
  if (parts !== undefined) return { kind: 'one-condition', parts, dense: [...dense] }
  const hasValue = valueCondition(predicate)
  return { kind: 'complement', parts: [ofField(predicate.field, sql`not (${where(hasValue)})`)], dense: [] }
}

/** One condition, and others on the id, such as `after_id` of the request: the table of values has the ids. */
function amongIds(all: All, table: ValueTable, dense: Set<string>): Fragment[] | undefined {
  const terms = termsOf(all)
  const [first, ...more] = terms.filter((term) => !refersToIdOnly(term))
  if (first === undefined || more.length > 0 || first.kind === 'all' || first.kind === 'any') return undefined
  if (first.field.customKey === undefined) return undefined
  const onIds = terms.filter((term) => term !== first).map(where)
  return partsOf(first, table, dense)?.map((part) => join([part, ...onIds], ' and '))
}

/** The window of ids and the filter of a request are terms, and each can have terms. */
function termsOf({ terms }: All): readonly Predicate[] {
  return terms.flatMap((term) => (term.kind === 'all' ? termsOf(term) : [term]))
}

function refersToIdOnly(predicate: Predicate): boolean {
  if (predicate.kind === 'all' || predicate.kind === 'any') return predicate.terms.every(refersToIdOnly)
  return predicate.field.name === 'id'
}

interface CandidateSet {
  /** Selects of ids. */
  readonly selects: readonly Fragment[]
  readonly isSlow: boolean
}

function candidatesOf(predicate: Predicate, table: ValueTable, dense: Set<string>): readonly CandidateSet[] {
  if (predicate.kind === 'all') return predicate.terms.flatMap((term) => candidatesOf(term, table, dense))
  if (predicate.kind === 'any') return unionOf(predicate, table, dense)
  if (predicate.field.customKey === undefined) return []
  const selects = partsOf(predicate, table, dense)?.map((part) => idsWith(table, part))
  return selects === undefined ? [] : [{ selects, isSlow: hasContains(predicate) }]
}

/** Every term needs a set. Those without fields of the account have the indexes of the records. */
function unionOf(any: Any, table: ValueTable, dense: Set<string>): readonly CandidateSet[] {
  if (!refersToOwnField(any)) return []
  const selects: Fragment[] = []
  for (const term of any.terms) {
    if (refersToOwnField(term)) {
      const [first] = candidatesOf(term, table, dense)
      if (first === undefined) return []
      selects.push(...first.selects)
    } else {
      const records = identifier(table.resource)
      selects.push(
        sql`select id from ${records} where account_id = ${table.account}::bigint and ${where(term)}`,
      )
    }
    // Planning more of them would take longer than evaluating every record.
    if (selects.length > limits.filterDisjunctsMax) return []
  }
  return [{ selects, isSlow: hasContains(any) }]
}

type Leaf = Exclude<Predicate, All | Any>

/** Conditions on rows of the table of values, at most one of which is true for a record. Undefined if some matches have no row. */
function partsOf(leaf: Leaf, table: ValueTable, dense: Set<string>): Fragment[] | undefined {
  const { field } = leaf
  const parts = disjunctsOf(valueCondition(leaf)).map((condition) => ofField(field, condition))
  if (leaf.kind === 'not-null' || !leaf.orNull) return parts
  const number = field.customKey ?? ''
  if (!table.dense.has(number)) return undefined
  dense.add(number)
  return [...parts, sql`field = ${value(`-${number}`)}::bigint and number is not null`]
}

function ofField({ customKey, type }: Field, condition: Fragment): Fragment {
  return sql`field = ${value(customKey)}::bigint and ${columnOf(type)} is not null and ${condition}`
}

/** The ids of the records with such a row. */
export function idsWith({ account, resource }: ValueTable, part: Fragment): Fragment {
  return sql`select id from ${valueTable(resource)} where account_id = ${account}::bigint and ${part}`
}

/** Of how many of the records in `ids`, a relation, there is such a row. */
export function countAmong({ account, resource }: ValueTable, part: Fragment, ids: Fragment): Fragment {
  return sql`(select count(*) from ${ids} s cross join lateral (
    select from ${valueTable(resource)} where account_id = ${account}::bigint and id = s.id and ${part} limit 1) v)`
}

export function valueTable(resource: string): Fragment {
  return identifier(`${resource}_value`)
}

/** The condition on the value alone, without null, for a row of the table of values. */
function valueCondition(leaf: Leaf): Predicate {
  const { type } = leaf.field
  const { name: _, customKey: __, ...rest } = leaf.field
  const field: Field = {
    ...rest,
    name: type === 'text' ? 'text' : 'number',
    type: type === 'text' ? 'text' : 'decimal',
  }
  switch (leaf.kind) {
    case 'one-of':
    case 'none-of':
      return { ...leaf, field, orNull: false, values: leaf.values.map((one) => storedValue(type, one)) }
    case 'ranges':
      return { ...leaf, field, orNull: false, ranges: leaf.ranges.map((range) => storedRange(type, range)) }
    case 'contains':
      return { ...leaf, field, orNull: false }
    case 'not-null':
      return { ...leaf, field }
    default:
      return leaf satisfies never
  }
}

function columnOf(type: FieldType): Fragment {
  return type === 'text' ? sql`text` : sql`number`
}

function storedRange(type: FieldType, { from, to }: Range): Range {
  const stored = (bound: Bound): Bound => ({ ...bound, value: storedValue(type, bound.value) })
  return { ...(from && { from: stored(from) }), ...(to && { to: stored(to) }) }
}

/** A value of a filter as the table has it. */
function storedValue(type: FieldType, plain: PlainValue): PlainValue {
  if (type === 'boolean') return plain === true ? '1' : '0'
  return type === 'timestamp' ? String(millisecondsOf(String(plain))) : plain
}

/** `Date` knows years of more than four digits only with a sign. */
function millisecondsOf(timestamp: string): number {
  return Date.parse(timestamp.startsWith('10000-') ? `+0${timestamp}` : timestamp)
}

/** Deletes the rows of these records. By their addresses: so PostgreSQL finds each record by the primary key, whatever it expects of the account. */
export function deleteValues(
  { accountId }: AccountScope,
  { name }: Resource,
  ids: readonly string[],
): Statement {
  const table = valueTable(name)
  const rows = recordsById(table, value(accountId), sql`${value(ids)}::bigint[]`, sql`ctid as address`)
  return sql`delete from ${table} where ctid = any(array(select address from ${rows}))`.statement('fields')
}
