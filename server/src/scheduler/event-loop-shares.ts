import { AccountTurns } from './account-turns.ts'

/**
 * Lets one slice of work that blocks the event loop run in each of its iterations, for one account after the other. So the
 * requests that arrive meanwhile wait for one slice, however many bodies are being parsed.
 */
export class EventLoopShares {
  readonly #waiting = new AccountTurns<() => void>()
  #isScheduled = false

  /** Resolves when the caller may run its next slice, synchronously. */
  next(accountId: string): Promise<void> {
    return new Promise((resolve) => this.run(accountId, resolve))
  }

  /** Calls `slice` when it is the account's turn. The number of slices that wait has a limit: that of requests in flight. */
  run(accountId: string, slice: () => void): void {
    this.#waiting.add(accountId, slice)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#waiting.take()?.()
      if (!this.#waiting.isEmpty) this.#schedule()
    })
  }
}
