import { constant, type Fragment, join, sql, type Value, value } from '../../sql.ts'
import type { SummaryPlan } from '../summary-plan.ts'
import { journalSince } from './carry.ts'
import {
  groupColumn,
  groupColumns,
  groupedBy,
  groupType,
  measureColumn,
  measuredColumn,
  numberColumn,
  recordColumns,
} from './summary-columns.ts'
import { groupValueJson } from './summary-json.ts'

/**
 * Carries the groups of a summary to a later version: of the records that changed since, those that match now are added to their
 * groups, and what those were that matched before is subtracted. A minimum cannot be carried: it may have been the subtracted value.
 */
export function canBeCarried({ measures }: SummaryPlan): boolean {
  return measures.every(({ aggregate }) => aggregate === 'sum' || aggregate === 'avg')
}

/** What was cached, and at which version. */
export interface CachedGroups {
  readonly lineage: string
  readonly version: string
  /** `groupsText` of the statement that has read them. */
  readonly groups: string
}

/** The groups as JSON, an array for each: `[[7,null,12,310.5],…]`. */
export function groupsText(plan: SummaryPlan): Fragment {
  const columns = [
    ...plan.groups.map(groupValueJson),
    sql`n`,
    ...plan.measures.flatMap(({ aggregate }, at) =>
      aggregate === 'avg' ? [measureColumn(at), numberColumn(at)] : [measureColumn(at)],
    ),
  ]
  const separated = columns.flatMap((column, at) => (at === 0 ? [column] : [sql`','`, column]))
  return sql`'[' || coalesce(string_agg('[' || ${join(separated, ' || ')} || ']', ','), '') || ']'`
}

/** The CTEs and the groups: `counted`, the groups of all records, is evaluated only if not all changes are known. */
export function carriedGroups(
  plan: SummaryPlan,
  account: Fragment,
  { lineage, version, groups }: CachedGroups,
  counted: (condition: Fragment) => Fragment,
): { readonly ctes: Fragment; readonly groups: Fragment } {
  const source = { plan, account, since: { lineage: value(lineage), version: value(version) } }
  const { ctes, isComplete } = journalSince(source, recordColumns(plan))
  const isCarried = sql`(select valid from carry)`
  const names = [...groupColumns(plan), sql`n`, ...stateNames(plan)]
  const sums = [sql`sum(n)::bigint as n`, ...stateNames(plan).map((name) => sql`sum(${name}) as ${name}`)]
  // Without a group there is one, even if it has no records.
  const isLeft = plan.groups.length === 0 ? sql`` : sql` having sum(n) > 0`
  return {
    ctes: sql`${ctes}, carry as materialized (
  select ${isComplete} as valid from tally t where t.account_id = ${account} and t.resource = ${value(plan.resource.name)}::text
), `,
    groups: sql`select ${join([...groupColumns(plan), ...sums], ', ')} from (
    ${cachedRows(plan, value(groups))} where ${isCarried}
    union all ${changedRows(plan, sql`changed`, 1)} where matches and ${isCarried}
    union all ${changedRows(plan, sql`before`, -1)} where ${isCarried}
    union all select ${join(names, ', ')} from (${counted(sql` and not ${isCarried}`)}) c
  ) parts${groupedBy(plan)}${isLeft}`,
  }
}

function stateNames({ measures }: SummaryPlan): readonly Fragment[] {
  return measures.flatMap(({ aggregate }, at) =>
    aggregate === 'avg' ? [measureColumn(at), numberColumn(at)] : [measureColumn(at)],
  )
}

function cachedRows(plan: SummaryPlan, groups: Value): Fragment {
  const types = [
    ...plan.groups.map(groupType),
    sql`bigint`,
    ...plan.measures.flatMap(({ aggregate }) =>
      aggregate === 'avg' ? [sql`numeric`, sql`bigint`] : [sql`numeric`],
    ),
  ]
  const names = [...groupColumns(plan), sql`n`, ...stateNames(plan)]
  const columns = types.map((type, at) => {
    const isText = plan.groups[at]?.field.type === 'text'
    return sql`(e->>${constant(at)})::${type}${isText ? sql` collate "C"` : sql``} as ${names[at] ?? sql``}`
  })
  return sql`select ${join(columns, ', ')} from jsonb_array_elements(${groups}::jsonb) e`
}

/** Each record as a group of its own. */
function changedRows(plan: SummaryPlan, from: Fragment, sign: 1 | -1): Fragment {
  const by = sign === 1 ? sql`` : sql`-`
  const states = plan.measures.flatMap((measure, at) => {
    const column = measuredColumn(plan, measure)
    const sum = sql`${by}coalesce(${column}, 0)::numeric as ${measureColumn(at)}`
    if (measure.aggregate !== 'avg') return [sum]
    return [sum, sql`${by}(${column} is not null)::int::bigint as ${numberColumn(at)}`]
  })
  const one = sql`${by}1::bigint as n`
  const groups = plan.groups.map((_, at) => groupColumn(at))
  return sql`select ${join([...groups, one, ...states], ', ')} from ${from}`
}
