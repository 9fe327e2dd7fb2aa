import { limits } from '../limits/limits.ts'

/**
 * Starts a limited number of requests in each iteration of the event loop, those of one account after the other. So an account
 * whose requests arrive by the hundred delays those of others by one iteration, and iterations stay short.
 *
 * That matters to new connections above all: Node accepts one in each iteration, whoever opened it. While some wait to be
 * accepted, most iterations start no request.
 */
export class RequestTurns {
  /** By account, the next one in turn first; each with its waiting requests, oldest first. */
  readonly #queues = new Map<string, (() => void)[]>()
  #started = 0
  /** Connections accepted since a request started. */
  #accepted = 0
  #hasAccepted = false
  #isScheduled = false

  /** Calls `start` at once, or when it is the account's turn. As many requests can wait as there are connections. */
  run(account: string, start: () => void): void {
    if (this.#queues.size === 0 && !this.#isFull()) {
      this.#started++
      this.#schedule()
      start()
      return
    }
    const queue = this.#queues.get(account)
    if (queue === undefined) this.#queues.set(account, [start])
    else queue.push(start)
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
      const [next] = this.#queues
      if (next === undefined) break
      const [account, queue] = next
      this.#queues.delete(account)
      const start = queue.shift()
      if (queue.length > 0) this.#queues.set(account, queue)
      this.#started++
      start?.()
    }
    if (this.#started > 0 || !this.#hasAccepted) this.#accepted = 0
    this.#hasAccepted = false
    if (this.#started > 0 || this.#queues.size > 0) this.#schedule()
  }
}
