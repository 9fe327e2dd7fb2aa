import type { Field } from '../../catalog/field.ts'
import { limits } from '../../limits/limits.ts'
import type { AccountScope } from '../../scope.ts'
import {
  type Execution,
  type Fragment,
  identifier,
  join,
  placeholder,
  type StateStatement,
  type StateTemplate,
  sql,
  value,
} from '../../sql.ts'
import { lineageColumn, stateColumns, type TallyState } from '../../tally-state.ts'
import type { ListPlan, Sort } from '../plan.ts'
import { type AccessPath, accessPathOf, isUnknown, type ListHints } from './access-path.ts'
import { type BoundedPage, boundedPage } from './bounded-scan.ts'
import { type CarryColumns, carryColumns, carryHead, carryPlaceholders, carryValues } from './carry.ts'
import { etagOfSnapshot } from './etag.ts'
import { firstCount } from './first-count.ts'
import { byValues, inLargeAccount, inSmallAccount, matchesOf, withUnknownTotal } from './list-parts.ts'
import {
  account,
  afterSorted,
  byIds,
  furtherCtes,
  noIndexOnlyScan,
  orderedCondition,
  orderedScan,
  orderOf,
  type Parts,
  type Selection,
  skipped,
} from './page-scan.ts'
import { columnsAfterId, recordJson } from './record-json.ts'
import { carriedRest, restOfList } from './rest-of-list.ts'
import {
  endsPlaceholders,
  endsValues,
  hasStart,
  ranksColumn,
  sortedCarryHead,
  startId,
  startValue,
} from './sorted-carry.ts'
import { disjunctsOf, isCheapToEvaluate, isGenericOnOrderedScan } from './where.ts'

/** The columns of the one row that a list statement returns. */
export interface ListRow extends TallyState {
  /** Null if the hints contained it, or if it was carried. */
  readonly total: string | null
  /** Null if a total that is cached with this row cannot be carried to later versions. */
  readonly lineage?: string | null
  readonly gained?: CarryColumns['gained']
  readonly lost?: CarryColumns['lost']
  /** The ranks of the sorted ends at the state of the row, separated by commas. Null if they could not be carried. */
  readonly ranks?: string | null
  /** Only with `values`. `f`: the table of values had no answer, and the row has none. */
  readonly answered?: string
  /** Only of the rest of a list: the matches between the cached page end and `after_id`; null if they were not counted. */
  readonly between?: string | null
  /** The rank of the page end at the state of the row; 0 if it could not be carried. */
  readonly start_rank?: string
  /** The number of records whose values in the table are outdated; null if the table cannot be used. */
  readonly stale_values?: string | null
  readonly count: string
  /** The records as JSON objects, separated by commas. Many of them are a Buffer. */
  readonly records: string | Buffer
  /** The id of the last record; null if there are no records. */
  readonly last_id: string | null
  /** Only of a sorted list: its value, by which it is sorted; null if it has none. */
  readonly last_value?: string | null
}

/** The templates of a plan's statements, by access path. They live as long as whoever keeps the plan. */
export type ListTemplates = Map<string, StateTemplate>

/**
 * Tally, total and page in one statement, so from one snapshot. Every sub-select has its own `account_id = $1`, so that
 * only the server with the account takes part. A new template is added to `templates`.
 *
 * JSON is built outside the limited sub-select, because PostgreSQL evaluates the select list of skipped rows, too.
 */
export function listStatement(
  scope: AccountScope,
  plan: ListPlan,
  page: number,
  hints: ListHints = {},
  templates: ListTemplates = new Map(),
): StateStatement {
  const path = accessPathOf(plan, page, hints)
  const template = templates.get(path.name) ?? listTemplate(plan, path)
  templates.set(path.name, template)
  const carried = hints.carry === undefined ? [] : carryValues(hints.carry)
  const ends = hints.sortedEnds === undefined ? [] : endsValues(hints.sortedEnds)
  const end = plan.sort === undefined ? (hints.restFrom ?? hints.end) : hints.sortedEnd
  const { skipped: offset, scannedMax: scanned, budget } = path
  return template([
    scope.accountId,
    end?.id,
    offset,
    hints.sortedEnd?.value,
    scanned,
    budget,
    ...carried,
    ...ends,
  ])
}

const endId = placeholder()
const endValue = placeholder()
const scanMax = placeholder()
const scanBudgetOf = placeholder()

function listTemplate(plan: ListPlan, path: AccessPath): StateTemplate {
  const { head, total, rows, inOrder, columns = sql`` } = partsOf(plan, path)
  const sorted = plan.sort && orderOf(plan.sort)
  const order = sorted === undefined ? (inOrder ? sql`` : sql` order by r.id`) : sql` order by ${sorted}`
  const last =
    sorted === undefined
      ? sql`max(r.id) as last_id`
      : sql`(array_agg(r.id order by ${sorted}))[count(*)::int] as last_id, (array_agg(r.sort_value::text order by ${sorted}))[count(*)::int] as last_value`
  const isCarried = path.total === 'carried' || path.total === 'carried-rest'
  const carriesEnds = path.scannedMax !== undefined
  const carried = isCarried ? sql`, ${carryColumns}${carriesEnds ? ranksColumn : sql``}` : sql``
  const execution = executionOf(plan, path)
  // Of a pipelined list nothing is cached that could be carried.
  const isCounted =
    isCarried ||
    path.total === 'rest' ||
    path.total === 'indexed' ||
    (isUnknown(path.total) && execution !== 'pipelined')
  const lineage = isCounted ? sql`, ${lineageColumn}` : sql``
  return sql`${head}select ${stateColumns}${lineage}, ${total} as total${carried}${columns}, p.count, p.records, p.last_id${plan.sort === undefined ? sql`` : sql`, p.last_value`}
from tally t
cross join (
  select count(*) as count, coalesce(string_agg(${recordJson(plan.fields, () => etagOfSnapshot(plan.resource, account))}, ','${order}), '') as records,
    ${last}
  from (
${rows}
  ) r
) p
where t.account_id = ${account}::bigint and t.resource = ${value(plan.resource.name)}::text`.template(
    [
      account,
      endId,
      skipped,
      endValue,
      scanMax,
      scanBudgetOf,
      ...Object.values(carryPlaceholders),
      ...Object.values(endsPlaceholders),
    ],
    'list',
    execution,
  )
}

function executionOf(
  { where, after, sort, limit }: ListPlan,
  { total, isFar, budget }: AccessPath,
): Execution | undefined {
  // The best index for all matches depends on the values.
  if (budget !== undefined) return undefined
  if (after !== undefined && (total === 'rest' || total === 'carried-rest'))
    return after.where === undefined || isGenericOnOrderedScan(after.where) ? 'generic' : undefined
  // Which index is best depends on the size of the account.
  if (sort !== undefined && total !== 'small-account') return undefined
  if (where !== undefined && total === 'small-account') {
    return isCheapToEvaluate(where) && limit <= limits.pipelinedRecordsMax ? 'pipelined' : 'generic'
  }
  if (where !== undefined) {
    const isOrdered = total === 'above-threshold' || total === 'carried'
    return isOrdered && isGenericOnOrderedScan(where) ? 'generic' : undefined
  }
  return isFar || total === 'carried' || limit > limits.pipelinedRecordsMax ? 'generic' : 'pipelined'
}

function partsOf(plan: ListPlan, { total, fromEnd, isFar, budget, indexed }: AccessPath): Parts {
  const selection: Selection = {
    table: identifier(plan.resource.name),
    columns: columnsAfterId(plan.fields),
    after: fromEnd
      ? plan.sort
        ? afterSorted(plan.sort, endValue, endId)
        : sql` and id > ${endId}::bigint`
      : sql``,
    sort: plan.sort,
    limit: plan.limit,
    page: sql`limit ${value(plan.limit)}::int offset ${skipped}::bigint`,
    isFar,
  }
  if (plan.after !== undefined && total === 'rest')
    return restOfList({ ...plan, after: plan.after }, selection, sql`${endId}::bigint`)
  if (plan.after !== undefined && total === 'carried-rest')
    return carriedRest({ ...plan, after: plan.after }, selection)
  const isBounded = budget !== undefined
  if (total === 'carried')
    return fromEnd && plan.sort
      ? carriedSorted(plan, plan.sort, selection)
      : carriedParts(plan, selection, isBounded)
  if (plan.where === undefined)
    return {
      head: sql``,
      total: sql`t.total`,
      rows: orderedScan(selection, scanCondition(plan, isFar)),
      inOrder: !isFar,
    }
  if (indexed !== undefined) return byValues(selection, plan.where, indexed())
  if (total === 'small-account') return inSmallAccount(selection, plan.where)
  if (total === 'unknown') return withUnknownTotal(selection, plan.where)
  if (total === 'unknown-large')
    return inLargeAccount(plan, selection, plan.where, isBounded ? scanBudgetOf : undefined)
  const known = { head: sql``, total: sql`null` }
  if (total === 'above-threshold') {
    const bounded = isBounded ? boundedPage(selection, plan.where, scanBudgetOf) : undefined
    if (bounded !== undefined) return { ...known, ...withCtes(bounded), inOrder: false }
    return {
      ...known,
      rows: orderedScan(selection, orderedCondition(plan.where, plan.sort)),
      inOrder: !isFar,
    }
  }
  const ids = sql`select id from (${matchesOf(selection, disjunctsOf(plan.where))}) m`
  return { ...known, rows: byIds(selection, ids), inOrder: false }
}

/** Total and page ends are carried from the version at which they were cached. If that fails, the matches are counted. */
function carriedParts(plan: ListPlan, selection: Selection, isBounded: boolean): Parts {
  const { table, isFar } = selection
  const head = carryHead(plan, sql`${account}::bigint`, sql`${skipped}::bigint`)
  // Page ends by id are of no use to a sorted list.
  const from: Selection =
    plan.sort === undefined
      ? { ...selection, after: sql` and id > ${startId}`, page: fromStart(plan) }
      : selection
  const rows = orderedScan(from, scanCondition(plan, isFar))
  if (plan.where === undefined) return { head, total: sql`t.total`, rows, inOrder: !isFar }
  const counted = firstCount(table, account, plan.where, sql`not (select valid from carry)`)
  const bounded = isBounded ? boundedPage(from, plan.where, scanBudgetOf) : undefined
  return {
    head: sql`${head}${furtherCtes([...counted.ctes, ...(bounded?.ctes ?? [])])}
`,
    total: sql`case when not (select valid from carry) then ${counted.total} end`,
    rows: bounded?.rows ?? rows,
    inOrder: bounded === undefined && !isFar,
  }
}

function withCtes({ ctes, rows }: BoundedPage): Pick<Parts, 'head' | 'rows'> {
  return {
    head: sql`with ${join(ctes, ', ')}
`,
    rows,
  }
}

/**
 * The same with the ends of a sorted list. Without one before the page, the scan starts at the first record. If the ends cannot be carried
 * there are no rows, and nothing is counted.
 */
function carriedSorted(plan: ListPlan, sort: Sort, selection: Selection): Parts {
  const condition = scanCondition(plan, selection.isFar)
  const afterStart: Selection = {
    ...selection,
    after: afterSorted(sort, startValue, startId),
    page: fromStart(plan),
    scannedMax: sql`${scanMax}::bigint`,
  }
  const fromFirst: Selection = { ...selection, after: sql`` }
  return {
    head: sortedCarryHead(plan, sort, sql`${account}::bigint`, sql`${skipped}::bigint`),
    total: plan.where === undefined ? sql`t.total` : sql`null`,
    rows: sql`(${orderedScan(afterStart, sql`${condition} and ${hasStart}`)})
    union all
    (${orderedScan(fromFirst, sql`${condition} and (select valid from carry) and not ${hasStart}`)})`,
    inOrder: false,
  }
}

function fromStart({ limit }: ListPlan): Fragment {
  return sql`limit ${value(limit)}::int offset (select skipped from start)`
}

function scanCondition({ where, fields, sort }: ListPlan, isFar: boolean): Fragment {
  if (where !== undefined) return orderedCondition(where, sort)
  return isFar || fields.every(isId) ? sql`` : noIndexOnlyScan
}

function isId(field: Field): boolean {
  return field.name === 'id'
}
