import { limits } from '../../limits/limits.ts'
import type { AccountScope } from '../../scope.ts'
import {
  type Fragment,
  identifier,
  join,
  type Statement,
  type StateStatement,
  sql,
  value,
} from '../../sql.ts'
import { lineageColumn, stateColumns, type TallyState } from '../../tally-state.ts'
import type { Predicate } from '../predicate.ts'
import type { SummaryPlan } from '../summary-plan.ts'
import { type CachedGroups, canBeCarried, carriedGroups, groupsText } from './summary-carry.ts'
import { aggregated, groupColumns, groupedBy, recordColumns } from './summary-columns.ts'
import { groupJson } from './summary-json.ts'
import { anyOf, disjunctsOf, whereAmongMany, whereInSmallAccount } from './where.ts'

/** The columns of the one row that a summary returns. */
export interface SummaryRow extends TallyState {
  /** The number of groups, counted up to one more than the maximum. */
  readonly count: string
  /** The number of records in these groups. */
  readonly total: string
  /** The groups as JSON objects, separated by commas. Many of them are a Buffer. */
  readonly records: string | Buffer
  /** The groups, to be carried to a later version; null if the lineage is. Only if they can be. */
  readonly groups?: string | null
  readonly lineage?: string | null
}

export interface SummaryHints {
  /** As of a list. */
  readonly isSmallAccount?: boolean
  readonly isLargeAccount?: boolean
  /** What was read at an earlier version. */
  readonly cached?: CachedGroups | undefined
}

/** Tally and groups in one statement, so from one snapshot. */
export function summaryStatement(
  { accountId }: AccountScope,
  plan: SummaryPlan,
  { isSmallAccount = false, isLargeAccount = false, cached }: SummaryHints,
): StateStatement {
  const account = sql`${value(accountId)}::bigint`
  const where = isSmallAccount ? whereInSmallAccount : isLargeAccount ? whereAmongMany : whereByIndexes
  const counted = (condition = sql``) =>
    sql`select ${join([...groupColumns(plan), ...aggregated(plan)], ', ')}
  from (${recordsOf(plan, account, where)}${condition}) r${groupedBy(plan)}`
  const { ctes, groups } =
    cached === undefined ? { ctes: sql``, groups: counted() } : carriedGroups(plan, account, cached, counted)
  const by = groupColumns(plan)
  const order = by.length === 0 ? sql`` : sql` order by ${join(by, ', ')}`
  const isCached = !isSmallAccount && canBeCarried(plan)
  const toCarry = isCached
    ? sql`, ${lineageColumn}, (select ${groupsText(plan)} from groups) as groups`
    : sql``
  return sql`with ${ctes}groups as materialized (
  ${groups} limit ${value(limits.summaryGroupsMax)}::int + 1
)
select ${stateColumns}, (select count(*) from groups) as count, (select coalesce(sum(n), 0) from groups) as total,
  (select coalesce(string_agg(${groupJson(plan)}, ','${order}), '') from groups) as records${toCarry}
from tally t where t.account_id = ${account} and t.resource = ${value(plan.resource.name)}::text`.template(
    [],
    'list',
    isSmallAccount ? 'generic' : undefined,
  )([])
}

/** The number of groups, however many there are. */
export function groupCountStatement({ accountId }: AccountScope, plan: SummaryPlan): Statement {
  const onlyGroups = { ...plan, measures: [] }
  const records = recordsOf(onlyGroups, sql`${value(accountId)}::bigint`, whereAmongMany)
  return sql`select count(*) as count from (select from (${records}) r${groupedBy(plan)}) g`.statement('list')
}

/** The columns of the records that match. */
function recordsOf(plan: SummaryPlan, account: Fragment, matches: (where: Predicate) => Fragment): Fragment {
  const { resource, where } = plan
  const { names, values } = recordColumns(plan)
  const columns = values.map((one, at) => sql`${one} as ${names[at] ?? sql``}`)
  const condition = where === undefined ? sql`` : sql` and ${matches(where)}`
  return sql`select ${join(columns, ', ')} from ${identifier(resource.name)} where account_id = ${account}${condition}`
}

function whereByIndexes(predicate: Predicate): Fragment {
  return anyOf(disjunctsOf(predicate))
}
