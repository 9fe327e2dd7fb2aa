import { type Fragment, join, placeholder, sql } from '../../sql.ts'
import type { Predicate } from '../predicate.ts'
import { hasEquality, whereOnOrderedScan } from './where.ts'

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
  /** `limit` and `offset` of the page among them. */
  readonly page: Fragment
  readonly isFar: boolean
}

export function furtherCtes(ctes: readonly Fragment[]): Fragment {
  return join(
    ctes.map((cte) => sql`, ${cte}`),
    '',
  )
}

export function orderedCondition(predicate: Predicate): Fragment {
  return sql` and ${whereOnOrderedScan(predicate)}${hasEquality(predicate) ? sql`` : noIndexOnlyScan}`
}

/**
 * Prevents an index-only scan of another index that covers the requested columns. PostgreSQL would choose it because,
 * by the statistics over all accounts, an account is small; for every page it would read the account's entire part of
 * that index and sort it.
 */
export const noIndexOnlyScan = sql` and ctid is not null`

/** Scans the primary key in order. If the page is far from the start, it skips by id alone, then reads the page's records. */
export function orderedScan(selection: Selection, condition: Fragment): Fragment {
  const { table, columns, after, page, isFar } = selection
  const rows = sql`where account_id = ${account}::bigint${after}${condition}
    order by id ${page}`
  if (!isFar) return sql`    select id${columns} from ${table} ${rows}`
  return sql`    select id${columns} from ${table} where account_id = ${account}::bigint and id = any(array(
    select id from ${table} ${rows}))`
}

export function byIds({ table, columns, page }: Selection, ids: Fragment): Fragment {
  return sql`    select id${columns} from ${table} where account_id = ${account}::bigint
      and id = any(array(${ids} order by id ${page}))`
}
