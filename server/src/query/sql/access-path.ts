import { limits } from '../../limits/limits.ts'
import type { ListPlan } from '../plan.ts'
import { areRare, scanBudget } from './bounded-scan.ts'
import type { CarrySource, RankedId } from './carry.ts'
import { type IndexedParts, indexedParts } from './indexed-list.ts'
import { account } from './page-scan.ts'
import type { SortedEnd, SortedEnds } from './sorted-carry.ts'
import { valueFilter } from './value-sets.ts'

/** What is already known about the list at the current version. */
export interface ListHints {
  /** The account has at most `smallAccountRecordsMax` records: one generic plan evaluates any filter fast enough. */
  readonly isSmallAccount?: boolean
  /** The account has more than `filterSortRecordsMax` records, so a filter can have more matches. */
  readonly isLargeAccount?: boolean
  /** Records that match the filter. Without a filter the statement reads the total from the tally. */
  readonly total?: number
  /** The records of the account, and those of them that matched when they were counted last. */
  readonly records?: number
  readonly matches?: number
  /** The end of an earlier page. */
  readonly end?: RankedId
  /** The same for a sorted list. */
  readonly sortedEnd?: SortedEnd
  /** If total and page ends were cached at an earlier version. */
  readonly carry?: CarrySource
  /** Page ends of a sorted list, cached at the version of `carry`. */
  readonly sortedEnds?: SortedEnds
  /** With `after_id`: a page end of the whole list before it, whose total or `carry` are the other hints. */
  readonly restFrom?: RankedId
  /** If the values of the account's own fields are in a table: the fields of which it marks missing ones. */
  readonly values?: { readonly dense: ReadonlySet<string> } | undefined
}

/** How the page is found. Together with the plan, it determines the text of the statement. */
export interface AccessPath {
  /** The number of matches compared with the sort threshold, if known. In a small account it does not matter. */
  readonly total:
    | 'small-account'
    | 'unknown'
    | 'unknown-large'
    | 'below-threshold'
    | 'above-threshold'
    | 'carried'
    | 'indexed'
    | 'rest'
    | 'carried-rest'
  /** Whether the scan starts at a cached page end, not at the first record. */
  readonly fromEnd: boolean
  /** Matches between the start of the scan and the page. */
  readonly skipped: number
  readonly isFar: boolean
  /** How many records a bounded scan examines; undefined if the scan has no bound. */
  readonly budget: number | undefined
  /** If the ends of a sorted list are carried. */
  readonly scannedMax: number | undefined
  /** If the total is `indexed`. */
  readonly indexed: (() => IndexedParts) | undefined
  readonly name: string
}

export function accessPathOf(
  { resource, where, sort, limit }: ListPlan,
  page: number,
  hints: ListHints,
): AccessPath {
  const known = totalOf(hints)
  const mayBeIndexed = hints.values !== undefined && (isUnknown(known) || known === 'below-threshold')
  const table = { account, resource: resource.name, dense: hints.values?.dense ?? new Set<string>() }
  const filter = mayBeIndexed && where !== undefined ? valueFilter(where, table) : undefined
  const indexed = filter && where && (() => indexedParts(where, filter, table))
  const total = indexed === undefined ? known : 'indexed'
  // Below the threshold all matches are sorted on every request, so a page end saves nothing.
  const end = sort === undefined ? hints.end : hints.sortedEnd
  const from = where === undefined || total === 'above-threshold' ? end?.rank : undefined
  const before = (page - 1) * limit
  const count = before - (from ?? 0)
  const ends = total === 'carried' && sort !== undefined ? hints.sortedEnds : undefined
  const carried = total === 'carried' && sort === undefined ? hints.carry : undefined
  const start = ends?.nearRank ?? carried?.start.rank ?? from ?? 0
  // In another order than that of the ids, each skipped record would be on another page of the table.
  const nearMax = sort !== undefined && where === undefined ? 0 : limits.pageRecordsMax
  const isFar = before - start > nearMax
  const fromEnd = from !== undefined || ends !== undefined
  // No end is moved by more records than have changed.
  const scannedMax = ends && before + limit - ends.safeRank + limits.carriedImagesMax
  const upToPageEnd = before - start + limit
  const budget =
    where === undefined || ends !== undefined
      ? undefined
      : budgetOf(total, upToPageEnd, sort !== undefined, hints)
  const name = `${total} ${fromEnd} ${isFar} ${budget !== undefined} ${filter?.dense.join() ?? ''}`
  return { total, fromEnd, skipped: count, isFar, scannedMax, budget, indexed, name }
}

/** Undefined if the scan needs no bound: the matches are too frequent for a scan to pass many others. */
function budgetOf(
  total: AccessPath['total'],
  upToPageEnd: number,
  isSorted: boolean,
  { records = 0, matches = 0 }: ListHints,
): number | undefined {
  const isKnown = total === 'above-threshold' || total === 'carried'
  if (isKnown) {
    return areRare(matches, records) ? scanBudget(upToPageEnd, { matches, records, isSorted }) : undefined
  }
  if (total !== 'unknown-large' || !areRare(limits.filterSortRecordsMax + 1, records)) return undefined
  // If they are rare at all.
  return scanBudget(upToPageEnd, { matches: records / limits.rareMatchesFactor, records, isSorted })
}

export function isUnknown(total: AccessPath['total']): boolean {
  return total === 'unknown' || total === 'unknown-large'
}

function totalOf({ isSmallAccount, isLargeAccount, total, carry, restFrom }: ListHints): AccessPath['total'] {
  if (restFrom !== undefined) return carry === undefined ? 'rest' : 'carried-rest'
  if (isSmallAccount === true) return 'small-account'
  if (carry !== undefined) return 'carried'
  if (total === undefined) return isLargeAccount === true ? 'unknown-large' : 'unknown'
  return total > limits.filterSortRecordsMax ? 'above-threshold' : 'below-threshold'
}
