import { Failure, overloaded } from '../errors/errors.ts'
import type { BatchWriter } from '../import/import-rows.ts'
import type { BatchOutcome } from '../import/net-effect.ts'
import type { RowResource } from '../import/row-resource.ts'
import { ImportSession, type SessionOptions } from '../import/session.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { Connection } from '../postgres/connection.ts'
import { ConnectionPool } from '../postgres/connection-pool.ts'
import type { Primary } from '../postgres/primary/primary.ts'
import { abandonedTransactions, type ServingIdentity, servingConnection } from '../postgres/settings.ts'
import { failureOf, isConnectionError, mayHaveCommitted } from '../postgres/sqlstate.ts'
import { FairScheduler, type Seat } from '../scheduler/fair-scheduler.ts'
import type { AccountScope } from '../scope.ts'
import { withTimeout } from '../timeout.ts'
import { TransactionSize } from './transaction-size.ts'

/**
 * Batches over HTTP: how many are in flight, and the connections on which they write. A batch has a connection only for the
 * duration of a transaction, so a client that sends slowly occupies none.
 */
export class Batches {
  readonly #pool: ConnectionPool
  readonly #inFlight: FairScheduler
  readonly #writes: FairScheduler
  readonly #limits: Limits
  readonly #size = new TransactionSize()

  /** `role`: the one for writes. */
  constructor(primary: Primary, { limits, ...identity }: ServingIdentity & { readonly limits: Limits }) {
    this.#limits = limits
    this.#inFlight = new FairScheduler({
      seats: limits.batchesInFlightMax,
      accountSeats: limits.accountBatchesMax,
      spareSeats: limits.batchesSpare,
      waitingMax: limits.batchesWaitingMax,
      accountWaitingMax: 1,
      waitMsMax: limits.batchQueueMsMax,
      waitsForOwn: false,
      givesWay: { slowCheckMs: limits.slowClientCheckMs },
      busy: () => accountBusy(limits.accountBatchesMax),
    })
    // One transaction of an account at a time: the lock on its tally would make a second one wait on its connection.
    this.#writes = new FairScheduler({
      seats: limits.batchConnectionsMax,
      accountSeats: 1,
      waitingMax: limits.batchesInFlightMax,
      accountWaitingMax: limits.accountBatchesMax,
      waitMsMax: limits.batchWaitMsMax,
      busy: overloaded,
    })
    this.#pool = new ConnectionPool(primary, {
      name: 'batches',
      max: limits.batchConnectionsMax,
      waitMsMax: limits.batchWaitMsMax,
      config: servingConnection(identity, {
        application_name: 'quartermaster batch',
        lock_timeout: limits.batchLockMsMax,
        settings: abandonedTransactions,
      }),
    })
  }

  /** Waits for a seat, which the caller must release. */
  async acquire(scope: AccountScope, signal: AbortSignal): Promise<Seat> {
    return await this.#inFlight.acquire(scope, signal)
  }

  /** How many rows the next transaction should have. */
  get transactionRows(): number {
    return this.#size.rows
  }

  /** Writes rows with the code of an import, each call in a transaction of its own. */
  writer(
    scope: AccountScope,
    resource: RowResource,
    options: SessionOptions & { readonly author: string },
  ): BatchWriter {
    return {
      write: (parts) =>
        this.#connected(scope, async (connection) => {
          const session = await ImportSession.onPooled(connection, scope, resource, options)
          const started = performance.now()
          const written = await session.write(parts)
          this.#size.ended(
            parts.rows.length + parts.ordered.length + parts.deletes.length,
            performance.now() - started,
          )
          return written
        }),
    }
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }

  /** If the commit takes too long, the connection stays in use until it has ended: otherwise repeated batches would open more and more. */
  async #connected(
    scope: AccountScope,
    work: (connection: Connection) => Promise<BatchOutcome>,
  ): Promise<BatchOutcome> {
    // Without the signal of the client: rows that have been received are written, whether or not it is still connected.
    const seat = await this.#writes.acquire(scope)
    const connection = await this.#pool.acquire().catch((error: unknown) => {
      seat.release()
      throw error
    })
    const running = work(connection)
    const release = (error?: unknown) => {
      this.#pool.release(
        connection,
        error !== undefined && (mayHaveCommitted(error) || isConnectionError(error, connection)),
      )
      seat.release()
    }
    running.then(() => release(), release)
    try {
      return await withTimeout(this.#limits.batchWriteMsMax, running, unconfirmed)
    } catch (error) {
      throw mayHaveCommitted(error) ? unconfirmed(error) : failureOf(error, connection)
    }
  }
}

function accountBusy(accountMax: number): Failure {
  return new Failure(
    'account_busy',
    `This account has a batch in flight. It can have ${accountMax} at once, or one while the service is busy. ` +
      'Wait until it has ended. Nothing was written.',
  )
}

function unconfirmed(cause?: unknown): Failure {
  return new Failure(
    'outcome_unknown',
    'The database did not confirm the last rows: they may or may not have been written. Send the batch again: rows that were written are then unchanged, or overwrite what someone else has changed since.',
    [],
    cause,
  )
}
