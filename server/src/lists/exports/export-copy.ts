import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type pg from 'pg'
import { to } from 'pg-copy-streams'
import type { ResourceName } from '../../catalog/resources.ts'
import { limits } from '../../limits.ts'
import { beginText } from '../../postgres/connections.ts'
import type { AccountScope } from '../../scope.ts'
import { type Statement, sql, value } from '../../sql.ts'
import { stateColumns, type TallyState } from '../../tally-state.ts'

/** A statement that is told of by nobody: its time is that of its reader. */
type CopyStatement = Pick<Statement, 'text' | 'values'>

/** Records on their way out, with the state that they show. */
export interface StartedExport extends TallyState {
  /** Of the resource, without any filter. */
  readonly total: number
  /** What COPY writes, in pieces that end anywhere. */
  readonly pieces: Readable
  /** After the last piece: how many records there were. Until this has returned it is not sure that these are all. */
  finish(): Promise<number>
}

/**
 * Tally and records in one transaction, so of one snapshot. Returns when the first piece is there, or it is known that
 * there is none: what the database refuses, it has refused by then.
 */
export async function startExport(
  client: pg.ClientBase,
  scope: AccountScope,
  resource: ResourceName,
  copy: CopyStatement,
): Promise<StartedExport> {
  await client.query(beginText(client, ' isolation level repeatable read read only'))
  const tally = tallyStatement(scope, resource)
  const { rows } = await client.query<TallyState & { total: string }>(tally.text, [...tally.values])
  const [state] = rows
  if (state === undefined)
    throw new Error(`the account ${scope.accountId} has no tally of the resource ${resource}`)
  const { text, settings } = withSettings(copy, scope)
  for (const { text: set, values } of settings) await client.query(set, [...values])
  const pieces = client.query(to(text))
  // A connection that breaks while nobody reads is found out by the next read.
  pieces.on('error', () => {})
  await once(pieces, 'readable')
  return {
    epoch: state.epoch,
    version: state.version,
    xid: state.xid,
    total: Number(state.total),
    pieces,
    finish: async () => {
      await client.query('commit')
      return pieces.rowCount
    },
  }
}

function tallyStatement(scope: AccountScope, resource: ResourceName): Statement {
  return sql`select ${stateColumns}, t.total from tally t
where account_id = ${value(scope.accountId)}::bigint and resource = ${value(resource)}::text`.statement()
}

/**
 * COPY takes no `$n`. Its values go ahead of it as settings of its transaction, which are set by `$n`, and the text refers
 * to those: still nothing that came in from outside is ever part of a text. The account, `$1`, is a number of our own
 * and stands in the text, where a distributed database has to see it to find the shard.
 *
 * The planner knows a setting that a condition reads directly, but PostgreSQL then reads and parses it for every record. So
 * only the first values are read directly, as many as are cheap; the others by a sub-select, which is evaluated once.
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
      // The second cast does nothing but keep `any((select …))` from being taken for a sub-select of many rows.
      return direct.has(Number(n)) ? setting : `(select ${setting})::${type}`
    }),
    settings: settingStatements(values),
  }
}

/** The numbers of the values that are read for every record: while the elements of their lists are few in all. */
function directlyRead(values: readonly unknown[]): ReadonlySet<number> {
  const numbers = new Set<number>()
  let left = limits.exportDirectValuesMax
  for (const [i, given] of values.entries()) {
    const size = Array.isArray(given) ? given.length : 1
    if (i === 0 || size > left) continue
    left -= size
    numbers.add(i + 1)
  }
  return numbers
}

/** PostgreSQL takes 1,664 columns in a select list, and a filter may have more values. */
function settingStatements([, ...values]: readonly unknown[]): CopyStatement[] {
  const statements: CopyStatement[] = []
  for (let from = 0; from < values.length; from += limits.exportSettingsBatchMax) {
    const some = values.slice(from, from + limits.exportSettingsBatchMax)
    const columns = some.map((_, i) => `set_config('quartermaster.v${from + i + 2}', $${i + 1}::text, true)`)
    statements.push({ text: `select ${columns.join(', ')}`, values: some })
  }
  return statements
}
