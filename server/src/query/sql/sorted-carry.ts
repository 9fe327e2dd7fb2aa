import { type Fragment, placeholder, sql, value } from '../../sql.ts'
import type { ListPlan, Sort } from '../plan.ts'
import { carryPlaceholders, journalSince, type RankedId } from './carry.ts'
import { parameterTypes } from './parameter-types.ts'
import { columnOf } from './where.ts'

/**
 * Carries the page ends of a sorted list to a later version. A record that changed since moves in the order: where it was, each end after
 * it loses a rank, and where it is now, each end after it gains one. Its values before and after are those of the journal.
 */

/** The last record of an earlier page of a sorted list. */
export interface SortedEnd extends RankedId {
  readonly value: string
}

/** The end that is nearest to the page at the present version is known only to the statement, so it gets all of them. */
export interface SortedEnds {
  readonly ends: readonly SortedEnd[]
  /** Of the nearest end before the page, and of one that is before it however many records have changed. */
  readonly nearRank: number
  readonly safeRank: number
}

export const endsPlaceholders = { values: placeholder(), ids: placeholder(), ranks: placeholder() }

export function endsValues({ ends }: SortedEnds): unknown[] {
  return [ends.map((end) => end.value), ends.map(({ id }) => id), ends.map(({ rank }) => rank)]
}

export const startId = sql`(select id from start)`
export const startValue = sql`(select sort_value from start)`
export const hasStart = sql`((select count(*) from start) = 1)`

/** The CTEs of `carryHead`, where `start` may have no row: then the scan starts at the first record. */
export function sortedCarryHead(plan: ListPlan, sort: Sort, account: Fragment, skipped: Fragment): Fragment {
  const { lineage, version } = carryPlaceholders
  const { values, ids, ranks } = endsPlaceholders
  const { ctes, isComplete } = journalSince(
    { plan, account, since: { lineage, version } },
    { names: [sql`sort_value`], values: [columnOf(sort.field)], refersToOwnField: false },
  )
  const direction = sort.isDescending ? sql` desc` : sql``
  const collation = sort.field.type === 'text' ? sql` collate "C"` : sql``
  // Records without a value come after every end.
  return sql`with ${ctes}, carry as materialized (
  select ${isComplete} as valid from tally t where t.account_id = ${account} and t.resource = ${value(plan.resource.name)}::text
), moved as materialized (
  select sort_value, id, at, rank + sum(shift) over (order by sort_value${direction}, id${direction}) as rank from (
    select sort_value, id, 1 as shift, null::bigint as rank, null::bigint as at from changed where matches
    union all select sort_value, id, -1, null, null from before
    union all select e.value${collation}, e.id, 0, e.rank, e.at
    from unnest(${values}::${parameterTypes[sort.field.type]}[], ${ids}::bigint[], ${ranks}::bigint[]) with ordinality e(value, id, rank, at)
  ) m where sort_value is not null
), start as materialized (
  select sort_value, id, ${skipped} - rank as skipped from moved
  where at is not null and rank <= ${skipped} and (select valid from carry) order by at desc limit 1
)
`
}

export const ranksColumn = sql`, case when (select valid from carry) then (select string_agg(rank::text, ',' order by at) from moved where at is not null) end as ranks`
