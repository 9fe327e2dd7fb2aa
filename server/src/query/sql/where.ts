import { authorFields } from '../../catalog/authors.ts'
import type { Field } from '../../catalog/field.ts'
import { limits } from '../../limits/limits.ts'
import { type Fragment, identifier, join, sql, value } from '../../sql.ts'
import type { All, Bound, Contains, Predicate, Range, Ranges } from '../predicate.ts'
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
      const pattern = value(patternOf(predicate.text))
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

function patternOf(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

/**
 * The predicate for finding or counting all matches among millions of records. A text without trigrams, or a negation, is not found by the
 * trigram index, so the records are read: `is true` prevents PostgreSQL from reading that whole index instead, and `ctid is not null`
 * from reading the index of the names, whose entries are in another order than the records.
 */
export function whereAmongMany(predicate: Predicate): Fragment {
  return amongMany(predicate, usesTrigrams)
}

/**
 * The same if a large part of the records match: the trigram index would find each of them, and PostgreSQL compares it again, in the
 * default collation, which takes four times as long as reading and comparing it here.
 */
export function whereAmongMost(predicate: Predicate): Fragment {
  return amongMany(predicate, () => false)
}

function amongMany(predicate: Predicate, mayUseIndex: (contains: Contains) => boolean): Fragment {
  const readsRecords = hasContains(predicate) && !hasEquality(predicate) ? sql` and ctid is not null` : sql``
  const conditionOf = (of: Predicate): Fragment => {
    if (of.kind === 'all') return sql`(${join(of.terms.map(conditionOf), ' and ')})`
    if (of.kind === 'any') return sql`(${join(of.terms.map(conditionOf), ' or ')})`
    if (of.kind === 'ranges') return anyOf(disjunctsOf(of))
    return of.kind !== 'contains' || mayUseIndex(of) ? where(of) : sql`(${containsByScan(of)}) is true`
  }
  return sql`${conditionOf(predicate)}${readsRecords}`
}

function usesTrigrams({ field, negated, text }: Contains): boolean {
  return !negated && field.unindexed === undefined && hasTrigram(text)
}

/** Whether the trigram index finds a part of the matches. */
export function hasTrigrams(predicate: Predicate): boolean {
  if (predicate.kind === 'all' || predicate.kind === 'any') return predicate.terms.some(hasTrigrams)
  return predicate.kind === 'contains' && usesTrigrams(predicate)
}

/** Characters outside ASCII whose lower case is a letter of ASCII, in every collation that the service accepts. */
const foldsToAscii: Readonly<Record<string, string>> = { i: '\u0130', k: '\u212a' }

/**
 * The letters of ASCII fold in every collation as in "C", where that takes a third of the time; those of one letter need not be folded.
 * Only a text with a character that folds to such a letter is compared in the default collation.
 */
function containsByScan(predicate: Contains): Fragment {
  const { field, text, negated } = predicate
  if (field.customKey !== undefined || !isAscii(text)) return where(predicate)
  const column = columnOf(field)
  const like = (part: string) => sql`${column} like ${value(patternOf(part))}::text`
  const lower = text.toLowerCase()
  const forms =
    text.length === 1
      ? [...new Set([lower, text.toUpperCase()])].map(like)
      : [
          lower === text.toUpperCase()
            ? like(text)
            : sql`lower(${column}) like ${value(patternOf(lower))}::text`,
        ]
  for (const [letter, special] of Object.entries(foldsToAscii)) {
    if (!lower.includes(letter)) continue
    forms.push(sql`${like(special)} and ${column} collate "default" ilike ${value(patternOf(text))}::text`)
  }
  const contains = anyOf(forms)
  return orNull(predicate, negated ? sql`not ${contains}` : contains)
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}

/** Whether pg_trgm finds a text that contains this one by its index: of three characters, padded at the borders of words within it. */
export function hasTrigram(text: string): boolean {
  for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    const padding = (index > 0 ? 2 : 0) + (index + word.length < text.length ? 1 : 0)
    if (Array.from(word).length + padding >= 3) return true
  }
  return false
}

/**
 * The predicate as disjuncts of which at most one is true for a record, so that each becomes an index scan of its own.
 * For one condition such as `categ_id!=7` PostgreSQL estimates the number of matches from statistics over all accounts,
 * and can be far off for this one. Separate index scans do not depend on the estimate.
 */
export function disjunctsOf(predicate: Predicate): readonly Fragment[] {
  // No index has a field of the account, so each scan would read all of its records.
  const ranges = predicate.kind === 'ranges' && isIndexed(predicate.field) ? rangesOf(predicate) : []
  return ranges.length > 1 && ranges.length <= limits.filterDisjunctsMax ? ranges : [where(predicate)]
}

/**
 * The predicate for an ordered scan by id, with one generic plan for all accounts and values. Only conditions whose index
 * returns records in that order may use it: an equality, or a condition on the id itself; in a sorted list, on the field that it is sorted by. `is true` prevents
 * PostgreSQL from finding all other matches by an index and sorting them: the number of matches is known to be above
 * the sort threshold, so the ordered scan is shorter.
 */
export function whereOnOrderedScan(predicate: Predicate, sortedBy?: Field): Fragment {
  return whereByIndex(
    predicate,
    (term) => isEquality(term) || refersToId(term) || ('field' in term && term.field === sortedBy),
  )
}

/**
 * The predicate in two parts: what the index of the order can use to begin and to end the scan, and what is evaluated on each of its
 * records. In the order of ids, an index of one value returns them in that order, too.
 */
export function termsOnOrderedScan(
  predicate: Predicate,
  sortedBy?: Field,
): { readonly byIndex: Fragment | undefined; readonly others: Fragment | undefined } {
  const terms = predicate.kind === 'all' ? flatTerms(predicate) : [predicate]
  const isOfIndex = (term: Predicate) =>
    sortedBy === undefined || sortedBy.name === 'id'
      ? isEquality(term) || refersToId(term)
      : 'field' in term && term.field === sortedBy
  const part = (of: readonly Predicate[]) => (of.length === 0 ? undefined : join(of.map(where), ' and '))
  return {
    byIndex: part(terms.filter(isOfIndex)),
    others: part(terms.filter((term) => !isOfIndex(term))),
  }
}

function flatTerms({ terms }: All): readonly Predicate[] {
  return terms.flatMap((term) => (term.kind === 'all' ? flatTerms(term) : [term]))
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

export function conditionsOf(predicate: Predicate): number {
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
  if (predicate.kind !== 'one-of' || !isIndexed(predicate.field)) return false
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

/** Whether the ids or unique values that it names limit the number of matches. */
export function namesRecords(predicate: Predicate): boolean {
  if (predicate.kind === 'all') return predicate.terms.some(namesRecords)
  if (predicate.kind === 'any') return predicate.terms.every(namesRecords)
  if (predicate.kind !== 'one-of' || predicate.orNull) return false
  return predicate.field.name === 'id' || ('key' in predicate.field && predicate.field.key !== undefined)
}

/** Fields that accounts have declared have none. */
function isIndexed({ customKey, unindexed }: Field): boolean {
  return customKey === undefined && unindexed === undefined
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
  const equals = sql`${columnOf(field)} = ${value(values[0])}::${parameterTypeOf(field)}`
  // PostgreSQL turns "= false" into "not", and does not see that it is never true for null.
  return field.isMostlyNull === true ? sql`(${equals} and ${columnOf(field)} is not null)` : equals
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

/** Whether it refers to who wrote a record. */
export function refersToAuthor(predicate: Predicate): boolean {
  if (predicate.kind === 'all' || predicate.kind === 'any') return predicate.terms.some(refersToAuthor)
  return authorFields.includes(predicate.field)
}

/** Whether it refers to a field that the account has declared. */
export function refersToOwnField(predicate: Predicate): boolean {
  if (predicate.kind === 'all' || predicate.kind === 'any') return predicate.terms.some(refersToOwnField)
  return predicate.field.customKey !== undefined
}
