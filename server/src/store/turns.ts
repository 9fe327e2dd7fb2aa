import { Failure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { AccountScope } from '../scope.ts'
import type { Statement } from '../sql.ts'
import { AccountLimiter } from './account-limiter.ts'
import { type HangUp, hungUp } from './hang-up.ts'
import type { Store } from './pool.ts'
import type { TextRow } from './text-rows.ts'

/**
 * Reads of an account, so many at once; a few more wait for their turn. So one account can neither take all connections
 * nor all of the database's processors. Quick statements need no turn.
 */
export class Turns {
  readonly #store: Store
  readonly #limiter: AccountLimiter

  constructor(store: Store, atOnce: number) {
    this.#store = store
    this.#limiter = new AccountLimiter({
      runningMax: atOnce,
      waitingMax: limits.accountReadsWaitingMax,
      waitMsMax: limits.readWaitMsMax,
      totalMax: limits.readsUnderWayMax,
      busy: () => accountBusy(atOnce),
    })
  }

  /** Whether no more should be let in: there is room only for those on their way. */
  get isFull(): boolean {
    return this.#limiter.underWay >= limits.readsUnderWayMax / 2
  }

  read<Row extends TextRow<Row>>(scope: AccountScope, statement: Statement, hangUp: HangUp): Promise<Row[]> {
    if (statement.pace === 'quick') return this.#store.read<Row>(statement)
    return this.#readInTurn<Row>(scope, statement, hangUp)
  }

  async #readInTurn<Row extends TextRow<Row>>(
    scope: AccountScope,
    statement: Statement,
    hangUp: HangUp,
  ): Promise<Row[]> {
    const release = await this.#limiter.acquire(scope, hangUp)
    let overdue = Promise.resolve()
    try {
      if (hangUp.isUp) throw hungUp()
      return await this.#store.read<Row>(statement, hangUp, (ended) => {
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
