import type { Field, FieldType } from '../../catalog/field.ts'
import type { Resource } from '../../catalog/resources.ts'
import { limits } from '../../limits.ts'
import type { AccountScope } from '../../scope.ts'
import {
  type Execution,
  type Fragment,
  identifier,
  join,
  placeholder,
  type Statement,
  sql,
  type Template,
  value,
} from '../../sql.ts'
import { stateColumns, type TallyState } from '../../tally-state.ts'
import type { ListPlan } from '../plan.ts'
import type { Predicate } from '../predicate.ts'
import {
  anyOf,
  disjunctsOf,
  hasEquality,
  isCheapToEvaluate,
  isGenericOnOrderedScan,
  whereInAccount,
  whereOnOrderedScan,
} from './where.ts'

/** The columns of the one row that a list statement returns. */
export interface ListRow extends TallyState {
  /** Null where the statement was told it. */
  readonly total: string | null
  readonly count: string
  /** The records as JSON objects, separated by commas. */
  readonly records: string
  /** The id of the last record; null without any. */
  readonly last_id: string | null
}

/** What is known of the same list at the version that is current. */
export interface ListHints {
  /** So few records in all, matching or not, that a filter is held against them as one plan has it. */
  readonly isSmallAccount?: boolean
  /** Of the filter; what the tally says without one. */
  readonly total?: number
  /** The end of an earlier page: so many pages of this limit end with this id. */
  readonly end?: { readonly page: number; readonly id: string }
}

/**
 * Tally, total and page in one statement, so of one snapshot. Every sub-select says `account_id = $1` itself: on a
 * distributed database the whole then runs as one task on one shard.
 *
 * JSON is built above the limited sub-select: PostgreSQL evaluates the select list of skipped rows too.
 */
export function listStatement(
  scope: AccountScope,
  plan: ListPlan,
  page: number,
  known: ListHints = {},
): Statement {
  const way = accessPathOf(plan, page, known)
  const templates = memoize(listTemplates, plan, () => new Map<string, Template>())
  const template = memoize(templates, way.name, () => listTemplate(plan, way))
  return template([scope.accountId, known.end?.id, way.skipped])
}

/** Plans are kept while their requests come again, and with each the few texts of its statements. */
const listTemplates = new WeakMap<ListPlan, Map<string, Template>>()

const account = placeholder()
const endId = placeholder()
const skipped = placeholder()

/** How a page is found: what of the statement's text follows from what is known. */
interface Way {
  /** How many match, as far as is known; `little` where there is so little to read that it does not matter. */
  readonly total: 'little' | 'unknown' | 'few' | 'many'
  readonly fromEnd: boolean
  /** Matches between the remembered end, or the beginning, and the page. */
  readonly skipped: number
  readonly isFar: boolean
  readonly name: string
}

function accessPathOf({ where, limit }: ListPlan, page: number, known: ListHints): Way {
  const total = totalOf(known)
  // Few matches are all found and sorted: they begin at the beginning.
  const from = where === undefined || total === 'many' ? known.end?.page : undefined
  const count = (page - 1 - (from ?? 0)) * limit
  const isFar = count > limits.pageRecordsMax
  const fromEnd = from !== undefined
  return { total, fromEnd, skipped: count, isFar, name: `${total} ${fromEnd} ${isFar}` }
}

function totalOf({ isSmallAccount = false, total }: ListHints): Way['total'] {
  if (isSmallAccount) return 'little'
  if (total === undefined) return 'unknown'
  return total > limits.filterSortRecordsMax ? 'many' : 'few'
}

function listTemplate(plan: ListPlan, way: Way): Template {
  const { head, total, rows, inOrder } = partsOf(plan, way)
  const order = inOrder ? sql`` : sql` order by r.id`
  return sql`${head}select ${stateColumns}, ${total} as total, p.count, p.records, p.last_id
from tally t
cross join (
  select count(*) as count, coalesce(string_agg(${recordJson(plan.fields)}, ','${order}), '') as records,
    max(r.id) as last_id
  from (
${rows}
  ) r
) p
where t.account_id = ${account}::bigint and t.resource = ${value(plan.resource.name)}::text`.template(
    [account, endId, skipped],
    'list',
    executionOf(plan, way),
  )
}

function executionOf({ where, limit }: ListPlan, { total, isFar }: Way): Execution | undefined {
  if (where !== undefined && total === 'little') {
    return isCheapToEvaluate(where) && limit <= limits.pipelinedRecordsMax ? 'pipelined' : 'generic'
  }
  if (where !== undefined) return total === 'many' && isGenericOnOrderedScan(where) ? 'generic' : undefined
  return isFar || limit > limits.pipelinedRecordsMax ? 'generic' : 'pipelined'
}

interface Parts {
  readonly head: Fragment
  readonly total: Fragment
  readonly rows: Fragment
  /** Whether the rows come by id of themselves: an aggregate over one ordered sub-select has nothing to sort. */
  readonly inOrder: boolean
}

interface Selection {
  readonly table: Fragment
  readonly columns: Fragment
  /** The matches after a remembered end, and the page among them. */
  readonly after: Fragment
  readonly page: Fragment
  readonly isFar: boolean
}

function partsOf(plan: ListPlan, { total, fromEnd, isFar }: Way): Parts {
  const selection: Selection = {
    table: identifier(plan.resource.name),
    columns: join(
      plan.fields.filter((field) => !isId(field)).map((field) => sql`, ${identifier(field.name)}`),
      '',
    ),
    after: fromEnd ? sql` and id > ${endId}::bigint` : sql``,
    page: sql`limit ${value(plan.limit)}::int offset ${skipped}::bigint`,
    isFar,
  }
  if (plan.where === undefined) {
    const condition = isFar || plan.fields.every(isId) ? sql`` : byRecords
    return { head: sql``, total: sql`t.total`, rows: walked(selection, condition), inOrder: !isFar }
  }
  if (total === 'little') return amongFew(selection, plan.where)
  if (total === 'unknown') return matching(selection, plan.where)
  const known = { head: sql``, total: sql`null` }
  const disjuncts = disjunctsOf(plan.where)
  if (total === 'many') {
    const condition = sql` and ${whereOnOrderedScan(plan.where)}${hasEquality(plan.where) ? sql`` : byRecords}`
    const rows = walked(selection, condition)
    return { ...known, rows, inOrder: !isFar }
  }
  const ids = sql`select id from (${matchesOf(selection, disjuncts)}) m`
  return { ...known, rows: byIds(selection, ids), inOrder: false }
}

/**
 * Keeps PostgreSQL from answering out of another index than the ids', one that has all the columns asked for: it would
 * read the account's part of it from end to end for every page, and sort. By the statistics an account is small.
 */
const byRecords = sql` and ctid is not null`

/** Along the primary key. Far from a known id, only ids are read on the way, and the records of the page in the end. */
function walked(selection: Selection, condition: Fragment): Fragment {
  const { table, columns, after, page, isFar } = selection
  const rows = sql`where account_id = ${account}::bigint${after}${condition}
    order by id ${page}`
  if (!isFar) return sql`    select id${columns} from ${table} ${rows}`
  return sql`    select id${columns} from ${table} where account_id = ${account}::bigint and id = any(array(
    select id from ${table} ${rows}))`
}

function byIds({ table, columns, page }: Selection, ids: Fragment): Fragment {
  return sql`    select id${columns} from ${table} where account_id = ${account}::bigint
      and id = any(array(${ids} order by id ${page}))`
}

/** All matches by one plan for all accounts that are small, whatever it is: an index of the account's has little to read. */
function amongFew(selection: Selection, predicate: Predicate): Parts {
  return {
    head: sql`with few as materialized (
  ${matchesOf(selection, [whereInAccount(predicate)])}
)
`,
    total: sql`(select count(*) from few)`,
    rows: byIds(selection, sql`select id from few`),
    inOrder: false,
  }
}

/**
 * With a filter the planner has two ways to a page: find all matches by their index and sort them, or walk the ids and
 * hope to meet enough matches soon. It bets on the second far too often (`write_date>…`: all matches may have the
 * newest ids), so the choice is made by what is there: up to `filterSortRecordsMax` matches are found by their own index,
 * once, for the total and the page; only beyond is the walk taken, when it must meet matches soon.
 */
function matching(selection: Selection, predicate: Predicate): Parts {
  const { table } = selection
  const most = value(limits.filterSortRecordsMax)
  const disjuncts = disjunctsOf(predicate)
  const condition = conditionOf(disjuncts)
  return {
    head: sql`with few as materialized (
  ${matchesOf(selection, disjuncts)} limit ${most}::int + 1
), size as materialized (select count(*) as n from few)
`,
    total: sql`case when (select n from size) <= ${most}::int then (select n from size)
  else (select count(*) from ${table} where account_id = ${account}::bigint and ${condition}) end`,
    inOrder: false,
    rows: sql`${byIds(selection, sql`select id from few`)} and (select n from size) <= ${most}::int
    union all
    (${walked(
      selection,
      sql` and ${condition}
      and (select n from size) > ${most}::int`,
    )})`,
  }
}

function conditionOf(disjuncts: readonly Fragment[]): Fragment {
  return disjuncts.length === 1 ? join(disjuncts, '') : anyOf(disjuncts)
}

function matchesOf({ table }: Selection, disjuncts: readonly Fragment[]): Fragment {
  const each = disjuncts.map(
    (disjunct) => sql`select id from ${table} where account_id = ${account}::bigint and ${disjunct}`,
  )
  return disjuncts.length === 1 ? join(each, '') : sql`select id from (${join(each, ' union all ')}) m`
}

export interface RecordRow extends TallyState {
  /** Null where there is none. */
  readonly record: string | null
}

export function recordStatement(
  scope: AccountScope,
  resource: Resource,
  fields: readonly Field[],
  id: string,
): Statement {
  const template = memoize(oneTemplates, fields, () => oneTemplate(resource, fields))
  return template([scope.accountId, id])
}

const oneTemplates = new WeakMap<readonly Field[], Template>()

const recordId = placeholder()

function oneTemplate(resource: Resource, fields: readonly Field[]): Template {
  return sql`select ${stateColumns}, (
  select ${recordJson(fields)} from ${identifier(resource.name)} r
  where r.account_id = ${account}::bigint and r.id = ${recordId}::bigint
) as record
from tally t
where t.account_id = ${account}::bigint and t.resource = ${value(resource.name)}::text`.template(
    [account, recordId],
    'record',
    'pipelined',
  )
}

/**
 * A record as JSON text, its fields in the order asked for. Put together piece by piece: `row_to_json` makes a row
 * first, which costs a tenth of the statement. Decimals are stored in their shortest form.
 */
export function recordJson(fields: readonly Field[]): Fragment {
  return memoize(jsons, fields, () => madeRecordJson(fields))
}

/** Lists that do not choose their fields have the same ones. */
const jsons = new WeakMap<readonly Field[], Fragment>()

function madeRecordJson(fields: readonly Field[]): Fragment {
  const members = fields.map((field, i) => {
    const name = identifier(field.name)
    const text = jsonText[field.wire ?? field.type](sql`r.${name}`)
    const json = field.nullable ? sql`coalesce(${text}, 'null')` : text
    return i === 0 ? sql`'{"${name}":' || ${json}` : sql`',"${name}":' || ${json}`
  })
  return sql`${join(members, ' || ')} || '}'`
}

const jsonText: Record<FieldType | NonNullable<Field['wire']>, (column: Fragment) => Fragment> = {
  integer: (column) => sql`${column}::text`,
  decimal: (column) => sql`${column}::text`,
  boolean: (column) => sql`${column}::text`,
  text: (column) => sql`to_json(${column})::text`,
  list: (column) => sql`to_json(string_to_array(${column}, ','))::text`,
  day: (column) => sql`to_char(${column} at time zone 'UTC', '\\"YYYY-MM-DD\\"')`,
  timestamp: (column) => sql`to_char(${column} at time zone 'UTC', '\\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\\"')`,
}

function isId(field: Field): boolean {
  return field.name === 'id'
}

function memoize<Key, Made>(
  made: { get(key: Key): Made | undefined; set(key: Key, value: Made): unknown },
  key: Key,
  make: () => Made,
): Made {
  const found = made.get(key)
  if (found !== undefined) return found
  const now = make()
  made.set(key, now)
  return now
}
