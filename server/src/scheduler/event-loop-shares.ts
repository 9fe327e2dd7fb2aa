/**
 * Lets one slice of work that blocks the event loop run in each of its iterations, for one account after the other. So the
 * requests that arrive meanwhile wait for one slice, however many bodies are being parsed.
 */
export class EventLoopShares {
  /** By account, the next one in turn first; each with its waiting slices, oldest first. */
  readonly #queues = new Map<string, (() => void)[]>()
  #isScheduled = false

  /** Resolves when the caller may run its next slice, synchronously. */
  next(accountId: string): Promise<void> {
    return new Promise((resolve) => this.run(accountId, resolve))
  }

  /** Calls `slice` when it is the account's turn. The number of slices that wait has a limit: that of requests in flight. */
  run(accountId: string, slice: () => void): void {
    const queue = this.#queues.get(accountId)
    if (queue === undefined) this.#queues.set(accountId, [slice])
    else queue.push(slice)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      const [next] = this.#queues
      if (next === undefined) return
      const [accountId, queue] = next
      this.#queues.delete(accountId)
      queue.shift()?.()
      if (queue.length > 0) this.#queues.set(accountId, queue)
      if (this.#queues.size > 0) this.#schedule()
    })
  }
}
