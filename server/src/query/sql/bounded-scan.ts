import { limits } from '../../limits/limits.ts'
import { type Fragment, sql, type Value, value } from '../../sql.ts'
import type { Predicate } from '../predicate.ts'
import {
  account,
  inOrder,
  noIndexOnlyScan,
  orderOf,
  recordsOf,
  type Selection,
  sortColumn,
} from './page-scan.ts'
import { columnOf, termsOnOrderedScan, whereAmongMany } from './where.ts'

/** A page whose ids are found in one or the other way. */
export interface BoundedPage {
  readonly ctes: readonly Fragment[]
  readonly rows: Fragment
}

/** When the parts of a bounded page run: conditions of the whole statement, each computed once. */
export interface BoundedWhen {
  /** Whether the page is needed at all. */
  readonly isNeeded?: Fragment
  /** Whether the matches are a small part of the account. If not, an ordered scan without a budget follows. Without it they are. */
  readonly isRare?: Fragment
}

/**
 * How many records an ordered scan examines before all matches are sorted instead: four times as many as there would be up to the end of
 * the page if the matches were spread evenly over the order, and not so many that sorting would have taken less. In the order of ids a
 * record is next to the one before; in any other, each is on another page of the table.
 */
export function scanBudget(
  upToPageEnd: number,
  { matches, records, isSorted }: { matches: number; records: number; isSorted: boolean },
): number {
  const expected = (upToPageEnd * records) / Math.max(matches, 1)
  const max = isSorted ? matches / 4 : matches
  return Math.ceil(Math.min(Math.max(4 * expected, limits.scannedRecordsMin), max))
}

/** Whether the matches of a filter are a small part of the account, and still too many to be sorted for each page. */
export function areRare(matches: number, records: number): boolean {
  return matches > limits.filterSortRecordsMax && matches * limits.rareMatchesFactor <= records
}

/**
 * The page of a filter whose matches are many, and a small part of the account. If they are spread over the order, a scan in that order
 * soon has the page. If they are at its other end, such as the newest hundred thousand of ten million records by id, it would read all
 * others before. So the scan ends after `budget` records. Then all matches are found by their own index, and sorted.
 *
 * Undefined if an index finds the matches in the order of the list.
 */
export function boundedPage(
  selection: Selection,
  predicate: Predicate,
  budget: Value,
  { isNeeded, isRare }: BoundedWhen = {},
): BoundedPage | undefined {
  const { byIndex, others } = termsOnOrderedScan(predicate, selection.sort?.field)
  if (others === undefined) return undefined
  const needed = isNeeded === undefined ? sql`` : sql` and ${isNeeded}`
  const rare = isRare === undefined ? sql`` : sql` and ${isRare}`
  const condition = sql`${byIndex === undefined ? sql`` : sql` and ${byIndex}`}${noIndexOnlyScan}`
  const scanned = (columns: Fragment, part: Fragment, when: Fragment) =>
    inOrder(selection, columns, sql`${condition}${when}`, part)
  const isIncomplete = sql`(select incomplete from examined)`
  const far = isRare === undefined ? sql`` : sql` union all select id from far_matches`
  return {
    ctes: [
      sql`near as materialized (
  select id from (${scanned(sql`, (${others}) is true as matches`, sql`limit ${budget}::bigint`, needed)}) n
  where matches ${selection.page}
)`,
      sql`examined as materialized (
  select (select count(*) from near) < ${value(selection.limit)}::int and exists (
    ${scanned(sql``, sql`limit 1 offset ${budget}::bigint`, needed)}) as incomplete
)`,
      sql`all_matches as materialized (
  select id from (${matchesToSort(selection, predicate, sql`${isIncomplete}${rare}`)}) r
  order by ${selection.sort === undefined ? sql`r.id` : orderOf(selection.sort)} ${selection.page}
)`,
      ...(isRare === undefined
        ? []
        : [
            sql`far_matches as materialized (
  select id from (${inOrder(selection, sql``, sql`${condition} and (${others}) is true and ${isIncomplete} and not (${isRare})`, selection.page)}) f
)`,
          ]),
    ],
    rows: sql`    ${recordsOf(
      selection,
      sql`(
      select id from near union select id from all_matches${far})`,
    )}`,
  }
}

/** `offset 0` keeps the planner from the scan in order, whose end it expects too soon. */
function matchesToSort(
  { table, after, sort }: Selection,
  predicate: Predicate,
  condition: Fragment,
): Fragment {
  // Records without a value come last, so they are after any page end.
  const from =
    sort?.field.nullable === true ? sql` and (${columnOf(sort.field)} is null or (true${after}))` : after
  return sql`select id${sortColumn(sort)} from ${table} where account_id = ${account}::bigint${from}
    and ${whereAmongMany(predicate)} and ${condition} offset 0`
}
