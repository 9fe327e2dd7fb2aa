import { limits } from '../limits/limits.ts'
import { AccountTurns } from './account-turns.ts'

/**
 * Starts a limited number of requests in each iteration of the event loop, those of one account after the other. So an account
 * whose requests arrive by the hundred delays those of others by one iteration, and iterations stay short.
 *
 * That matters to new connections above all: Node accepts one in each iteration, whoever opened it. While some wait to be
 * accepted, most iterations start no request.
 */
export class RequestTurns {
  readonly #waiting = new AccountTurns<() => void>()
  #started = 0
  /** Connections accepted since a request started. */
  #accepted = 0
  #hasAccepted = false
  #isScheduled = false

  /** Calls `start` at once, or when it is the account's turn. As many requests can wait as there are connections. */
  run(account: string, start: () => void): void {
    if (this.#waiting.isEmpty && !this.#isFull()) {
      this.#started++
      this.#schedule()
      start()
      return
    }
    this.#waiting.add(account, start)
    this.#schedule()
  }

  /** More connections probably wait to be accepted. */
  onConnection(): void {
    this.#hasAccepted = true
    this.#accepted++
    this.#schedule()
  }

  #isFull(): boolean {
    if (!this.#hasAccepted) return this.#started >= limits.iterationRequestsMax
    return this.#started > 0 || this.#accepted < limits.acceptedPerRequest
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#nextIteration())
  }

  #nextIteration(): void {
    this.#isScheduled = false
    this.#started = 0
    while (!this.#isFull()) {
      const start = this.#waiting.take()
      if (start === undefined) break
      this.#started++
      start()
    }
    if (this.#started > 0 || !this.#hasAccepted) this.#accepted = 0
    this.#hasAccepted = false
    if (this.#started > 0 || !this.#waiting.isEmpty) this.#schedule()
  }
}
