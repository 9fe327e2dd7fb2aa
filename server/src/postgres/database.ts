import type pg from 'pg'
import type { QueryResultRow } from 'pg'
import { clientDisconnected, Failure } from '../errors.ts'
import type { Limits } from '../limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { Operation, Statement } from '../sql.ts'
import { withTimeout } from '../timeout.ts'
import { cancelRunning } from './cancel.ts'
import { ConnectionPool, type PoolState } from './connection-pool.ts'
import { beginOn, localSettingsOf, type ServingDatabase, servingConnection } from './connections.ts'
import { PipelinedConnections } from './pipelined-connections.ts'
import { Primary } from './primary.ts'
import { changingOver, deadlineExceeded, failureOf, isOfServer, mayHaveCommitted } from './sqlstate.ts'
import { prepared } from './statement-cache.ts'
import { readText, type TextRow } from './text-rows.ts'

export interface DatabaseOptions extends ServingDatabase {
  readonly connectionsMax: number
  readonly readMsMax: number
  readonly limits: Limits
}

/** A transaction under way. */
export interface Transaction {
  run<Row extends QueryResultRow>(statement: Statement): Promise<Row[]>
}

/** The database as requests see it: reads with a deadline, writes that are never cancelled. */
export class Database {
  readonly primary: Primary
  readonly #reads: ConnectionPool
  readonly #connections: PipelinedConnections
  readonly #writes: ConnectionPool
  readonly #readMsMax: number
  readonly #readGraceMs: number
  readonly #cancelAfterMs: number
  readonly #writeMsMax: number
  readonly #emit: EmitEvent

  constructor(options: DatabaseOptions) {
    const { connectionsMax: max, readMsMax, limits, emit } = options
    this.#emit = emit
    this.#readMsMax = readMsMax
    this.#readGraceMs = limits.readGraceMs
    this.#cancelAfterMs = limits.cancelAfterMs
    this.#writeMsMax = limits.writeMsMax
    this.primary = new Primary(options)
    this.#reads = new ConnectionPool(this.primary, {
      name: 'reads',
      max,
      waitMsMax: limits.readWaitMsMax,
      config: servingConnection(options, { statement_timeout: readMsMax }),
      emit,
    })
    // Apart from the others: a few slow ones would hold up the check of every request. Their plans do not depend on
    // values, but PostgreSQL thinks so where an offset is among these, and would plan every time.
    const settings = { plan_cache_mode: 'force_generic_plan' }
    const quick = { statement_timeout: Math.min(limits.pipelinedMsMax, readMsMax), settings }
    this.#connections = new PipelinedConnections(this.primary, {
      config: servingConnection(options, quick),
      emit,
      limits,
    })
    // A cancelled wait for a standby would report success, so writes have no deadline but the one on their locks,
    // which passes before anything is written.
    this.#writes = new ConnectionPool(this.primary, {
      name: 'writes',
      max,
      waitMsMax: limits.writeWaitMsMax,
      config: servingConnection(options, { lock_timeout: limits.writeLockMsMax }),
      emit,
    })
  }

  get pools(): readonly PoolState[] {
    return [this.#reads.state, { pool: 'pipelined', ...this.#connections.state }, this.#writes.state]
  }

  /**
   * When all who wait hang up, the statement is cancelled and its connection free again; a quick one just ends. A read
   * that PostgreSQL does not end at its deadline fails, and `onOverdue` is called with the moment at which it has ended.
   */
  read<Row extends TextRow<Row>>(
    statement: Statement,
    signal?: AbortSignal,
    onOverdue?: (ended: Promise<void>) => void,
  ): Promise<Row[]> {
    if (statement.execution === 'pipelined') return this.#connections.read<Row>(statement)
    return this.#readAlone<Row>(statement, signal, onOverdue)
  }

  async #readAlone<Row extends TextRow<Row>>(
    statement: Statement,
    signal: AbortSignal | undefined,
    onOverdue: ((ended: Promise<void>) => void) | undefined,
    isSecond = false,
  ): Promise<Row[]> {
    const client = await this.#reads.acquire()
    let cancelled: Promise<void> | undefined
    let soon: NodeJS.Timeout | undefined
    const cancelSoon = () => {
      soon = setTimeout(() => {
        cancelled = cancelRunning(client)
      }, this.#cancelAfterMs)
    }
    signal?.addEventListener('abort', cancelSoon)
    const giveBack = async (error?: unknown) => {
      signal?.removeEventListener('abort', cancelSoon)
      clearTimeout(soon)
      if (cancelled !== undefined) await cancelled
      this.#reads.release(client, error !== undefined && isOfServer(error))
    }
    let rows: Row[]
    let isOverdue = false
    try {
      if (signal?.aborted === true) throw clientDisconnected()
      const running = this.#run<Row>(client, statement)
      rows = await withTimeout(this.#readMsMax + this.#readGraceMs, running, () => {
        isOverdue = true
        // Its place stays taken until it is really gone: otherwise such reads would pile up in the database.
        this.primary.terminate(client)
        const ended = running.then(() => giveBack(), giveBack)
        onOverdue?.(ended)
        return deadlineExceeded()
      })
    } catch (error) {
      if (!isOverdue) await giveBack(error)
      throw signal?.aborted === true ? clientDisconnected(error) : failureOf(error)
    }
    const isCurrent = this.primary.isCurrent(rows[0])
    await giveBack(isCurrent ? undefined : 'of another server')
    if (isCurrent) return rows
    if (isSecond) throw changingOver()
    await this.primary.check()
    return await this.#readAlone<Row>(statement, signal, onOverdue, true)
  }

  async #run<Row extends TextRow<Row>>(client: pg.Client, statement: Statement): Promise<Row[]> {
    await planFor(client, statement)
    return await this.#timed(statement.operation, readText<Row>(client, statement))
  }

  /** How many quick statements are under way, and since when the first of them is. */
  get waiting(): number {
    return this.#connections.underWay
  }

  get waitingSince(): number {
    return this.#connections.underWaySince
  }

  /** One statement that is a transaction of its own. */
  async writeOne<Row extends TextRow<Row>>(statement: Statement): Promise<Row[]> {
    const until = performance.now() + this.#writeMsMax
    const client = await this.#writes.acquire()
    const running = committed(client, () =>
      this.#timed(statement.operation, readText<Row>(client, statement)),
    )
    const giveBack = (error?: unknown) =>
      this.#writes.release(client, error !== undefined && isOfServer(error))
    running.then(() => giveBack(), giveBack)
    try {
      return await withTimeout(until - performance.now(), running, () => outcomeUnknown(undefined))
    } catch (error) {
      throw mayHaveCommitted(error) ? outcomeUnknown(error) : failureOf(error)
    }
  }

  /** Runs `work` in a transaction and commits. What it throws rolls back. */
  async write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const until = performance.now() + this.#writeMsMax
    const client = await this.#writes.acquire()
    const stage: Stage = { isCommitting: false, isGivenUp: false }
    const running = this.#transact(client, work, stage)
    const ended = running.then(
      () => this.#writes.release(client),
      (error: unknown) => this.#rollBack(client, error),
    )
    const late = () => {
      stage.isGivenUp = true
      return stage.isCommitting ? outcomeUnknown(undefined) : tooLate()
    }
    try {
      return await withTimeout(until - performance.now(), running, late)
    } catch (error) {
      // Rolled back before the caller is answered: the next request may need what the transaction has locked.
      if (!stage.isGivenUp) await withTimeout(until - performance.now(), ended, tooLate).catch(() => {})
      throw stage.isCommitting && mayHaveCommitted(error) ? outcomeUnknown(error) : failureOf(error)
    }
  }

  async #transact<T>(
    client: pg.Client,
    work: (transaction: Transaction) => Promise<T>,
    stage: Stage,
  ): Promise<T> {
    await client.query(beginOn(client))
    const result = await work({
      run: (statement) => {
        if (stage.isGivenUp) throw tooLate()
        return this.#timed(statement.operation, run(client, statement))
      },
    })
    if (stage.isGivenUp) throw tooLate()
    stage.isCommitting = true
    await committed(client, () => this.#timed('commit', client.query('commit')))
    return result
  }

  async #rollBack(client: pg.Client, error: unknown): Promise<void> {
    try {
      if (!isOfServer(error)) await client.query('rollback')
      this.#writes.release(client, isOfServer(error))
    } catch {
      this.#writes.release(client, true)
    }
  }

  async close(): Promise<void> {
    this.primary.close()
    await Promise.all([this.#reads.close(), this.#connections.close(), this.#writes.close()])
  }

  async #timed<T>(operation: Operation | 'commit', running: Promise<T>): Promise<T> {
    const started = performance.now()
    let failed = true
    try {
      const result = await running
      failed = false
      return result
    } finally {
      this.#emit({ kind: 'statement-ended', operation, ms: performance.now() - started, failed })
    }
  }
}

/** Connections that plan for all values alike. */
const generic = new WeakSet<pg.Client>()

/**
 * A steady statement has one plan. PostgreSQL would not believe it where a limit or an offset is among the values, and
 * plan every time, which takes longer than to run it.
 */
async function planFor(client: pg.Client, { execution }: Statement): Promise<void> {
  const isSteady = execution !== undefined
  // Said in each transaction there.
  if (localSettingsOf(client) !== undefined) return
  if (generic.has(client) === isSteady) return
  await client.query(`set plan_cache_mode = ${isSteady ? 'force_generic_plan' : 'auto'}`)
  if (isSteady) generic.add(client)
  else generic.delete(client)
}

async function run<Row extends QueryResultRow>(client: pg.Client, statement: Statement): Promise<Row[]> {
  const name = prepared.nameFor(client, statement)
  const result = await client.query<Row>({
    ...(name === undefined ? {} : { name }),
    text: statement.text,
    values: [...statement.values],
  })
  return result.rows
}

/** PostgreSQL reports a commit whose wait for the standby was broken off as done, with a warning. It may be lost yet. */
async function committed<T>(client: pg.Client, committing: () => Promise<T>): Promise<T> {
  let warning: unknown
  const note = (notice: { severity?: string | undefined }) => {
    if (notice.severity === 'WARNING') warning = notice
  }
  client.on('notice', note)
  try {
    const result = await committing()
    if (warning !== undefined) throw outcomeUnknown(warning)
    return result
  } finally {
    client.off('notice', note)
  }
}

/** How far a write has come when its time is up. */
interface Stage {
  isCommitting: boolean
  /** Its caller has been told that nothing was written, so nothing may be. */
  isGivenUp: boolean
}

function tooLate(): Failure {
  return new Failure('overloaded', 'The write took too long to begin. Nothing was written; try again.')
}

function outcomeUnknown(cause: unknown): Failure {
  return new Failure(
    'outcome_unknown',
    'The database did not confirm the write in time: it may have been committed or not. ' +
      'Try again with the same Idempotency-Key; without one, look first.',
    [],
    cause,
  )
}
