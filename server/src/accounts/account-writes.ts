import { clientDisconnected, Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { connectionReleased } from '../postgres/connection-released.ts'
import type { Database } from '../postgres/database.ts'
import type { AccountScope } from '../scope.ts'
import { AccountLimiter } from './account-limiter.ts'

/**
 * Runs writes through the per-account concurrency limiter. The lock on the tally row, or on the account's keys, makes
 * PostgreSQL run the writes of one account one after the other. Without the limiter, those that wait for the lock would
 * occupy connections that other accounts need.
 */
export class AccountWrites {
  readonly #database: Database
  readonly #limiter: AccountLimiter

  /** `connectionsMax`: of the pool for writes. One account never gets all of them. */
  constructor(database: Database, connectionsMax: number, waitMsMax: number) {
    this.#database = database
    this.#limiter = new AccountLimiter({
      runningMax: Math.max(1, Math.min(limits.accountWritesMax, connectionsMax - 1)),
      waitingMax: limits.accountWritesWaitingMax,
      waitMsMax,
      totalMax: limits.writesInFlightMax,
      busy: accountBusy,
    })
  }

  /**
   * Runs `work` when the account has a free slot. The signal is ignored once the write has started. A write that has timed
   * out keeps its slot as long as it uses a connection.
   */
  async run<T>(
    scope: AccountScope,
    signal: AbortSignal,
    work: (database: Database) => Promise<T>,
  ): Promise<T> {
    const release = await this.#limiter.acquire(scope, signal)
    try {
      if (signal.aborted) throw clientDisconnected()
      const result = await work(this.#database)
      release()
      return result
    } catch (error) {
      void connectionReleased(error).then(release)
      throw error
    }
  }
}

function accountBusy(): Failure {
  return new Failure(
    'account_busy',
    'This account has too many writes waiting; they run one after the other. Nothing was written. ' +
      'Try again shortly, with fewer concurrent requests.',
  )
}
