import { clientDisconnected, Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import type { ReadOptions } from '../postgres/pooled-reads.ts'
import type { Replicas, VerifiedState } from '../postgres/replicas/replicas.ts'
import type { TextRow } from '../postgres/text-rows.ts'
import type { AccountScope } from '../scope.ts'
import type { Statement } from '../sql.ts'
import type { TallyState } from '../tally-state.ts'
import { AccountLimiter } from './account-limiter.ts'

/**
 * Runs reads through the per-account concurrency limiter, so that one account can use neither all connections nor all
 * processors of the database. Pipelined statements take milliseconds and are not limited.
 */
export class AccountReads {
  readonly #database: Database
  readonly #replicas: Replicas | undefined
  readonly #limiter: AccountLimiter

  constructor(database: Database, runningMax: number, waitMsMax: number, replicas?: Replicas) {
    this.#database = database
    this.#replicas = replicas
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

  /** Whether an additional read would delay no other: the account has none in flight, and there are few of other accounts. */
  isIdleFor(scope: AccountScope): boolean {
    return this.#limiter.inFlight < limits.prefetchReadsInFlightMax && !this.#limiter.isRunning(scope)
  }

  read<Row extends TextRow<Row>>(
    scope: AccountScope,
    statement: Statement,
    signal: AbortSignal,
  ): Promise<Row[]> {
    if (statement.execution === 'pipelined') return this.#database.nodeOf(scope).read<Row>(statement)
    const read = (options: ReadOptions) => this.#database.nodeOf(scope).read<Row>(statement, options)
    return this.#limited(scope, signal, read)
  }

  /**
   * For a statement that returns the state of the tally, and one row: on a replica, if one has the state that the
   * verification has read.
   */
  readAt<Row extends TextRow<Row> & TallyState>(
    scope: AccountScope,
    statement: Statement,
    verified: Omit<VerifiedState, 'accountId'>,
    signal: AbortSignal,
  ): Promise<Row[]> {
    const replicas = this.#replicas
    if (replicas === undefined || statement.execution === 'pipelined')
      return this.read<Row>(scope, statement, signal)
    const { accountId } = scope
    return this.#limited(scope, signal, async (options) => {
      const row = await replicas.read<Row>(statement, { ...verified, accountId }, options)
      return row === undefined ? await this.#database.nodeOf(scope).read<Row>(statement, options) : [row]
    })
  }

  async #limited<Result>(
    scope: AccountScope,
    signal: AbortSignal,
    run: (options: ReadOptions) => Promise<Result>,
  ): Promise<Result> {
    const release = await this.#limiter.acquire(scope, signal)
    let overdue = Promise.resolve()
    try {
      if (signal.aborted) throw clientDisconnected()
      const onOverdue = (ended: Promise<void>) => {
        overdue = ended
      }
      return await run({ signal, onOverdue })
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
