import { clientDisconnected, type Failure, overloaded } from '../errors/errors.ts'
import type { AccountScope } from '../scope.ts'

export interface AccountLimits {
  /** Operations of one account that run at once. */
  readonly runningMax: number
  /** Operations of one account that wait for a slot, and how long each waits. */
  readonly waitingMax: number
  readonly waitMsMax: number
  /** Operations of all accounts, running and waiting. */
  readonly totalMax: number
  /** The error if the account's queue is full, or an operation waits too long. */
  readonly busy: () => Failure
}

interface AccountQueue {
  running: number
  /** Oldest first. */
  readonly waiting: Set<() => void>
}

/**
 * Per-account concurrency limiter: at most `runningMax` operations of an account run at once, `waitingMax` more wait in
 * order of arrival, and the rest are rejected. One account therefore cannot use all connections to the database.
 */
export class AccountLimiter {
  readonly #limits: AccountLimits
  /** Only of accounts that have a running operation. */
  readonly #queues = new Map<string, AccountQueue>()
  #inFlight = 0

  constructor(limits: AccountLimits) {
    this.#limits = limits
  }

  /** Operations of all accounts, running and waiting. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** Whether the account has an operation running. */
  isRunning({ accountId }: AccountScope): boolean {
    return this.#queues.has(accountId)
  }

  /**
   * Waits for a slot of the account. Returns the function that releases it, which the caller must call once. Rejects if the
   * signal is aborted while the operation waits.
   */
  async acquire({ accountId }: AccountScope, signal: AbortSignal): Promise<() => void> {
    if (this.#inFlight >= this.#limits.totalMax) throw overloaded()
    const queue = this.#queueOf(accountId)
    this.#inFlight++
    try {
      if (queue.running < this.#limits.runningMax) queue.running++
      else await this.#wait(queue, signal)
    } catch (error) {
      this.#inFlight--
      throw error
    }
    return () => {
      this.#inFlight--
      this.#release(accountId, queue)
    }
  }

  #queueOf(accountId: string): AccountQueue {
    let queue = this.#queues.get(accountId)
    if (queue === undefined) {
      queue = { running: 0, waiting: new Set() }
      this.#queues.set(accountId, queue)
    }
    return queue
  }

  #wait({ waiting }: AccountQueue, signal: AbortSignal): Promise<void> {
    const { waitingMax, waitMsMax, busy } = this.#limits
    if (waiting.size >= waitingMax) throw busy()
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timeout)
        signal.removeEventListener('abort', abort)
        waiting.delete(start)
      }
      const fail = (failure: Failure): void => {
        leave()
        reject(failure)
      }
      const start = (): void => {
        leave()
        resolve()
      }
      const timeout = setTimeout(() => fail(busy()), waitMsMax)
      const abort = (): void => fail(clientDisconnected())
      signal.addEventListener('abort', abort)
      waiting.add(start)
    })
  }

  /** Passes the slot to the operation that has waited longest. */
  #release(accountId: string, queue: AccountQueue): void {
    const [start] = queue.waiting
    if (start !== undefined) {
      start()
      return
    }
    queue.running--
    if (queue.running === 0) this.#queues.delete(accountId)
  }
}
