import type { Field } from '../../catalog/field.ts'
import { limits } from '../../limits/limits.ts'
import type { AccountScope } from '../../scope.ts'
import {
  type Execution,
  identifier,
  join,
  placeholder,
  type StateStatement,
  type StateTemplate,
  sql,
  value,
} from '../../sql.ts'
import { lineageColumn, stateColumns, type TallyState } from '../../tally-state.ts'
import type { ListPlan } from '../plan.ts'
import { areRare, type BoundedPage, boundedPage, scanBudget } from './bounded-scan.ts'
import {
  type CarryColumns,
  type CarrySource,
  carryColumns,
  carryHead,
  carryPlaceholders,
  carryValues,
  type RankedId,
} from './carry.ts'
import { etagOfSnapshot } from './etag.ts'
import { firstCount } from './first-count.ts'
import { type IndexedParts, indexedParts } from './indexed-list.ts'
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
import { valueFilter } from './value-sets.ts'
import { disjunctsOf, isCheapToEvaluate, isGenericOnOrderedScan } from './where.ts'

/** The columns of the one row that a list statement returns. */
export interface ListRow extends TallyState {
  /** Null if the hints contained it, or if it was carried. */
  readonly total: string | null
  /** Null if a total that is cached with this row cannot be carried to later versions. */
  readonly lineage?: string | null
  readonly gained?: CarryColumns['gained']
  readonly lost?: CarryColumns['lost']
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

/** The last record of an earlier page of a sorted list. */
export interface SortedEnd extends RankedId {
  readonly value: string
}

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
  /** With `after_id`: a page end of the whole list before it, whose total or `carry` are the other hints. */
  readonly restFrom?: RankedId
  /** If the values of the account's own fields are in a table: the fields of which it marks missing ones. */
  readonly values?: { readonly dense: ReadonlySet<string> } | undefined
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
  const end = plan.sort === undefined ? (hints.restFrom ?? hints.end) : hints.sortedEnd
  return template([scope.accountId, end?.id, path.skipped, hints.sortedEnd?.value, path.budget, ...carried])
}

const endId = placeholder()
const endValue = placeholder()
const scanBudgetOf = placeholder()

/** How the page is found. Together with the plan, it determines the text of the statement. */
interface AccessPath {
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
  /** If the total is `indexed`. */
  readonly indexed: (() => IndexedParts) | undefined
  readonly name: string
}

function accessPathOf(
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
  const isCarried = total === 'carried' && hints.carry !== undefined && sort === undefined
  // In another order than that of the ids, each skipped record would be on another page of the table.
  const nearMax = sort !== undefined && where === undefined ? 0 : limits.pageRecordsMax
  const isFar = (isCarried ? before - hints.carry.start.rank : count) > nearMax
  const fromEnd = from !== undefined
  const upToPageEnd = (isCarried ? before - hints.carry.start.rank : count) + limit
  const budget = where === undefined ? undefined : budgetOf(total, upToPageEnd, sort !== undefined, hints)
  const name = `${total} ${fromEnd} ${isFar} ${budget !== undefined} ${filter?.dense.join() ?? ''}`
  return { total, fromEnd, skipped: count, isFar, budget, indexed, name }
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

function isUnknown(total: AccessPath['total']): boolean {
  return total === 'unknown' || total === 'unknown-large'
}

function totalOf({ isSmallAccount, isLargeAccount, total, carry, restFrom }: ListHints): AccessPath['total'] {
  if (restFrom !== undefined) return carry === undefined ? 'rest' : 'carried-rest'
  if (isSmallAccount === true) return 'small-account'
  if (carry !== undefined) return 'carried'
  if (total === undefined) return isLargeAccount === true ? 'unknown-large' : 'unknown'
  return total > limits.filterSortRecordsMax ? 'above-threshold' : 'below-threshold'
}

function listTemplate(plan: ListPlan, path: AccessPath): StateTemplate {
  const { head, total, rows, inOrder, columns = sql`` } = partsOf(plan, path)
  const sorted = plan.sort && orderOf(plan.sort)
  const order = sorted === undefined ? (inOrder ? sql`` : sql` order by r.id`) : sql` order by ${sorted}`
  const last =
    sorted === undefined
      ? sql`max(r.id) as last_id`
      : sql`(array_agg(r.id order by ${sorted}))[count(*)::int] as last_id, (array_agg(r.sort_value::text order by ${sorted}))[count(*)::int] as last_value`
  const isCarried = path.total === 'carried' || path.total === 'carried-rest'
  const carried = isCarried ? sql`, ${carryColumns}` : sql``
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
    [account, endId, skipped, endValue, scanBudgetOf, ...Object.values(carryPlaceholders)],
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
  if (total === 'carried') return carriedParts(plan, selection, isBounded)
  if (plan.where === undefined) {
    const condition = isFar || plan.fields.every(isId) ? sql`` : noIndexOnlyScan
    return { head: sql``, total: sql`t.total`, rows: orderedScan(selection, condition), inOrder: !isFar }
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
      ? {
          ...selection,
          after: sql` and id > (select id from start)`,
          page: sql`limit ${value(plan.limit)}::int offset (select skipped from start)`,
        }
      : selection
  if (plan.where === undefined) {
    const condition = isFar || plan.fields.every(isId) ? sql`` : noIndexOnlyScan
    return { head, total: sql`t.total`, rows: orderedScan(from, condition), inOrder: !isFar }
  }
  const counted = firstCount(table, account, plan.where, sql`not (select valid from carry)`)
  const bounded = isBounded ? boundedPage(from, plan.where, scanBudgetOf) : undefined
  return {
    head: sql`${head}${furtherCtes([...counted.ctes, ...(bounded?.ctes ?? [])])}
`,
    total: sql`case when not (select valid from carry) then ${counted.total} end`,
    rows: bounded?.rows ?? orderedScan(from, orderedCondition(plan.where, plan.sort)),
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

function isId(field: Field): boolean {
  return field.name === 'id'
}
