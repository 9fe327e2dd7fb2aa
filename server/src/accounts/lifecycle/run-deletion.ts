import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'
import type { Connection } from '../../postgres/connection.ts'
import { inTransaction, type Transaction } from '../../postgres/transaction.ts'
import type { AccountScope } from '../../scope.ts'
import { sql, value } from '../../sql.ts'
import {
  type AccountTable,
  accountTablesStatement,
  deleteStep,
  endOfStep,
  type Position,
} from './account-tables.ts'
import { type Deletion, deletionStatement } from './deletion.ts'
import { runOn } from './run-on.ts'

export interface DeletionOptions {
  /** Ends the deletion after the current step. It can be continued at any time. */
  readonly stop?: AbortSignal
  readonly onStep?: (deletion: { readonly table: string; readonly rows: number }) => void
  /** Of a step. Default: `deletionStepRows`. */
  readonly rows?: number
  /** From the request until the last step. Default: `deletionSettleMs`. */
  readonly settleMs?: number
}

/**
 * Deletes everything of an account whose deletion is due, and the account. Each step is a transaction that deletes a bounded number of
 * rows and adds it to the report, so that a killed deletion continues where it was, and several processes can share one. Between
 * two steps it pauses for as long as the last one took: it uses at most half of one connection's time.
 */
export async function runDeletion(
  connection: Connection,
  name: string,
  options: DeletionOptions = {},
): Promise<Deletion> {
  const { stop, settleMs = limits.deletionSettleMs } = options
  const started = await inTransaction(connection, (transaction) => begin(transaction, name))
  if (started.state === 'deleted') return started
  const scope: AccountScope = { accountId: started.formerId }
  const tables = (await connection.run<AccountTable>(accountTablesStatement)).rows
  for (;;) {
    for (const table of tables) await empty(connection, started, table, options)
    // Processes write their request logs some seconds after the responses.
    const waitMs = started.requestedAt.getTime() + settleMs - Date.now()
    if (waitMs > 0) await sleep(waitMs, undefined, stop === undefined ? {} : { signal: stop }).catch(() => {})
    if (stop?.aborted === true) break
    const isDone = await inTransaction(connection, (transaction) => end(transaction, name, scope, tables))
    if (isDone) break
  }
  return await current(connection, name)
}

/** Deletes rows that a process has written since the account was deleted. Returns their number. */
export async function recheckDeleted(connection: Connection, { name, formerId }: Deletion): Promise<number> {
  const tables = (await connection.run<AccountTable>(accountTablesStatement)).rows
  let sum = 0
  for (const table of tables) {
    sum += await inTransaction(connection, async (transaction) => {
      const rows = await deleted(
        transaction,
        deleteStep(table, { accountId: formerId }, undefined, undefined),
      )
      if (rows > 0) await count(transaction, name, table.name, rows)
      return rows
    })
  }
  return sum
}

async function current(connection: Connection, name: string): Promise<Deletion> {
  const [deletion] = await runOn(connection)<Deletion>(deletionStatement(name))
  if (deletion === undefined) throw notScheduled(name)
  return deletion
}

/** From now on it cannot be cancelled. */
async function begin(transaction: Transaction, name: string): Promise<Deletion> {
  // Activating it locks the account, too.
  await transaction.run(
    sql`select from account where name = ${value(name)}::text for update`.statement('account'),
  )
  const [found] = await transaction.run<Deletion & { isDue: boolean }>(deletionStatement(name))
  if (found === undefined) throw notScheduled(name)
  if (found.state !== 'scheduled') return found
  const id = value(found.formerId)
  const [started] = await transaction.run<Deletion>(
    sql`update account_deletion set state = 'deleting', started_at = now(),
  records = ${value(await recordsOf(transaction, found.formerId))}::bigint
where name = ${value(name)}::text and former_id = ${id}::bigint and due_at <= now() returning started_at as "startedAt"`.statement(
      'account',
    ),
  )
  if (started === undefined) {
    throw new Failure('account_deleting', `The grace period of ${name} ends at ${found.dueAt.toISOString()}.`)
  }
  return { ...found, state: 'deleting' }
}

async function recordsOf(transaction: Transaction, accountId: string): Promise<number> {
  const [sum] = await transaction.run<{ records: number }>(
    sql`select coalesce(sum(total), 0)::float8 as records from tally where account_id = ${value(accountId)}::bigint`.statement(
      'account',
    ),
  )
  return sum?.records ?? 0
}

/** Deletes all rows of one table, a step at a time. */
async function empty(
  connection: Connection,
  { name, formerId }: Deletion,
  table: AccountTable,
  { stop, onStep, rows: stepRows = limits.deletionStepRows }: DeletionOptions,
): Promise<void> {
  const scope: AccountScope = { accountId: formerId }
  let after: Position | undefined
  for (;;) {
    if (stop?.aborted === true) return
    const from = performance.now()
    const position = after
    const { rows, to } = await inTransaction(connection, async (transaction) => {
      await lockDeletion(transaction, name)
      const [until] =
        table.columns.length === 0
          ? []
          : await transaction.run<Position>(endOfStep(table, scope, position, stepRows))
      const gone = await deleted(transaction, deleteStep(table, scope, position, until))
      if (gone > 0) await count(transaction, name, table.name, gone)
      return { rows: gone, to: until }
    })
    if (rows > 0) onStep?.({ table: table.name, rows })
    if (to === undefined) return
    after = to
    await sleep(Math.min(performance.now() - from, limits.deletionPauseMsMax))
  }
}

/** Deletes what was written meanwhile, and the account. False if that is more than a step. */
async function end(
  transaction: Transaction,
  name: string,
  scope: AccountScope,
  tables: readonly AccountTable[],
): Promise<boolean> {
  await lockDeletion(transaction, name)
  const id = value(scope.accountId)
  await transaction.run(
    sql`select from account where account_id = ${id}::bigint for update`.statement('account'),
  )
  for (const table of tables) {
    if (table.columns.length > 0) {
      const [more] = await transaction.run(endOfStep(table, scope, undefined, limits.deletionStepRows))
      if (more !== undefined) return false
    }
    const rows = await deleted(transaction, deleteStep(table, scope, undefined, undefined))
    if (rows > 0) await count(transaction, name, table.name, rows)
  }
  const account = sql`with gone as (delete from account where account_id = ${id}::bigint returning 1)
select count(*)::float8 as rows from gone`.statement('account')
  if ((await deleted(transaction, account)) > 0) await count(transaction, name, 'account', 1)
  await transaction.run(
    sql`update account_deletion set state = 'deleted', ended_at = now()
where name = ${value(name)}::text and state = 'deleting'`.statement('account'),
  )
  return true
}

/** Steps of several processes run one after the other. */
async function lockDeletion(transaction: Transaction, name: string): Promise<void> {
  await transaction.run(
    sql`select from account_deletion where name = ${value(name)}::text for update`.statement('account'),
  )
}

async function deleted(transaction: Transaction, statement: ReturnType<typeof deleteStep>): Promise<number> {
  const [row] = await transaction.run<{ rows: number }>(statement)
  return row?.rows ?? 0
}

async function count(transaction: Transaction, name: string, table: string, rows: number): Promise<void> {
  const key = value(table)
  await transaction.run(
    sql`update account_deletion set counts = counts
  || jsonb_build_object(${key}::text, coalesce((counts ->> ${key}::text)::bigint, 0) + ${value(rows)}::bigint)
where name = ${value(name)}::text`.statement('account'),
  )
}

function notScheduled(name: string): Failure {
  return new Failure('account_unknown', `No deletion of an account named ${name} is scheduled.`)
}
