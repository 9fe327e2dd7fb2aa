import type { Field } from '../catalog/field.ts'
import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, identifier, join, type Statement, sql, type Value, value } from '../sql.ts'
import type { ListPlan } from './plan.ts'
import type { Predicate } from './predicate.ts'
import { anyOf, armsOf } from './where.ts'

/** The columns of the one row that a list statement returns. */
export interface ListRow {
  readonly version: string
  readonly total: string
  readonly count: number
  /** The records as JSON objects, separated by commas. */
  readonly records: string
}

/**
 * Tally, total and page in one statement, so of one snapshot. Every sub-select says `account_id = $1` itself: on a
 * distributed database the whole then runs as one task on one shard.
 *
 * JSON is built above the limited sub-select: PostgreSQL evaluates the select list of skipped rows too.
 */
export function listStatement(scope: AccountScope, plan: ListPlan): Statement {
  const account = value(scope.accountId)
  const page = sql`limit ${value(plan.limit)}::int offset ${value((plan.page - 1) * plan.limit)}::bigint`
  const of: Selection = {
    account,
    table: identifier(plan.resource.name),
    columns: join(
      plan.fields.filter(notId).map((field) => sql`, ${identifier(field.name)}`),
      '',
    ),
    page,
  }
  const { head, total, rows } = plan.where === undefined ? everything(of) : matching(of, plan.where)
  return sql`${head}select t.version, ${total} as total, p.count, p.records
from tally t
cross join (
  select count(*)::int as count, coalesce(string_agg(row_to_json(f)::text, ',' order by r.id), '') as records
  from (
${rows}
  ) r
  cross join lateral (select ${record(plan.fields)}) f
) p
where t.account_id = ${account}::bigint and t.resource = ${value(plan.resource.name)}::text`.statement()
}

interface Selection {
  readonly account: Value
  readonly table: Fragment
  readonly columns: Fragment
  readonly page: Fragment
}

interface Parts {
  readonly head: Fragment
  readonly total: Fragment
  readonly rows: Fragment
}

/** Without a filter the tally knows the total, and the primary key the order. */
function everything({ account, table, columns, page }: Selection): Parts {
  return {
    head: sql``,
    total: sql`t.total`,
    rows: sql`    select id${columns} from ${table} where account_id = ${account}::bigint
    order by id ${page}`,
  }
}

/**
 * With a filter the planner has two ways to a page: find all matches by their index and sort them, or walk the ids and
 * hope to meet enough matches soon. It bets on the second far too often (`write_date>…`: all matches may have the
 * newest ids), so the choice is made by what is there: up to `filterSortedMax` matches are found by their own index,
 * once, for the total and the page; only beyond is the walk taken, when it must meet matches soon.
 */
function matching({ account, table, columns, page }: Selection, predicate: Predicate): Parts {
  const most = value(limits.filterSortedMax)
  const arms = armsOf(predicate)
  const condition = arms.length === 1 ? join(arms, '') : anyOf(arms)
  const each = arms.map(
    (arm) => sql`select id from ${table} where account_id = ${account}::bigint and ${arm}`,
  )
  const matches = arms.length === 1 ? join(each, '') : sql`select id from (${join(each, ' union all ')}) m`
  return {
    head: sql`with few as materialized (
  ${matches} limit ${most}::int + 1
), size as materialized (select count(*) as n from few)
`,
    total: sql`case when (select n from size) <= ${most}::int then (select n from size)
  else (select count(*) from ${table} where account_id = ${account}::bigint and ${condition}) end`,
    rows: sql`    select id${columns} from ${table} where account_id = ${account}::bigint
      and id = any(array(select id from few order by id ${page})) and (select n from size) <= ${most}::int
    union all
    (select id${columns} from ${table} where account_id = ${account}::bigint and ${condition}
      and (select n from size) > ${most}::int
    order by id ${page})`,
  }
}

export interface OneRow {
  readonly record: string
}

export function oneStatement(
  scope: AccountScope,
  resource: Resource,
  fields: readonly Field[],
  id: string,
): Statement {
  return sql`select row_to_json(f)::text as record
from ${identifier(resource.name)} r
cross join lateral (select ${record(fields)}) f
where r.account_id = ${value(scope.accountId)}::bigint and r.id = ${value(id)}::bigint`.statement()
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
