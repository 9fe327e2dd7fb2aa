import { Failure, overloaded } from '../errors.ts'
import { limits } from '../limits.ts'
import type { AccountScope } from '../scope.ts'
import type { Statement } from '../sql.ts'
import { type HangUp, hungUp } from './hang-up.ts'
import type { Store } from './pool.ts'
import type { TextRow } from './text-rows.ts'

interface Line {
  running: number
  readonly waiting: Set<Waiter>
}

interface Waiter {
  readonly go: () => void
}

/**
 * Reads of an account, so many at once; a few more wait for their turn, first come first served. So one account can
 * neither take all connections nor all of the database's processors. Quick statements need no turn.
 */
export class Turns {
  readonly #store: Store
  readonly #atOnce: number
  /** Of accounts that read at this moment, and no others. */
  readonly #lines = new Map<string, Line>()
  #underWay = 0

  constructor(store: Store, atOnce: number) {
    this.#store = store
    this.#atOnce = atOnce
  }

  /** Whether no more should be let in: there is room only for those on their way. */
  get isFull(): boolean {
    return this.#underWay >= limits.readsUnderWayMax / 2
  }

  read<Row extends TextRow<Row>>(scope: AccountScope, statement: Statement, hangUp: HangUp): Promise<Row[]> {
    if (statement.pace === 'quick') return this.#store.read<Row>(statement)
    return this.#readInTurn<Row>(scope, statement, hangUp)
  }

  async #readInTurn<Row extends TextRow<Row>>(
    { accountId }: AccountScope,
    statement: Statement,
    hangUp: HangUp,
  ): Promise<Row[]> {
    if (this.#underWay >= limits.readsUnderWayMax) throw overloaded()
    const line = this.#lineOf(accountId)
    this.#underWay++
    let overdue = Promise.resolve()
    try {
      if (line.running >= this.#atOnce) await this.#wait(line, hangUp)
      else line.running++
      try {
        if (hangUp.isUp) throw hungUp()
        return await this.#store.read<Row>(statement, hangUp, (ended) => {
          overdue = ended
        })
      } finally {
        // One that runs on in the database keeps its place until it has ended.
        void overdue.then(() => this.#next(accountId, line))
      }
    } finally {
      this.#underWay--
    }
  }

  #lineOf(accountId: string): Line {
    const found = this.#lines.get(accountId)
    if (found !== undefined) return found
    const line = { running: 0, waiting: new Set<Waiter>() }
    this.#lines.set(accountId, line)
    return line
  }

  #wait(line: Line, hangUp: HangUp): Promise<void> {
    if (line.waiting.size >= limits.accountReadsWaitingMax) throw accountBusy(this.#atOnce)
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(late)
        hangUp.onUp(undefined)
        line.waiting.delete(waiter)
      }
      const refuse = (failure: Failure): void => {
        leave()
        reject(failure)
      }
      const waiter: Waiter = {
        go: () => {
          leave()
          resolve()
        },
      }
      const late = setTimeout(() => refuse(accountBusy(this.#atOnce)), limits.connectMsMax)
      hangUp.onUp(() => refuse(hungUp()))
      line.waiting.add(waiter)
    })
  }

  /** Whoever waits longest takes over the turn that ends. */
  #next(accountId: string, line: Line): void {
    const [waiter] = line.waiting
    if (waiter !== undefined) {
      waiter.go()
      return
    }
    line.running--
    if (line.running === 0) this.#lines.delete(accountId)
  }
}

function accountBusy(atOnce: number): Failure {
  return new Failure(
    'account_busy',
    `This account has ${atOnce} long queries running, as many as it may, and more waiting. ` +
      'Try again shortly, with fewer at once.',
  )
}
