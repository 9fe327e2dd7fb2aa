import { etagField, type Field, type FieldType } from '../../catalog/field.ts'
import type { AccountScope } from '../../scope.ts'
import { type Fragment, identifier, join, type Statement, sql, value } from '../../sql.ts'
import type { ListPlan } from '../plan.ts'
import { etagOfSnapshot } from './etag.ts'
import { keyOf } from './field-columns.ts'
import { recordJson } from './record-json.ts'
import { where } from './where.ts'

/** `csv` has the exact texts; `spreadsheet` is CSV in the form of `spreadsheet-form.ts`. */
export const exportFormats = ['ndjson', 'csv', 'spreadsheet'] as const
export type ExportFormat = (typeof exportFormats)[number]

/**
 * A `COPY` of all records of a list by id, each as a line of JSON or a row of CSV. COPY reads the entire result, so the
 * planner compares the right costs when it chooses between the filter's index with a sort and an ordered scan.
 *
 * The first value is the account. COPY accepts no `$n`: `lists/exports/export-copy.ts` passes the values as settings.
 */
export function exportStatement(scope: AccountScope, plan: ListPlan, format: ExportFormat): Statement {
  const id = value(scope.accountId)
  const etag = etagOfSnapshot(plan.resource, id)
  const account = sql`account_id = ${id}::bigint`
  const condition = plan.where === undefined ? account : sql`${account} and ${where(plan.where)}`
  const table = identifier(plan.resource.name)
  // The select list then has parameters, too, and the account stays the first one.
  const hasOwn = plan.fields.some(({ customKey }) => customKey !== undefined)
  const head = hasOwn ? sql`with r as not materialized (select * from ${table} where ${condition}) ` : sql``
  const source = hasOwn ? sql`from r order by r.id` : sql`from ${table} r where ${condition} order by r.id`
  const copy =
    format === 'ndjson'
      ? // JSON escapes both characters, so COPY quotes nothing and each line is the JSON itself.
        sql`copy (${head}select ${recordJson(plan.fields, () => etag)} ${source})
to stdout (format csv, delimiter E'\\x01', quote E'\\x02')`
      : sql`copy (${head}select ${cells(plan.fields, format, etag)} ${source}) to stdout (format csv${quoted(plan.fields)})`
  return copy.statement()
}

/** The same text as in JSON, except in the form for spreadsheets. */
function cells(fields: readonly Field[], format: 'csv' | 'spreadsheet', etag: Fragment): Fragment {
  const cell = format === 'csv' ? exactCell : { ...exactCell, text: withoutFormulas }
  return join(
    fields.map((field) => {
      const name = cellName(field)
      if (field === etagField) return sql`'"' || ${etag} || '"' as ${name}`
      const { customKey, type } = field
      if (customKey !== undefined) return sql`${ownCell(type, customKey, format)} as ${name}`
      return sql`${cell[type](sql`r.${name}`)} as ${name}`
    }),
    ', ',
  )
}

/** The texts in `custom` are those of JSON. */
function ownCell(type: FieldType, customKey: string, format: 'csv' | 'spreadsheet'): Fragment {
  const text = sql`(r.custom->>${keyOf(customKey)})`
  return format === 'spreadsheet' && type === 'text' ? withoutFormulas(text) : text
}

/** For `force_quote`. The header is not written by PostgreSQL, so it does not need the name of a field of the account. */
function cellName(field: Field): Fragment {
  return identifier(field.customKey === undefined ? field.name : `own_${field.customKey}`)
}

const exactCell: Record<FieldType, (column: Fragment) => Fragment> = {
  integer: (column) => column,
  decimal: (column) => column,
  boolean: (column) => sql`${column}::text`,
  text: (column) => column,
  timestamp: (column) => sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
}

/**
 * Prefixes `'` to a text that begins with `= + - @`, a tab, CR or LF, or a full-width form of the signs, and to the empty
 * text. A text that begins with `'` before such a sign, or has nothing else, gets one more, so that removing one `'` restores
 * the original (`exactText` in `spreadsheet-form.ts`).
 * https://owasp.org/www-community/attacks/CSV_Injection
 *
 * Also inserts `'` before such a sign within the text, after `;`, a tab, CR or LF: a spreadsheet that separates cells by
 * these, not by commas, begins a cell there. Such a spreadsheet ignores the quotes around the text, so quotes before
 * the sign do not matter.
 *
 * Most texts fail the cheap tests (first character, a separator) and skip the longer patterns.
 */
function withoutFormulas(text: Fragment): Fragment {
  return sql`case when ascii(${text}) in (0, 9, 10, 13, 39, 43, 45, 61, 64, 65291, 65293, 65309, 65312)
  and ${text} ~ '^''*([=+@\\t\\r\\n＝＋－＠-]|$)' then '''' else '' end || case when ${text} ~ '[;\\t\\r\\n]'
  then regexp_replace(${text}, '(?<=[;\\t\\r\\n])(?=[''"]*[=+@＝＋－＠-])', '''', 'g') else ${text} end`
}

/** Text is always quoted: so the empty text, `""`, differs from null, and a line break outside quotes ends a row. */
function quoted(fields: readonly Field[]): Fragment {
  const names = fields.filter((field) => field.type === 'text').map(cellName)
  return names.length === 0 ? sql`` : sql`, force_quote (${join(names, ', ')})`
}
