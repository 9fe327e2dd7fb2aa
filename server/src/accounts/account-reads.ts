import { clientDisconnected, Failure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Database } from '../postgres/database.ts'
import type { TextRow } from '../postgres/text-rows.ts'
import type { AccountScope } from '../scope.ts'
import type { Statement } from '../sql.ts'
import { AccountLimiter } from './account-limiter.ts'

/**
 * Runs reads through the per-account concurrency limiter, so that one account can use neither all connections nor all
 * processors of the database. Pipelined statements take milliseconds and are not limited.
 */
export class AccountReads {
  readonly #database: Database
  readonly #limiter: AccountLimiter

  constructor(database: Database, runningMax: number, waitMsMax: number) {
    this.#database = database
    this.#limiter = new AccountLimiter({
      runningMax,
      waitingMax: limits.accountReadsWaitingMax,
      waitMsMax,
      totalMax: limits.readsInFlightMax,
      busy: () => accountBusy(runningMax),
    })
  }

  /** Whether new reads should be rejected. The other half of the limit is for requests already accepted. */
  get isFull(): boolean {
    return this.#limiter.inFlight >= limits.readsInFlightMax / 2
  }

  read<Row extends TextRow<Row>>(
    scope: AccountScope,
    statement: Statement,
    signal: AbortSignal,
  ): Promise<Row[]> {
    if (statement.execution === 'pipelined') return this.#database.read<Row>(statement)
    return this.#readLimited<Row>(scope, statement, signal)
  }

  async #readLimited<Row extends TextRow<Row>>(
    scope: AccountScope,
    statement: Statement,
    signal: AbortSignal,
  ): Promise<Row[]> {
    const release = await this.#limiter.acquire(scope, signal)
    let overdue = Promise.resolve()
    try {
      if (signal.aborted) throw clientDisconnected()
      const onOverdue = (ended: Promise<void>) => {
        overdue = ended
      }
      return await this.#database.read<Row>(statement, { signal, onOverdue })
    } finally {
      // A statement that is still running in the database holds its slot until it has ended.
      void overdue.then(release)
    }
  }
}

function accountBusy(runningMax: number): Failure {
  return new Failure(
    'account_busy',
    `This account has ${runningMax} long queries running, the maximum, and its queue is full. ` +
      'Try again shortly, with fewer concurrent requests.',
  )
}
