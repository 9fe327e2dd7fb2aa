import { clientDisconnected, Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import { WriteTimedOut } from '../postgres/sqlstate.ts'
import { FairScheduler, type Rejection } from '../scheduler/fair-scheduler.ts'
import type { AccountScope } from '../scope.ts'

/**
 * Runs writes through the scheduler. The lock on the tally row, or on the account's keys, makes
 * PostgreSQL run the writes of one account one after the other. Without it, those that wait for the lock would
 * occupy connections that other accounts need.
 */
export class AccountWrites {
  readonly #database: Database
  readonly #scheduler: FairScheduler

  /** `connectionsMax`: of the pool for writes. One account never gets all of them. */
  constructor(database: Database, connectionsMax: number, waitMsMax: number) {
    this.#database = database
    this.#scheduler = new FairScheduler({
      // More than connections: creates of many accounts share one.
      seats: limits.writesInFlightMax,
      accountSeats: Math.max(1, Math.min(limits.accountWritesMax, connectionsMax - 1)),
      waitingMax: limits.writesInFlightMax,
      accountWaitingMax: limits.accountWritesWaitingMax,
      waitMsMax,
      busy: (rejection) => accountBusy(rejection, waitMsMax),
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
    const seat = await this.#scheduler.acquire(scope, signal)
    try {
      if (signal.aborted) throw clientDisconnected()
      const result = await work(this.#database)
      seat.release()
      return result
    } catch (error) {
      if (error instanceof WriteTimedOut) void error.ended.then(() => seat.release())
      else seat.release()
      throw error
    }
  }
}

const reasons: Record<Rejection, (waitMs: number) => string> = {
  'queue-full': () => `has ${limits.accountWritesWaitingMax} writes waiting, the maximum`,
  waited: (waitMs) => `writes more than the database can store: this write waited ${waitMs / 1000} s`,
  displaced: () => 'has more writes waiting than any other, while the service is busy',
}

function accountBusy(rejection: Rejection, waitMs: number): Failure {
  return new Failure(
    'account_busy',
    `This account ${reasons[rejection](waitMs)}. Its writes run one at a time. Nothing was written. ` +
      'Try again shortly, with fewer concurrent requests.',
  )
}
