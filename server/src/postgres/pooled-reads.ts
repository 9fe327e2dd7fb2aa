import type pg from 'pg'
import { clientDisconnected } from '../errors/errors.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { Statement } from '../sql.ts'
import { withTimeout } from '../timeout.ts'
import { cancelRunning } from './cancel.ts'
import type { ConnectionPool } from './connection-pool.ts'
import { destroyConnection, localSettingsOf } from './connections.ts'
import { layoutOf } from './layout.ts'
import { deadlineExceeded, failureOf, isConnectionError } from './sqlstate.ts'
import { readText, type TextRow } from './text-rows.ts'

export interface PooledReadsOptions {
  readonly readMsMax: number
  readonly limits: Pick<Limits, 'readGraceMs' | 'cancelAfterMs' | 'connectMsMax'>
  /** Called with a connection whose statement PostgreSQL did not end at its deadline. */
  readonly terminate: (client: pg.Client) => void
}

export interface ReadOptions {
  /** When it is aborted, the statement is cancelled and its connection released. */
  readonly signal?: AbortSignal | undefined
  /** Called if a read fails because PostgreSQL did not end it at its deadline. The promise resolves when it has really ended. */
  readonly onOverdue?: ((ended: Promise<void>) => void) | undefined
}

/** Runs reads that may take long on the connections of a pool, each with a timeout. */
export class PooledReads {
  readonly pool: ConnectionPool
  readonly #options: PooledReadsOptions
  readonly #inUse = new Set<pg.Client>()

  constructor(pool: ConnectionPool, options: PooledReadsOptions) {
    this.pool = pool
    this.#options = options
  }

  /** Fails the reads in flight. */
  closeInUse(): void {
    for (const client of this.#inUse) destroyConnection(client)
  }

  /** `isUsable`: whether the connection can be used again after this result. */
  async read<Result>(
    run: (client: pg.Client) => Promise<Result>,
    { signal, onOverdue }: ReadOptions,
    isUsable: (result: Result) => boolean,
  ): Promise<Result> {
    const { readMsMax, limits, terminate } = this.#options
    const client = await this.pool.acquire()
    this.#inUse.add(client)
    let cancelled: Promise<void> | undefined
    let cancelTimer: NodeJS.Timeout | undefined
    const onAbort = () => {
      cancelTimer = setTimeout(() => {
        cancelled = cancelRunning(client, limits.connectMsMax)
      }, limits.cancelAfterMs)
    }
    signal?.addEventListener('abort', onAbort)
    const release = async (isBroken: boolean) => {
      signal?.removeEventListener('abort', onAbort)
      clearTimeout(cancelTimer)
      if (cancelled !== undefined) await cancelled
      this.#inUse.delete(client)
      this.pool.release(client, isBroken)
    }
    const releaseAfter = (error: unknown) => release(isConnectionError(error, client))
    let result: Result
    let isOverdue = false
    try {
      if (signal?.aborted === true) throw clientDisconnected()
      const running = run(client)
      result = await withTimeout(readMsMax + limits.readGraceMs, running, () => {
        isOverdue = true
        // Its connection counts as in use until the backend has ended: otherwise such reads would pile up in PostgreSQL.
        terminate(client)
        const ended = running.then(() => release(false), releaseAfter)
        onOverdue?.(ended)
        return deadlineExceeded()
      })
    } catch (error) {
      if (!isOverdue) await releaseAfter(error)
      throw signal?.aborted === true ? clientDisconnected(error) : failureOf(error, client)
    }
    await release(!isUsable(result))
    return result
  }
}

/** Runs the statement of a read. */
export async function runRead<Row extends TextRow<Row>>(
  client: pg.Client,
  statement: Statement,
  emit: EmitEvent,
): Promise<Row[]> {
  await setPlanCacheMode(client, statement)
  const started = performance.now()
  let failed = true
  try {
    const rows = await readText<Row>(client, statement)
    failed = false
    return rows
  } finally {
    const { operation } = statement
    emit({ kind: 'statement-ended', operation, ms: performance.now() - started, failed })
  }
}

/** Connections with `plan_cache_mode = force_generic_plan`. */
const withGenericPlans = new WeakSet<pg.Client>()

/**
 * For a statement of class `generic`, one plan is best for all values. If a limit or an offset is among the values,
 * PostgreSQL estimates otherwise and plans every execution, which takes longer than the execution itself.
 */
async function setPlanCacheMode(client: pg.Client, { execution }: Statement): Promise<void> {
  const isGeneric = execution !== undefined
  // Behind a pooler, each transaction sets it. A layout may need one value for all statements.
  if (localSettingsOf(client) !== undefined || 'plan_cache_mode' in layoutOf(client).settings) return
  if (withGenericPlans.has(client) === isGeneric) return
  await client.query(`set plan_cache_mode = ${isGeneric ? 'force_generic_plan' : 'auto'}`)
  if (isGeneric) withGenericPlans.add(client)
  else withGenericPlans.delete(client)
}
