import { clientDisconnected, type Failure, overloaded } from '../errors.ts'
import type { AccountScope } from '../scope.ts'

export interface AccountLimits {
  /** Operations of one account that run at once. */
  readonly runningMax: number
  /** Operations of one account that wait for one of those to end, and how long each waits. */
  readonly waitingMax: number
  readonly waitMsMax: number
  /** Operations of all accounts, running and waiting. */
  readonly totalMax: number
  /** The error of an operation that finds the queue full, or waits too long. */
  readonly busy: () => Failure
}

interface AccountQueue {
  running: number
  /** In the order in which they came. */
  readonly waiting: Set<() => void>
}

/**
 * Per-account concurrency limiter: so many operations of an account run at once, a bounded number waits, first come
 * first served, and more are refused. However much one account sends, the others find connections free.
 */
export class AccountLimiter {
  readonly #limits: AccountLimits
  /** Of accounts with an operation under way, and of no others. */
  readonly #queues = new Map<string, AccountQueue>()
  #underWay = 0

  constructor(limits: AccountLimits) {
    this.#limits = limits
  }

  /** Running and waiting, of all accounts. */
  get underWay(): number {
    return this.#underWay
  }

  /**
   * Takes a slot of the account, when one is free. The caller releases it, once. An operation whose client hangs up
   * while it waits is not started.
   */
  async acquire({ accountId }: AccountScope, signal: AbortSignal): Promise<() => void> {
    if (this.#underWay >= this.#limits.totalMax) throw overloaded()
    const queue = this.#queueOf(accountId)
    this.#underWay++
    try {
      if (queue.running < this.#limits.runningMax) queue.running++
      else await this.#wait(queue, signal)
    } catch (error) {
      this.#underWay--
      throw error
    }
    return () => {
      this.#underWay--
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
      const refuse = (failure: Failure): void => {
        leave()
        reject(failure)
      }
      const start = (): void => {
        leave()
        resolve()
      }
      const timeout = setTimeout(() => refuse(busy()), waitMsMax)
      const abort = (): void => refuse(clientDisconnected())
      signal.addEventListener('abort', abort)
      waiting.add(start)
    })
  }

  /** The slot passes to the operation that has waited longest. */
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
