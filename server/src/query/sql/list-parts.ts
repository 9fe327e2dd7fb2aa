import { limits } from '../../limits/limits.ts'
import { type Fragment, join, sql, type Value, value } from '../../sql.ts'
import type { ListPlan } from '../plan.ts'
import type { Predicate } from '../predicate.ts'
import { boundedPage } from './bounded-scan.ts'
import { firstCount } from './first-count.ts'
import type { IndexedParts } from './indexed-list.ts'
import {
  account,
  byIds,
  firstOf,
  furtherCtes,
  orderedCondition,
  orderedScan,
  type Parts,
  type Selection,
} from './page-scan.ts'
import { countedBefore } from './rest-of-list.ts'
import { anyOf, disjunctsOf, whereAmongMany, whereInSmallAccount } from './where.ts'

/** Total and page of a list whose total is not known. */

/** Finds all matches. One plan serves all small accounts: any index is fast enough for that number of records. */
export function inSmallAccount(selection: Selection, predicate: Predicate): Parts {
  return {
    head: sql`with matches as materialized (
  ${matchesOf(selection, [whereInSmallAccount(predicate)])}
)
`,
    total: sql`(select count(*) from matches)`,
    rows: byIds(selection, sql`select id from matches`),
    inOrder: false,
  }
}

/**
 * For a filter the planner can find all matches by their index and sort them, or scan the ids in order until the page
 * is full. It chooses the ordered scan far too often: for `write_date>…` all matches may have the highest ids, and the
 * scan reads the entire account. So the statement itself chooses, by the number of matches. Up to the sort threshold
 * they are found by their own index, once for total and page. Above it, matches are frequent enough for the ordered
 * scan.
 */
export function withUnknownTotal(selection: Selection, predicate: Predicate): Parts {
  const { table } = selection
  const threshold = value(limits.filterSortRecordsMax)
  const disjuncts = disjunctsOf(predicate)
  const condition = conditionOf(disjuncts)
  return {
    head: sql`with matches as materialized (
  ${matchesOf(selection, disjuncts)} limit ${threshold}::int + 1
), size as materialized (select count(*) as n from matches)
`,
    total: sql`case when (select n from size) <= ${threshold}::int then (select n from size)
  else (select count(*) from ${table} where account_id = ${account}::bigint and ${condition}) end`,
    inOrder: false,
    rows: sql`${firstOf(selection, sql`select id from matches`, sql`(select n from size) <= ${threshold}::int`)}
    union all
    (${orderedScan(
      selection,
      sql` and ${condition}
      and (select n from size) > ${threshold}::int`,
    )})`,
  }
}

/** The same, for filters that match a large part of millions of records. */
export function inLargeAccount(
  plan: ListPlan,
  selection: Selection,
  predicate: Predicate,
  budget: Value | undefined,
): Parts {
  const { table } = selection
  const threshold = value(limits.filterSortRecordsMax)
  const isAbove = sql`(select n from size) > ${threshold}::int`
  const { ctes, total } = firstCount(table, account, predicate, isAbove)
  const disjuncts = predicate.kind === 'ranges' ? disjunctsOf(predicate) : [whereAmongMany(predicate)]
  const isRare = sql`(select total * ${value(limits.rareMatchesFactor)}::int <= records from counted)`
  const bounded = budget && boundedPage(selection, predicate, budget, { isNeeded: isAbove, isRare })
  const counted = sql`counted as materialized (
  select ${total} as total, t.total as records from tally t
  where t.account_id = ${account}::bigint and t.resource = ${value(plan.resource.name)}::text
)`
  const inScan =
    bounded?.rows ??
    orderedScan(selection, sql`${orderedCondition(predicate, selection.sort)} and ${isAbove}`)
  return {
    head: sql`with matches as materialized (
  ${matchesOf(selection, disjuncts)} limit ${threshold}::int + 1
), size as materialized (select count(*) as n from matches)${furtherCtes([...ctes, ...(bounded === undefined ? [] : [counted, ...bounded.ctes])])}
`,
    total: sql`case when (select n from size) <= ${threshold}::int then (select n from size) else ${bounded === undefined ? total : sql`(select total from counted)`} end`,
    inOrder: false,
    ...(plan.after && { columns: countedBefore({ ...plan, after: plan.after }, isAbove) }),
    rows: sql`${firstOf(selection, sql`select id from matches`, sql`not (${isAbove})`)}
    union all
    (${inScan})`,
  }
}

/** By the table of values. Its matches are sorted if they are few; otherwise they are frequent enough for the ordered scan. */
export function byValues(selection: Selection, predicate: Predicate, parts: IndexedParts): Parts {
  const { head, total, ids, isSorted, isAnswered, stale } = parts
  const scan = (condition: Fragment) =>
    orderedScan(selection, sql`${orderedCondition(predicate, selection.sort)} and ${isAnswered}${condition}`)
  const rows =
    ids === undefined
      ? scan(sql``)
      : isSorted === undefined
        ? byIds(selection, ids)
        : sql`${firstOf(selection, ids, isSorted)}
    union all
    (${scan(sql` and not (${isSorted})`)})`
  return {
    head: sql`${head}
`,
    total: sql`case when ${isAnswered} then ${total} end`,
    rows,
    inOrder: false,
    columns: sql`, ${isAnswered} as answered, ${stale} as stale_values`,
  }
}

export function conditionOf(disjuncts: readonly Fragment[]): Fragment {
  return disjuncts.length === 1 ? join(disjuncts, '') : anyOf(disjuncts)
}

export function matchesOf({ table }: Selection, disjuncts: readonly Fragment[]): Fragment {
  const each = disjuncts.map(
    (disjunct) => sql`select id from ${table} where account_id = ${account}::bigint and ${disjunct}`,
  )
  return disjuncts.length === 1 ? join(each, '') : sql`select id from (${join(each, ' union all ')}) m`
}
