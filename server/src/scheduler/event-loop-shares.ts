/**
 * Lets one slice of work that blocks the event loop run in each of its iterations, for one account after the other. So the
 * requests that arrive meanwhile wait for one slice, however many bodies are being parsed.
 */
export class EventLoopShares {
  /** By account, the next one in turn first; each with its waiting slices, oldest first. */
  readonly #queues = new Map<string, (() => void)[]>()
  #isScheduled = false

  /** Resolves when the caller may run its next slice, synchronously. The number of callers has a limit: that of bodies in flight. */
  next(accountId: string): Promise<void> {
    return new Promise((resolve) => {
      const queue = this.#queues.get(accountId)
      if (queue === undefined) this.#queues.set(accountId, [resolve])
      else queue.push(resolve)
      this.#schedule()
    })
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
