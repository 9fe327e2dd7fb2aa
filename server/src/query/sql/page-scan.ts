import { type Fragment, join, placeholder, sql, type Value } from '../../sql.ts'
import type { Sort } from '../plan.ts'
import type { Predicate } from '../predicate.ts'
import { recordsIn } from './by-id.ts'
import { parameterTypes } from './parameter-types.ts'
import { columnOf, hasEquality, whereOnOrderedScan } from './where.ts'

/** How the records of a page are found. */

export const account = placeholder()
export const skipped = placeholder()

export interface Parts {
  /** The `with` clause, if any. */
  readonly head: Fragment
  readonly total: Fragment
  readonly rows: Fragment
  /** Whether the rows are already sorted by id, so that the aggregate need not sort them. */
  readonly inOrder: boolean
  /** Further columns, each after a comma. */
  readonly columns?: Fragment
}

export interface Selection {
  readonly table: Fragment
  readonly columns: Fragment
  /** Restricts the matches to those after a cached page end. */
  readonly after: Fragment
  /** Undefined: by id. */
  readonly sort: Sort | undefined
  readonly limit: number
  /** `limit` and `offset` of the page among them. */
  readonly page: Fragment
  /** If only the statement knows the offset: how many records the scan may read, so that PostgreSQL expects few. */
  readonly scannedMax?: Fragment
  readonly isFar: boolean
}

export function furtherCtes(ctes: readonly Fragment[]): Fragment {
  return join(
    ctes.map((cte) => sql`, ${cte}`),
    '',
  )
}

export function orderedCondition(predicate: Predicate, sort?: Sort): Fragment {
  return sql` and ${whereOnOrderedScan(predicate, sort?.field)}${hasEquality(predicate) ? sql`` : noIndexOnlyScan}`
}

/**
 * Prevents an index-only scan of another index that covers the requested columns. PostgreSQL would choose it because,
 * by the statistics over all accounts, an account is small; for every page it would read the account's entire part of
 * that index and sort it.
 */
export const noIndexOnlyScan = sql` and ctid is not null`

/** Scans an index in order. If the page is far from the start, it skips by that index alone, then reads the page's records. */
export function orderedScan(selection: Selection, condition: Fragment): Fragment {
  const { columns, sort, page, isFar } = selection
  const rows = (of: Fragment) => inOrder(selection, sql`${sortColumn(sort)}${of}`, condition, page)
  if (!isFar) return sql`    ${rows(columns)}`
  const ids = sort === undefined ? rows(sql``) : sql`select id from (${rows(sql``)}) far`
  return sql`    ${recordsOf(
    selection,
    sql`(
    ${ids})`,
  )}`
}

/** The records with these ids: a select in parentheses. */
export function recordsOf({ table, columns, sort }: Selection, ids: Fragment): Fragment {
  return sql`select r.* from ${recordsIn(table, account, ids, sql`id${sortColumn(sort)}${columns}`)}`
}

/** A part of an ordered scan. `columns` begin with a comma, `part` is its `limit` and `offset`. */
export function inOrder(
  selection: Selection,
  columns: Fragment,
  condition: Fragment,
  part: Fragment,
): Fragment {
  const { table, after, sort } = selection
  if (sort !== undefined) return sortedScan(selection, sort, columns, condition, part)
  return sql`select id${columns} from ${table} where account_id = ${account}::bigint${after}${condition}
    order by id ${part}`
}

/**
 * The records without a value come last in both directions, and the index has them at one end. So each part is a scan of its own, and the
 * second begins when the first has ended.
 */
function sortedScan(
  { table, after, scannedMax }: Selection,
  { field, isDescending }: Sort,
  columns: Fragment,
  condition: Fragment,
  part: Fragment,
): Fragment {
  const within = (scan: Fragment) =>
    scannedMax === undefined
      ? sql`${scan} ${part}`
      : sql`select * from (${scan} limit ${scannedMax}) scanned ${part}`
  const column = columnOf(field)
  const direction = isDescending ? sql` desc` : sql``
  const order = field.name === 'id' ? sql`id${direction}` : sql`${column}${direction}, id${direction}`
  const all = sql`select id${columns} from ${table} where account_id = ${account}::bigint${condition}`
  if (!field.nullable) return within(sql`${all}${after} order by ${order}`)
  return within(sql`select * from (
    (${all} and ${column} is not null${after} order by ${order})
    union all
    (${all} and ${column} is null order by id${direction})
  ) parts`)
}

/** Restricts the matches to those after a cached page end. */
export function afterSorted(
  { field, isDescending }: Sort,
  endValue: Fragment | Value,
  endId: Fragment | Value,
): Fragment {
  const isAfter = isDescending ? sql`<` : sql`>`
  if (field.name === 'id') return sql` and id ${isAfter} ${endId}::bigint`
  return sql` and (${columnOf(field)}, id) ${isAfter} (${endValue}::${parameterTypes[field.type]}, ${endId}::bigint)`
}

/** What the page is sorted by, besides the id. */
export function sortColumn(sort: Sort | undefined): Fragment {
  return sort === undefined ? sql`` : sql`, ${columnOf(sort.field)} as sort_value`
}

/** The order of the rows of a page, with the alias `r`. */
export function orderOf({ isDescending }: Sort): Fragment {
  return isDescending ? sql`r.sort_value desc nulls last, r.id desc` : sql`r.sort_value, r.id`
}

/** `condition`: whether the page is found in this way. */
export function byIds(selection: Selection, ids: Fragment, condition?: Fragment): Fragment {
  const { sort, page } = selection
  const when = condition === undefined ? sql`` : sql` where ${condition}`
  if (sort === undefined) return sql`    ${recordsOf(selection, sql`(${ids} order by id ${page})`)}${when}`
  // Not only the ids: the values are those of the records.
  return sql`    select * from (${recordsOf(selection, sql`(${ids})`)}${when}) r order by ${orderOf(sort)} ${page}`
}

/** The same as the first part of a union. */
export function firstOf(selection: Selection, ids: Fragment, condition: Fragment): Fragment {
  const rows = byIds(selection, ids, condition)
  return selection.sort === undefined ? rows : sql`(${rows})`
}
