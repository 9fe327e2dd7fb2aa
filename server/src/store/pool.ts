import pg, { type QueryResultRow } from 'pg'
import { Failure, overloaded } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Operation, Statement } from '../sql.ts'
import type { PoolName, Tell } from '../telemetry/events.ts'
import { cancelRunning } from './cancel.ts'
import { type ServingDatabase, servingConnection, servingPool } from './connections.ts'
import { type HangUp, hungUp } from './hang-up.ts'
import { Lanes } from './lanes.ts'
import { prepared } from './prepared.ts'
import { failureOf, failureToConnect } from './sqlstate.ts'
import { readText, type TextRow } from './text-rows.ts'

export interface StoreOptions extends ServingDatabase {
  readonly connectionsMax: number
  readonly readMsMax: number
}

/** Connections of one kind: how many there may be, are, and are free; and what waits for one. */
export interface PoolState {
  readonly pool: PoolName
  readonly max: number
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

/** A transaction under way. */
export interface Transaction {
  run<Row extends QueryResultRow>(statement: Statement): Promise<Row[]>
}

/** The database as requests see it: reads with a deadline, writes that are never cancelled. */
export class Store {
  readonly #reads: pg.Pool
  readonly #lanes: Lanes
  readonly #writes: pg.Pool
  readonly #tell: Tell

  constructor(options: StoreOptions) {
    this.#tell = options.tell
    const read = { query_timeout: limits.silenceMsMax, statement_timeout: options.readMsMax }
    this.#reads = servingPool(options, options.connectionsMax, read)
    // Apart from the others: a few slow ones would hold up the check of every request. Their plans do not depend on
    // values, but PostgreSQL thinks so where an offset is among these, and would plan every time.
    this.#lanes = new Lanes(
      servingConnection(options, { ...read, options: '-c plan_cache_mode=force_generic_plan' }),
      options.tell,
    )
    // A cancelled wait for a standby would report success, so writes have no deadline but the one on their locks,
    // which passes before anything is written.
    this.#writes = servingPool(options, options.connectionsMax, {
      query_timeout: limits.silenceMsMax,
      lock_timeout: limits.writeLockMsMax,
    })
  }

  get pools(): readonly PoolState[] {
    return [
      poolState('reads', this.#reads),
      { pool: 'quick', ...this.#lanes.state },
      poolState('writes', this.#writes),
    ]
  }

  /** When all who wait hang up, the statement is cancelled and its connection free again; a quick one just ends. */
  read<Row extends TextRow<Row>>(statement: Statement, hangUp?: HangUp): Promise<Row[]> {
    if (statement.pace === 'quick') return this.#lanes.read<Row>(statement)
    return this.#readAlone<Row>(statement, hangUp)
  }

  async #readAlone<Row extends TextRow<Row>>(
    statement: Statement,
    hangUp: HangUp | undefined,
  ): Promise<Row[]> {
    const client = await this.#connect('reads', this.#reads)
    let cancelled: Promise<void> | undefined
    let soon: NodeJS.Timeout | undefined
    hangUp?.onUp(() => {
      soon = setTimeout(() => {
        cancelled = cancelRunning(client)
      }, limits.cancelAfterMs)
    })
    try {
      if (hangUp?.isUp === true) throw hungUp()
      await planFor(client, statement)
      const rows = await this.#timed(statement.operation, readText<Row>(client, statement))
      hangUp?.onUp(undefined)
      clearTimeout(soon)
      if (cancelled !== undefined) await cancelled
      client.release()
      return rows
    } catch (error) {
      clearTimeout(soon)
      if (cancelled !== undefined) await cancelled
      client.release(!(error instanceof pg.DatabaseError || error instanceof Failure))
      throw hangUp?.isUp === true ? hungUp(error) : failureOf(error)
    }
  }

  /** How many quick statements are under way, and since when the first of them is. */
  get waiting(): number {
    return this.#lanes.underWay
  }

  get waitingSince(): number {
    return this.#lanes.underWaySince
  }

  /** One statement that is a transaction of its own. */
  async writeOne<Row extends TextRow<Row>>(statement: Statement): Promise<Row[]> {
    const client = await this.#connect('writes', this.#writes)
    try {
      const rows = await kept(client, () =>
        this.#timed(statement.operation, readText<Row>(client, statement)),
      )
      client.release()
      return rows
    } catch (error) {
      const refused = error instanceof pg.DatabaseError
      client.release(!refused)
      throw refused || error instanceof Failure ? failureOf(error) : outcomeUnknown(error)
    }
  }

  /** Runs `work` in a transaction and commits. What it throws rolls back. */
  async write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await this.#connect('writes', this.#writes)
    let unsure = false
    try {
      await client.query('begin')
      const result = await work({
        run: (statement) => this.#timed(statement.operation, run(client, statement)),
      })
      unsure = true
      await kept(client, () => this.#timed('commit', client.query('commit')))
      client.release()
      return result
    } catch (error) {
      if (error instanceof pg.DatabaseError || error instanceof Failure) await rollBack(client)
      else client.release(true)
      if (unsure && !(error instanceof pg.DatabaseError)) throw outcomeUnknown(error)
      throw failureOf(error)
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#reads.end(), this.#lanes.close(), this.#writes.end()])
  }

  async #connect(name: PoolName, from: pg.Pool): Promise<pg.PoolClient> {
    if (from.waitingCount >= limits.poolWaitingMax) throw overloaded()
    const asked = performance.now()
    try {
      return await from.connect()
    } catch (error) {
      throw failureToConnect(error)
    } finally {
      this.#tell({ kind: 'connection-given', pool: name, ms: performance.now() - asked })
    }
  }

  async #timed<T>(operation: Operation | 'commit', running: Promise<T>): Promise<T> {
    const started = performance.now()
    let failed = true
    try {
      const result = await running
      failed = false
      return result
    } finally {
      this.#tell({ kind: 'statement-ended', operation, ms: performance.now() - started, failed })
    }
  }
}

function poolState(name: PoolName, { options, totalCount, idleCount, waitingCount }: pg.Pool): PoolState {
  return { pool: name, max: options.max, open: totalCount, idle: idleCount, waiting: waitingCount }
}

/** Connections that plan for all values alike. */
const generic = new WeakSet<pg.PoolClient>()

/**
 * A steady statement has one plan. PostgreSQL would not believe it where a limit or an offset is among the values, and
 * plan every time, which takes longer than to run it.
 */
async function planFor(client: pg.PoolClient, { pace }: Statement): Promise<void> {
  const isSteady = pace !== undefined
  if (generic.has(client) === isSteady) return
  await client.query(`set plan_cache_mode = ${isSteady ? 'force_generic_plan' : 'auto'}`)
  if (isSteady) generic.add(client)
  else generic.delete(client)
}

async function run<Row extends QueryResultRow>(client: pg.PoolClient, statement: Statement): Promise<Row[]> {
  const name = prepared.nameFor(client, statement)
  const result = await client.query<Row>({
    ...(name === undefined ? {} : { name }),
    text: statement.text,
    values: [...statement.values],
  })
  return result.rows
}

/** PostgreSQL reports a commit whose wait for the standby was broken off as done, with a warning. It may be lost yet. */
async function kept<T>(client: pg.PoolClient, committing: () => Promise<T>): Promise<T> {
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

async function rollBack(client: pg.PoolClient): Promise<void> {
  try {
    await client.query('rollback')
    client.release()
  } catch {
    client.release(true)
  }
}

function outcomeUnknown(cause: unknown): Failure {
  return new Failure(
    'outcome_unknown',
    'The connection to the database broke while the write was being kept: it may have been kept or not. ' +
      'Try again with the same Idempotency-Key; without one, look first.',
    [],
    cause,
  )
}
