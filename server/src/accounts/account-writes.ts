import { clientDisconnected, Failure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Database } from '../postgres/database.ts'
import type { AccountScope } from '../scope.ts'
import { AccountLimiter } from './account-limiter.ts'

/**
 * Writes of requests. PostgreSQL runs those of one account one after the other, by the lock on its tally row or on its
 * keys, so more than a few of them at once would only hold connections, which the others then wait for.
 */
export class AccountWrites {
  readonly #database: Database
  readonly #limiter: AccountLimiter

  /** `connectionsMax`: those for writes. One account never has all of them. */
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

  /** Runs `work` when the account has a slot. Until then a client may hang up; from then on nothing stops the write. */
  async run<T>(
    scope: AccountScope,
    signal: AbortSignal,
    work: (database: Database) => Promise<T>,
  ): Promise<T> {
    const release = await this.#limiter.acquire(scope, signal)
    try {
      if (signal.aborted) throw clientDisconnected()
      return await work(this.#database)
    } finally {
      release()
    }
  }
}

function accountBusy(): Failure {
  return new Failure(
    'account_busy',
    'This account has more writes waiting than it may; they run one after the other. Nothing was written. ' +
      'Try again shortly, with fewer at once.',
  )
}
