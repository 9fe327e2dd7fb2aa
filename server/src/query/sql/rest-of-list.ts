import { type Fragment, identifier, sql, value } from '../../sql.ts'
import type { ListPlan } from '../plan.ts'
import { carryHead } from './carry.ts'
import { firstCount } from './first-count.ts'
import {
  account,
  furtherCtes,
  noIndexOnlyScan,
  orderedCondition,
  orderedScan,
  type Parts,
  type Selection,
} from './page-scan.ts'
import { whereAmongMany, whereOnOrderedScan } from './where.ts'

/**
 * The rest of a list, after `after_id`. Its total is that of the whole list without the matches up to that id: those up to a page end
 * that is cached, and those between the two, which are few if the client pages by id.
 */

type RestPlan = ListPlan & { readonly after: NonNullable<ListPlan['after']> }

/** The total of the whole list is known. `from`: the id of the page end. */
export function restOfList(plan: RestPlan, selection: Selection, from: Fragment): Parts {
  return {
    head: sql``,
    total: plan.after.where === undefined ? sql`t.total` : sql`null`,
    rows: rowsAfter(plan, selection),
    inOrder: !selection.isFar,
    columns: sql`, ${between(plan, from)} as between`,
  }
}

/** The total of the whole list and the page end are carried. If that fails, both are counted. */
export function carriedRest(plan: RestPlan, selection: Selection): Parts {
  const whole = { ...plan, where: plan.after.where }
  // The start is then always the page end, not the first record.
  const head = carryHead(whole, sql`${account}::bigint`, sql`${value(Number.MAX_SAFE_INTEGER)}::bigint`)
  const counted =
    whole.where === undefined
      ? { ctes: [], total: sql`t.total` }
      : firstCount(selection.table, account, whole.where, sql`not (select valid from carry)`)
  return {
    head: sql`${head}${furtherCtes(counted.ctes)}
`,
    total:
      whole.where === undefined
        ? counted.total
        : sql`case when not (select valid from carry) then ${counted.total} end`,
    rows: rowsAfter(plan, selection),
    inOrder: !selection.isFar,
    columns: sql`, ${between(plan, sql`(select id from start)`)} as between, (select case when valid then start_rank else 0 end from carry) as start_rank`,
  }
}

/** The matches up to `after_id`, if the matches after it are counted. */
export function countedBefore({ resource, after }: RestPlan, isCounted: Fragment): Fragment {
  const condition = after.where === undefined ? sql`` : sql` and ${whereAmongMany(after.where)}`
  return sql`, case when ${isCounted} then (select count(*) from ${identifier(resource.name)} where account_id = ${account}::bigint
    and id <= ${value(after.id)}::bigint${condition}) end as between`
}

function between({ resource, after }: RestPlan, from: Fragment): Fragment {
  const condition = after.where === undefined ? sql`` : sql` and ${whereOnOrderedScan(after.where)}`
  return sql`(select count(*) from ${identifier(resource.name)} where account_id = ${account}::bigint
    and id > ${from} and id <= ${value(after.id)}::bigint${condition})`
}

function rowsAfter({ after }: RestPlan, selection: Selection): Fragment {
  const condition = after.where === undefined ? noIndexOnlyScan : orderedCondition(after.where)
  return orderedScan(selection, sql` and id > ${value(after.id)}::bigint${condition}`)
}
