import { limits } from '../limits/limits.ts'

/** What waits, by account. Takes from one account after the other, the oldest of each first. */
class AccountTurns<Item> {
  /** The account that is next in turn first. */
  readonly #queues = new Map<string, Item[]>()

  get isEmpty(): boolean {
    return this.#queues.size === 0
  }

  add(account: string, item: Item): void {
    const queue = this.#queues.get(account)
    if (queue === undefined) this.#queues.set(account, [item])
    else queue.push(item)
  }

  /** Removes the next item; undefined if none waits. */
  take(): Item | undefined {
    const [next] = this.#queues
    if (next === undefined) return undefined
    const [account, queue] = next
    this.#queues.delete(account)
    const item = queue.shift()
    if (queue.length > 0) this.#queues.set(account, queue)
    return item
  }
}

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
