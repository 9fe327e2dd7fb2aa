import type { AccountTable } from '../src/accounts/lifecycle/account-tables.ts'
import { accountTablesStatement } from '../src/accounts/lifecycle/account-tables.ts'
import type { Connection } from '../src/postgres/connection.ts'

/** Rows in every table with data of accounts, whichever tables the database has: a new table needs nothing here. */

interface Column {
  readonly name: string
  readonly type: string
  readonly required: boolean
  /** The first of the values that a check allows. */
  readonly choice: string | null
}

/** Columns whose checks need more than a value of their type. */
const special: Readonly<Record<string, (marker: string, n: number) => string>> = {
  'field.name': (marker, n) => `'x_${marker}_${n}'`,
  'webhook.url': (marker) => `'https://${marker}.example'`,
}

const byType: Readonly<Record<string, (marker: string, n: number) => string>> = {
  int2: () => '1',
  int4: () => '1',
  int8: (_, n) => String(n),
  numeric: () => '1',
  bool: () => 'true',
  date: () => 'current_date',
  timestamptz: (_, n) => `now() + make_interval(secs => ${n})`,
  text: (marker, n) => `'${marker}-${n}'`,
  bytea: (marker, n) => `sha256('${marker}-${n}')`,
  jsonb: (marker) => `'{"${marker}": "${marker}"}'`,
  _int2: () => `'{}'`,
  _int8: () => `'{}'`,
  _text: (marker) => `array['${marker}']`,
  xid: () => `'0'`,
}

export async function accountTables(client: Connection): Promise<readonly AccountTable[]> {
  return (await client.run<AccountTable>(accountTablesStatement)).rows
}

/** Inserts rows into every table except those in `filled`, with the marker in every text. Rows that exist stay. */
export async function fillAccount(
  client: Connection,
  accountId: string,
  marker: string,
  rowsOf: (table: string) => number,
): Promise<void> {
  for (const { name } of await accountTables(client)) {
    const columns = await columnsOf(client, name)
    for (let n = 1; n <= rowsOf(name); n++) {
      const given = columns.filter((column) => column.name === 'account_id' || isGiven(column))
      const values = given.map((column) =>
        column.name === 'account_id' ? accountId : valueText(name, column, marker, n),
      )
      await client.query(
        `insert into ${name} (${given.map((column) => column.name).join()}) values (${values.join()}) on conflict do nothing`,
      )
    }
  }
}

const isGiven = ({ type, required }: Column) => required || type === 'text' || type === 'jsonb'

function valueText(table: string, { name, type, choice }: Column, marker: string, n: number): string {
  const own = special[`${table}.${name}`] ?? (choice === null ? byType[type] : () => `'${choice}'`)
  if (own === undefined) throw new Error(`no value for ${table}.${name} of type ${type}`)
  return own(marker, n)
}

async function columnsOf(client: Connection, table: string): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `select a.attname::text as name, t.typname::text as type, a.attnotnull and not a.atthasdef as required,
       (select (regexp_match(pg_get_constraintdef(c.oid), '''([^'']*)''::text'))[1] from pg_constraint c
         where c.conrelid = a.attrelid and c.contype = 'c' and c.conkey = array[a.attnum]
           and pg_get_constraintdef(c.oid) like '%= ANY%' limit 1) as choice
     from pg_attribute a join pg_type t on t.oid = a.atttypid
     where a.attrelid = $1::regclass and a.attnum > 0 and not a.attisdropped`,
    [table],
  )
  return rows
}

/** The number of rows of an account in each table. */
export async function rowsByTable(client: Connection, accountId: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const name of [...(await accountTables(client)).map((table) => table.name), 'account']) {
    const { rows } = await client.query<{ n: number }>(
      `select count(*)::int as n from ${name} where account_id = $1`,
      [accountId],
    )
    found[name] = rows[0]?.n ?? 0
  }
  return found
}
