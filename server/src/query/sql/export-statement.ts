import type { Field, FieldType } from '../../catalog/field.ts'
import type { AccountScope } from '../../scope.ts'
import { type Fragment, identifier, join, type Statement, sql, value } from '../../sql.ts'
import type { ListPlan } from '../plan.ts'
import { recordJson } from './list-statement.ts'
import { where } from './where.ts'

export type ExportFormat = 'ndjson' | 'csv'

/**
 * All records of a list as `COPY` writes them: a line of JSON each, or a row of CSV, by id. COPY reads the whole result, so
 * the planner is right to choose between the filter's index with a sort and the walk along the ids by their whole cost.
 *
 * The first value is the account. COPY takes no `$n`: `lists/export-copy.ts` hands the values over another way.
 */
export function exportStatement(scope: AccountScope, plan: ListPlan, format: ExportFormat): Statement {
  const account = sql`account_id = ${value(scope.accountId)}::bigint`
  const condition = plan.where === undefined ? account : sql`${account} and ${where(plan.where)}`
  const source = sql`from ${identifier(plan.resource.name)} r where ${condition} order by r.id`
  const copy =
    format === 'csv'
      ? sql`copy (select ${cells(plan.fields)} ${source}) to stdout (format csv${quoted(plan.fields)})`
      : // Neither character can be in JSON, which escapes them, so each line comes out as it is.
        sql`copy (select ${recordJson(plan.fields)} ${source})
to stdout (format csv, delimiter E'\\x01', quote E'\\x02')`
  return copy.statement()
}

/** As in JSON, but for texts that a spreadsheet would take for formulas. */
function cells(fields: readonly Field[]): Fragment {
  return join(
    fields.map(
      (field) => sql`${cell[field.type](sql`r.${identifier(field.name)}`)} as ${identifier(field.name)}`,
    ),
    ', ',
  )
}

const cell: Record<FieldType, (column: Fragment) => Fragment> = {
  integer: (column) => column,
  decimal: (column) => column,
  boolean: (column) => sql`${column}::text`,
  text: harmless,
  timestamp: (column) => sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
}

/**
 * One `'` more before a text that begins with `= + - @`, a tab, CR or LF, or a full-width form of the signs; also after `'`
 * that are there already, so that dropping one gives the text back. https://owasp.org/www-community/attacks/CSV_Injection
 *
 * One more, too, before such a sign within the text where a spreadsheet that does not split at commas lets a cell begin: after
 * `;`, a tab, CR or LF. It does not see the quotes around the text either, so quotes before the sign change nothing.
 *
 * The look at the first character, and for a separator, spare nearly all texts the longer patterns.
 */
function harmless(text: Fragment): Fragment {
  return sql`case when ascii(${text}) in (9, 10, 13, 39, 43, 45, 61, 64, 65291, 65293, 65309, 65312)
  and ${text} ~ '^''*[=+@\\t\\r\\n＝＋－＠-]' then '''' else '' end || case when ${text} ~ '[;\\t\\r\\n]'
  then regexp_replace(${text}, '(?<=[;\\t\\r\\n])(?=[''"]*[=+@＝＋－＠-])', '''', 'g') else ${text} end`
}

/** Texts always in quotes: then the empty text, `""`, is not null, and a line break outside of quotes ends a row. */
function quoted(fields: readonly Field[]): Fragment {
  const names = fields.filter((field) => field.type === 'text').map((field) => identifier(field.name))
  return names.length === 0 ? sql`` : sql`, force_quote (${join(names, ', ')})`
}
