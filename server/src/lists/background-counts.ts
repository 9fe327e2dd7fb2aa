import { LRUCache } from 'lru-cache'
import { Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { AccountScope } from '../scope.ts'

/**
 * Totals that take longer to count than a request may wait. They are counted in the background, one of an account at a time, and cached
 * like any other. A repeated request waits for the count, instead of beginning it again.
 */
export class BackgroundCounts {
  readonly #waitMsMax: number
  /** By the key of the list. */
  readonly #running = new Map<string, { readonly accountId: string; readonly ended: Promise<void> }>()
  readonly #failed = new LRUCache<string, true>({
    max: limits.backgroundCountsFailedMax,
    ttl: limits.backgroundCountRetryMs,
  })

  /** `waitMsMax`: how long a request waits for its count. */
  constructor(waitMsMax: number) {
    this.#waitMsMax = waitMsMax
  }

  isRunning(list: string): boolean {
    return this.#running.has(list)
  }

  /** Waits for the count of the list, if there is one. Throws if that takes too long. */
  async wait(list: string, signal: AbortSignal): Promise<void> {
    const count = this.#running.get(list)
    if (count === undefined) return
    let stop = () => {}
    const late = new Promise<'late'>((resolve) => {
      stop = () => resolve('late')
    })
    const timer = setTimeout(stop, this.#waitMsMax)
    signal.addEventListener('abort', stop)
    try {
      if ((await Promise.race([count.ended, late])) === 'late') throw pending()
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
  }

  /** Begins to count, unless it is known to take too long. Returns the error for the request that could not wait. */
  begin({ accountId }: AccountScope, list: string, count: () => Promise<void>): Failure {
    if (this.#failed.has(list)) return uncountable()
    const running = [...this.#running.values()]
    if (this.#running.has(list)) return pending()
    if (running.length >= limits.backgroundCountsMax || running.some((one) => one.accountId === accountId))
      return othersFirst()
    this.#running.set(list, { accountId, ended: this.#run(list, count) })
    return pending()
  }

  async #run(list: string, count: () => Promise<void>): Promise<void> {
    try {
      await count()
    } catch {
      this.#failed.set(list, true)
    } finally {
      this.#running.delete(list)
    }
  }
}

function pending(): Failure {
  return new Failure(
    'total_pending',
    'The total of this filter takes longer to count than a request can wait. The service goes on counting: repeat the request after the seconds in Retry-After.',
  )
}

function othersFirst(): Failure {
  return new Failure(
    'total_pending',
    'The total of this filter takes longer to count than a request can wait, and the totals of other filters are being counted. Repeat the request after the ' +
      'seconds in Retry-After.',
  )
}

function uncountable(): Failure {
  return new Failure(
    'deadline_exceeded',
    `The total of this filter could not be counted in ${limits.backgroundCountMsMax / 60_000} minutes. Narrow the filter: an equality or a range on an indexed field, or a word of three ` +
      'or more letters.',
  )
}
