import type { Field } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, identifier, join, type Statement, sql, type Value, value } from '../sql.ts'
import { history, type TallyState } from '../tally-state.ts'
import type { ListPlan } from './plan.ts'
import type { Predicate } from './predicate.ts'
import { anyOf, armsOf } from './where.ts'

/** The columns of the one row that a list statement returns. */
export interface ListRow extends TallyState {
  /** Null where the statement was told it. */
  readonly total: string | null
  readonly count: number
  /** The records as JSON objects, separated by commas. */
  readonly records: string
  /** The id of the last record; null without any. */
  readonly last_id: string | null
}

/** What is remembered of the same list at the version that is current. */
export interface Remembered {
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
export function listStatement(scope: AccountScope, plan: ListPlan, remembered: Remembered = {}): Statement {
  const account = value(scope.accountId)
  const { head, total, rows } = partsOf(account, plan, remembered)
  const statement =
    sql`${head}select ${history} as history, t.version, ${total} as total, p.count, p.records, p.last_id
from tally t
cross join (
  select count(*)::int as count, coalesce(string_agg(row_to_json(f)::text, ',' order by r.id), '') as records,
    max(r.id) as last_id
  from (
${rows}
  ) r
  cross join lateral (select ${record(plan.fields)}) f
) p
where t.account_id = ${account}::bigint and t.resource = ${value(plan.resource.name)}::text`.statement()
  return plan.where === undefined ? { ...statement, steady: true } : statement
}

interface Parts {
  readonly head: Fragment
  readonly total: Fragment
  readonly rows: Fragment
}

interface Selection {
  readonly account: Value
  readonly table: Fragment
  readonly columns: Fragment
  /** The page among all matches. */
  readonly page: Fragment
  /** The page among the matches after a remembered end, and how many of them come before it. */
  readonly after: Fragment
  readonly pageAfter: Fragment
  readonly skipped: number
}

function partsOf(account: Value, plan: ListPlan, { total, end }: Remembered): Parts {
  const limit = value(plan.limit)
  const page = sql`limit ${limit}::int offset ${value((plan.page - 1) * plan.limit)}::bigint`
  const skipped = (plan.page - 1 - (end?.page ?? 0)) * plan.limit
  const selection: Selection = {
    account,
    table: identifier(plan.resource.name),
    columns: join(
      plan.fields.filter(notId).map((field) => sql`, ${identifier(field.name)}`),
      '',
    ),
    page,
    after: end === undefined ? sql`` : sql` and id > ${value(end.id)}::bigint`,
    pageAfter: end === undefined ? page : sql`limit ${limit}::int offset ${value(skipped)}::bigint`,
    skipped,
  }
  if (plan.where === undefined) return { head: sql``, total: sql`t.total`, rows: walked(selection, sql``) }
  if (total === undefined) return matching(selection, plan.where)
  const known = { head: sql``, total: sql`null` }
  const arms = armsOf(plan.where)
  if (total > limits.filterSortedMax)
    return { ...known, rows: walked(selection, sql` and ${conditionOf(arms)}`) }
  return { ...known, rows: byIds(selection, sql`select id from (${matchesOf(selection, arms)}) m`) }
}

/** Along the primary key. Far from a known id, only ids are read on the way, and the records of the page in the end. */
function walked(selection: Selection, condition: Fragment): Fragment {
  const { account, table, columns, after, pageAfter, skipped } = selection
  const rows = sql`where account_id = ${account}::bigint${after}${condition}
    order by id ${pageAfter}`
  if (skipped <= limits.pageRecordsMax) return sql`    select id${columns} from ${table} ${rows}`
  return sql`    select id${columns} from ${table} where account_id = ${account}::bigint and id = any(array(
    select id from ${table} ${rows}))`
}

function byIds({ account, table, columns, page }: Selection, ids: Fragment): Fragment {
  return sql`    select id${columns} from ${table} where account_id = ${account}::bigint
      and id = any(array(${ids} order by id ${page}))`
}

/**
 * With a filter the planner has two ways to a page: find all matches by their index and sort them, or walk the ids and
 * hope to meet enough matches soon. It bets on the second far too often (`write_date>…`: all matches may have the
 * newest ids), so the choice is made by what is there: up to `filterSortedMax` matches are found by their own index,
 * once, for the total and the page; only beyond is the walk taken, when it must meet matches soon.
 */
function matching(selection: Selection, predicate: Predicate): Parts {
  const { account, table } = selection
  const most = value(limits.filterSortedMax)
  const arms = armsOf(predicate)
  const condition = conditionOf(arms)
  return {
    head: sql`with few as materialized (
  ${matchesOf(selection, arms)} limit ${most}::int + 1
), size as materialized (select count(*) as n from few)
`,
    total: sql`case when (select n from size) <= ${most}::int then (select n from size)
  else (select count(*) from ${table} where account_id = ${account}::bigint and ${condition}) end`,
    rows: sql`${byIds(selection, sql`select id from few`)} and (select n from size) <= ${most}::int
    union all
    (${walked(
      selection,
      sql` and ${condition}
      and (select n from size) > ${most}::int`,
    )})`,
  }
}

function conditionOf(arms: readonly Fragment[]): Fragment {
  return arms.length === 1 ? join(arms, '') : anyOf(arms)
}

function matchesOf({ account, table }: Selection, arms: readonly Fragment[]): Fragment {
  const each = arms.map(
    (arm) => sql`select id from ${table} where account_id = ${account}::bigint and ${arm}`,
  )
  return arms.length === 1 ? join(each, '') : sql`select id from (${join(each, ' union all ')}) m`
}

export interface OneRow extends TallyState {
  /** Null where there is none. */
  readonly record: string | null
}

export function oneStatement(
  scope: AccountScope,
  resource: Resource,
  fields: readonly Field[],
  id: string,
): Statement {
  const account = value(scope.accountId)
  const statement = sql`select ${history} as history, t.version, (
  select row_to_json(f)::text from ${identifier(resource.name)} r cross join lateral (select ${record(fields)}) f
  where r.account_id = ${account}::bigint and r.id = ${value(id)}::bigint
) as record
from tally t
where t.account_id = ${account}::bigint and t.resource = ${value(resource.name)}::text`.statement()
  return { ...statement, steady: true }
}

/** The wire form of the selected fields, in the order asked for. Decimals are stored in their shortest form. */
function record(fields: readonly Field[]): Fragment {
  return join(
    fields.map((field) => {
      const name = identifier(field.name)
      return field.type === 'timestamp'
        ? sql`to_char(r.${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${name}`
        : sql`r.${name}`
    }),
    ', ',
  )
}

function notId(field: Field): boolean {
  return field.name !== 'id'
}
