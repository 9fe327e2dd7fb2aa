import { clientDisconnected, Failure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Database } from '../postgres/database.ts'
import type { TextRow } from '../postgres/text-rows.ts'
import type { AccountScope } from '../scope.ts'
import type { Statement } from '../sql.ts'
import { AccountLimiter } from './account-limiter.ts'

/**
 * Reads of an account, so many at once; a few more wait for their turn. So one account can neither take all connections
 * nor all of the database's processors. Quick statements need no turn.
 */
export class AccountReads {
  readonly #database: Database
  readonly #limiter: AccountLimiter

  constructor(database: Database, atOnce: number, waitMsMax: number) {
    this.#database = database
    this.#limiter = new AccountLimiter({
      runningMax: atOnce,
      waitingMax: limits.accountReadsWaitingMax,
      waitMsMax,
      totalMax: limits.readsInFlightMax,
      busy: () => accountBusy(atOnce),
    })
  }

  /** Whether no more should be let in: there is room only for those on their way. */
  get isFull(): boolean {
    return this.#limiter.underWay >= limits.readsInFlightMax / 2
  }

  read<Row extends TextRow<Row>>(
    scope: AccountScope,
    statement: Statement,
    signal: AbortSignal,
  ): Promise<Row[]> {
    if (statement.execution === 'pipelined') return this.#database.read<Row>(statement)
    return this.#readInTurn<Row>(scope, statement, signal)
  }

  async #readInTurn<Row extends TextRow<Row>>(
    scope: AccountScope,
    statement: Statement,
    signal: AbortSignal,
  ): Promise<Row[]> {
    const release = await this.#limiter.acquire(scope, signal)
    let overdue = Promise.resolve()
    try {
      if (signal.aborted) throw clientDisconnected()
      return await this.#database.read<Row>(statement, signal, (ended) => {
        overdue = ended
      })
    } finally {
      // One that runs on in the database keeps its slot until it has ended.
      void overdue.then(release)
    }
  }
}

function accountBusy(atOnce: number): Failure {
  return new Failure(
    'account_busy',
    `This account has ${atOnce} long queries running, as many as it may, and more waiting. ` +
      'Try again shortly, with fewer at once.',
  )
}
