import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { to } from 'pg-copy-streams'
import type { ResourceName } from '../../catalog/resources.ts'
import { limits } from '../../limits/limits.ts'
import type { Connection } from '../../postgres/connection.ts'
import type { AccountScope } from '../../scope.ts'
import { type Fragment, type Statement, sql, value } from '../../sql.ts'
import { type Lineages, lineageColumns, stateColumns, type TallyState } from '../../tally-state.ts'

/** A statement without an operation: its duration is not measured, because it depends on the reader of the export. */
export type CopyStatement = Pick<Statement, 'text' | 'values'>

/** An export whose COPY is running, and the state of the data that it reads. */
export interface StartedExport extends TallyState, Lineages {
  /** Records of the resource, regardless of the filter. */
  readonly total: number
  /** The output of COPY. A chunk can end within a record. */
  readonly chunks: Readable
  /** Called after the last chunk. Returns the number of records. The export is complete only if this resolves. */
  finish(): Promise<number>
}

export interface ExportRequest {
  readonly scope: AccountScope
  readonly resource: ResourceName
  readonly copy: CopyStatement
}

export interface ExportRow extends Lineages {
  readonly total: string
}

/** How the tally is read before the COPY. */
export interface TallyReader<Row extends ExportRow> {
  readonly columns: Fragment
  /** The state of the row. Throws if the server may not run the export. */
  readonly accept: (row: Row) => TallyState | Promise<TallyState>
}

/** On the primary. */
export const primaryTally: TallyReader<ExportRow & TallyState> = {
  columns: sql`${stateColumns}, ${lineageColumns}`,
  accept: ({ epoch, version, xid }) => ({ epoch, version, xid }),
}

/**
 * Reads the tally and the records in one transaction, so from one snapshot. Returns when the first chunk is available,
 * or the result is known to be empty: errors of the statement are thrown here, before anything is sent to the client.
 */
export async function startExport<Row extends ExportRow>(
  connection: Connection,
  { scope, resource, copy }: ExportRequest,
  { columns, accept }: TallyReader<Row>,
): Promise<StartedExport> {
  await connection.query(connection.beginText('isolation level repeatable read read only'))
  const tally = tallyStatement(scope, resource, columns)
  const { rows } = await connection.query<Row>(tally.text, [...tally.values])
  const [row] = rows
  if (row === undefined)
    throw new Error(`the account ${scope.accountId} has no tally of the resource ${resource}`)
  const state = await accept(row)
  const { text, settings } = withSettings(copy, scope)
  const settingsOf = connection.layout.form(settingsFor)
  for (const statement of settings)
    for (const { text: set, values } of settingsOf(statement, scope)) await connection.query(set, [...values])
  const chunks = connection.query(to(text))
  // If the connection breaks between two reads, the next read throws the error.
  chunks.on('error', () => {})
  await once(chunks, 'readable')
  const { lineages, lineage_starts, changes_from, total } = row
  return {
    ...state,
    lineages,
    lineage_starts,
    changes_from,
    total: Number(total),
    chunks,
    finish: async () => {
      await connection.query('commit')
      return chunks.rowCount
    },
  }
}

function tallyStatement(scope: AccountScope, resource: ResourceName, columns: Fragment): Statement {
  return sql`select ${columns}, t.total from tally t
where account_id = ${value(scope.accountId)}::bigint and resource = ${value(resource)}::text`.statement()
}

/**
 * COPY accepts no `$n`. Earlier statements of its transaction store the values in settings, by `$n`, and the text of the
 * COPY refers to these settings: input never becomes part of a statement's text. Only the account, `$1`, is inserted into
 * the text: it is a number from our own database.
 *
 * If a condition reads a setting directly, the planner knows its value, but PostgreSQL reads and parses it for every
 * record. So only the first `exportDirectValuesMax` values are read directly. The others are read by a sub-select, which
 * is evaluated once.
 */
export function withSettings(
  { text, values }: CopyStatement,
  scope: AccountScope,
): { readonly text: string; readonly settings: readonly CopyStatement[] } {
  if (values[0] !== scope.accountId || !/^\d{1,19}$/.test(scope.accountId))
    throw new Error('the first value of an export is not its account')
  const direct = directlyRead(values)
  return {
    text: text.replaceAll(/\$(\d+)::([a-z]+(?:\[\])?)/g, (_, n: string, type: string) => {
      if (n === '1') return `'${scope.accountId}'::${type}`
      const setting = `current_setting('quartermaster.v${n}')::${type}`
      // The second cast prevents PostgreSQL from parsing `any((select …))` as a sub-select of rows.
      return direct.has(Number(n)) ? setting : `(select ${setting})::${type}`
    }),
    settings: settingStatements(values),
  }
}

/** The statements that make the values of `set` available wherever the COPY reads them. */
export const settingsFor: (set: CopyStatement, scope: AccountScope) => CopyStatement[] = (set) => [set]

/** The numbers of the values that are read for every record. Every element of a list counts towards the limit. */
function directlyRead(values: readonly unknown[]): ReadonlySet<number> {
  const numbers = new Set<number>()
  let left = limits.exportDirectValuesMax
  for (const [i, item] of values.entries()) {
    const size = Array.isArray(item) ? item.length : 1
    if (i === 0 || size > left) continue
    left -= size
    numbers.add(i + 1)
  }
  return numbers
}

/** In batches, because PostgreSQL allows 1,664 columns in a select list and a filter can have more values. */
function settingStatements([, ...values]: readonly unknown[]): CopyStatement[] {
  const statements: CopyStatement[] = []
  for (let from = 0; from < values.length; from += limits.exportSettingsBatchMax) {
    const batch = values.slice(from, from + limits.exportSettingsBatchMax)
    const columns = batch.map((_, i) => `set_config('quartermaster.v${from + i + 2}', $${i + 1}::text, true)`)
    statements.push({ text: `select ${columns.join(', ')}`, values: batch })
  }
  return statements
}
