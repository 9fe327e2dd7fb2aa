import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type pg from 'pg'
import { to } from 'pg-copy-streams'
import type { ResourceName } from '../catalog/resources.ts'
import type { AccountScope } from '../scope.ts'
import { type Statement, sql, value } from '../sql.ts'
import { history, type TallyState } from '../tally-state.ts'

/** A statement that is told of by nobody: its time is that of its reader. */
type CopyStatement = Pick<Statement, 'text' | 'values'>

/** Records on their way out, with the state that they show. */
export interface ExportUnderWay extends TallyState {
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
): Promise<ExportUnderWay> {
  await client.query('begin isolation level repeatable read read only')
  const tally = tallyStatement(scope, resource)
  const { rows } = await client.query<TallyState & { total: string }>(tally.text, [...tally.values])
  const [state] = rows
  if (state === undefined)
    throw new Error(`the account ${scope.accountId} has no tally of the resource ${resource}`)
  const { text, settings } = withSettings(copy, scope)
  if (settings !== undefined) await client.query(settings.text, [...settings.values])
  const pieces = client.query(to(text))
  // A connection that breaks while nobody reads is found out by the next read.
  pieces.on('error', () => {})
  await once(pieces, 'readable')
  return {
    history: state.history,
    version: state.version,
    total: Number(state.total),
    pieces,
    finish: async () => {
      await client.query('commit')
      return pieces.rowCount
    },
  }
}

function tallyStatement(scope: AccountScope, resource: ResourceName): Statement {
  return sql`select ${history} as history, version, total from tally
where account_id = ${value(scope.accountId)}::bigint and resource = ${value(resource)}::text`.statement()
}

/**
 * COPY takes no `$n`. Its values go ahead of it as settings of its transaction, which are set by `$n`, and the text refers
 * to those: still nothing that came in from outside is ever part of a text. The account, `$1`, is a number of our own
 * and stands in the text, where a distributed database has to see it to find the shard.
 */
export function withSettings(
  { text, values: [account, ...values] }: CopyStatement,
  scope: AccountScope,
): { readonly text: string; readonly settings: CopyStatement | undefined } {
  if (account !== scope.accountId || !/^\d{1,19}$/.test(scope.accountId))
    throw new Error('the first value of an export is not its account')
  return {
    text: text.replaceAll(/\$(\d+)/g, (_, n: string) =>
      n === '1' ? `'${scope.accountId}'` : `current_setting('quartermaster.v${n}')`,
    ),
    settings:
      values.length === 0
        ? undefined
        : {
            text: `select ${values.map((_, i) => `set_config('quartermaster.v${i + 2}', $${i + 1}::text, true)`).join(', ')}`,
            values,
          },
  }
}
