import { clientDisconnected } from '../errors/errors.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { Operation, Statement } from '../sql.ts'
import { withTimeout } from '../timeout.ts'
import { cancelRunning } from './cancel.ts'
import type { Connection } from './connection.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { deadlineExceeded, failureOf, isConnectionError } from './sqlstate.ts'
import type { TextRow } from './text-rows.ts'

export interface PooledReadsOptions {
  readonly readMsMax: number
  readonly limits: Pick<Limits, 'readGraceMs' | 'cancelAfterMs' | 'connectMsMax'>
  /** Called with a connection whose statement PostgreSQL did not end at its deadline. */
  readonly terminate: (connection: Connection) => void
}

export interface ReadOptions {
  /** When it is aborted, the statement is cancelled and its connection released. */
  readonly signal?: AbortSignal | undefined
  /** Called if a read fails because PostgreSQL did not end it at its deadline. The promise resolves when it has really ended. */
  readonly onOverdue?: ((ended: Promise<void>) => void) | undefined
  /** Its timeout, if it is not that of every read. */
  readonly msMax?: number | undefined
}

/** Runs reads that may take long on the connections of a pool, each with a timeout. */
export class PooledReads {
  readonly pool: ConnectionPool
  readonly #options: PooledReadsOptions
  readonly #inUse = new Set<Connection>()

  constructor(pool: ConnectionPool, options: PooledReadsOptions) {
    this.pool = pool
    this.#options = options
  }

  /** Fails the reads in flight. */
  closeInUse(): void {
    for (const connection of this.#inUse) connection.destroy()
  }

  /** `isUsable`: whether the connection can be used again after this result. */
  async read<Result>(
    run: (connection: Connection) => Promise<Result>,
    { signal, onOverdue, msMax = this.#options.readMsMax }: ReadOptions,
    isUsable: (result: Result) => boolean,
  ): Promise<Result> {
    const { limits, terminate } = this.#options
    const connection = await this.pool.acquire()
    this.#inUse.add(connection)
    let cancelled: Promise<void> | undefined
    let cancelTimer: NodeJS.Timeout | undefined
    const onAbort = () => {
      cancelTimer = setTimeout(() => {
        cancelled = cancelRunning(connection, limits.connectMsMax)
      }, limits.cancelAfterMs)
    }
    signal?.addEventListener('abort', onAbort)
    const release = async (isBroken: boolean) => {
      signal?.removeEventListener('abort', onAbort)
      clearTimeout(cancelTimer)
      if (cancelled !== undefined) await cancelled
      this.#inUse.delete(connection)
      this.pool.release(connection, isBroken)
    }
    const releaseAfter = (error: unknown) => release(isConnectionError(error, connection))
    let result: Result
    let isOverdue = false
    try {
      if (signal?.aborted === true) throw clientDisconnected()
      const running = run(connection)
      result = await withTimeout(msMax + limits.readGraceMs, running, () => {
        isOverdue = true
        // Its connection counts as in use until the backend has ended: otherwise such reads would pile up in PostgreSQL.
        terminate(connection)
        const ended = running.then(() => release(false), releaseAfter)
        onOverdue?.(ended)
        return deadlineExceeded()
      })
    } catch (error) {
      if (!isOverdue) await releaseAfter(error)
      throw signal?.aborted === true ? clientDisconnected(error) : failureOf(error, connection)
    }
    await release(!isUsable(result))
    return result
  }
}

/** Runs the statement of a read. */
export async function runRead<Row extends TextRow<Row>>(
  connection: Connection,
  statement: Statement,
  emit: EmitEvent,
  msMax?: number,
): Promise<Row[]> {
  await connection.setPlanCacheMode(statement)
  return await timed(emit, statement.operation, () => connection.read<Row>(statement, msMax))
}

/** Emits how long a statement took. */
export async function timed<T>(
  emit: EmitEvent,
  operation: Operation | 'commit',
  run: () => Promise<T>,
): Promise<T> {
  const started = performance.now()
  let failed = true
  try {
    const result = await run()
    failed = false
    return result
  } finally {
    emit({ kind: 'statement-ended', operation, ms: performance.now() - started, failed })
  }
}
