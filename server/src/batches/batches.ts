import type pg from 'pg'
import { AccountLimiter } from '../accounts/account-limiter.ts'
import type { Resource } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'
import type { BatchWriter } from '../import/import-rows.ts'
import { type BatchOutcome, ImportSession } from '../import/session.ts'
import type { Limits } from '../limits/limits.ts'
import { ConnectionPool } from '../postgres/connection-pool.ts'
import { abandonedTransactions, type ServingIdentity, servingConnection } from '../postgres/connections.ts'
import type { Primary } from '../postgres/primary/primary.ts'
import { failureOf, isConnectionError, mayHaveCommitted } from '../postgres/sqlstate.ts'
import type { AccountScope } from '../scope.ts'
import { withTimeout } from '../timeout.ts'

/**
 * Batches over HTTP: how many are in flight, and the connections on which they write. A batch has a connection only for the
 * duration of a transaction, so a client that sends slowly occupies none.
 */
export class Batches {
  readonly #pool: ConnectionPool
  readonly #limiter: AccountLimiter
  readonly #limits: Limits

  /** `role`: the one for writes. */
  constructor(primary: Primary, { limits, ...identity }: ServingIdentity & { readonly limits: Limits }) {
    this.#limits = limits
    this.#limiter = new AccountLimiter({
      runningMax: limits.accountBatchesMax,
      waitingMax: 0,
      waitMsMax: 0,
      totalMax: limits.batchesInFlightMax,
      busy: accountBusy,
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

  /** Acquires a slot of the account. The caller must call the function that it returns. */
  async acquire(scope: AccountScope, signal: AbortSignal): Promise<() => void> {
    return await this.#limiter.acquire(scope, signal)
  }

  /** Writes rows with the code of an import, each call in a transaction of its own. */
  writer(scope: AccountScope, resource: Resource): BatchWriter {
    return {
      write: (rows, deletes, repeated) =>
        this.#connected(async (client) => {
          const session = await ImportSession.onPooled(client, scope, resource)
          return await session.write(rows, deletes, repeated)
        }),
    }
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }

  /** If the commit takes too long, the connection stays in use until it has ended: otherwise repeated batches would open more and more. */
  async #connected(work: (client: pg.Client) => Promise<BatchOutcome>): Promise<BatchOutcome> {
    const client = await this.#pool.acquire()
    const running = work(client)
    const release = (error?: unknown) =>
      this.#pool.release(
        client,
        error !== undefined && (mayHaveCommitted(error) || isConnectionError(error, client)),
      )
    running.then(() => release(), release)
    try {
      return await withTimeout(this.#limits.batchWriteMsMax, running, unconfirmed)
    } catch (error) {
      throw mayHaveCommitted(error) ? unconfirmed(error) : failureOf(error, client)
    }
  }
}

function accountBusy(): Failure {
  return new Failure(
    'account_busy',
    'This account has too many batches in flight. Wait until one of them has ended. Nothing was written.',
  )
}

function unconfirmed(cause?: unknown): Failure {
  return new Failure(
    'outcome_unknown',
    'The database did not confirm the last rows: they may or may not have been written. Send the batch again; what was written stays unchanged.',
    [],
    cause,
  )
}
