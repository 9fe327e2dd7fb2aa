import type { AccountScope } from '../../scope.ts'
import { type Fragment, identifier, join, type Statement, sql, value } from '../../sql.ts'

/** A table with rows of accounts, as the database catalog describes it: a new table need not be added here. */
export interface AccountTable {
  readonly name: string
  /** The columns of the primary key after `account_id`, and their types. */
  readonly columns: readonly string[]
  readonly types: readonly string[]
}

/** A position in a table: the last key that was deleted. */
export type Position = Readonly<Record<string, string>>

/** Keys and webhooks first, so that nothing new begins; then the tallies, without which nothing can be written. */
const first = ['api_key', 'webhook', 'tally']

/** Every table with a column `account_id`, except `account`. */
export const accountTablesStatement: Statement = sql`select c.relname as name,
  coalesce(array_agg(a.attname::text order by k.n) filter (where a.attname <> 'account_id'), '{}') as columns,
  coalesce(array_agg(t.typname::text order by k.n) filter (where a.attname <> 'account_id'), '{}') as types
from pg_class c
join pg_index i on i.indrelid = c.oid and i.indisprimary
cross join unnest(i.indkey::int2[]) with ordinality k(attnum, n)
join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
join pg_type t on t.oid = a.atttypid
where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'account'
  and exists (select from pg_attribute o where o.attrelid = c.oid and o.attname = 'account_id' and not o.attisdropped)
group by c.oid, c.relname
order by array_position(${value(first)}::text[], c.relname::text) nulls last, c.relname`.statement('account')

/** The key of the last row of the next `rows` rows. No row if there are fewer. */
export function endOfStep(
  table: AccountTable,
  scope: AccountScope,
  after: Position | undefined,
  rows: number,
): Statement {
  const columns = table.columns.map((name) => sql`${identifier(name)}::text as ${identifier(name)}`)
  return sql`select ${join(columns, ', ')} from ${identifier(table.name)} where ${rowsOf(table, scope, after)}
order by ${join(table.columns.map(identifier), ', ')} offset ${value(rows - 1)}::int limit 1`.statement(
    'account',
  )
}

/** Deletes the rows after a key up to another one, or to the end, and returns their number. */
export function deleteStep(
  table: AccountTable,
  scope: AccountScope,
  after: Position | undefined,
  to: Position | undefined,
): Statement {
  const end = to === undefined ? sql`` : sql` and ${compared(table, '<=', to)}`
  return sql`with gone as (delete from ${identifier(table.name)} where ${rowsOf(table, scope, after)}${end} returning 1)
select count(*)::float8 as rows from gone`.statement('account')
}

function rowsOf(table: AccountTable, { accountId }: AccountScope, after: Position | undefined): Fragment {
  const account = sql`account_id = ${value(accountId)}::bigint`
  return after === undefined ? account : sql`${account} and ${compared(table, '>', after)}`
}

function compared({ columns, types }: AccountTable, operator: '>' | '<=', position: Position): Fragment {
  const values = columns.map((name, i) => sql`${value(position[name])}::${identifier(types[i] ?? '')}`)
  const [left, right] = [join(columns.map(identifier), ', '), join(values, ', ')]
  return operator === '>' ? sql`(${left}) > (${right})` : sql`(${left}) <= (${right})`
}
