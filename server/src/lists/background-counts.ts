import { LRUCache } from 'lru-cache'
import { Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { AccountScope } from '../scope.ts'

/** What is counted: the total of a list, or the groups of a summary. */
export type Counted = 'total' | 'summary'

/**
 * Totals and summaries that take longer to count than a request may wait. They are counted in the background, one of an account at a time,
 * and cached like any other. A repeated request waits for the count, instead of beginning it again.
 */
export class BackgroundCounts {
  readonly #waitMsMax: number
  readonly #emit: EmitEvent
  /** By the key of the list or summary. */
  readonly #running = new Map<string, { readonly accountId: string; readonly ended: Promise<void> }>()
  readonly #failed = new LRUCache<string, true>({
    max: limits.backgroundCountsFailedMax,
    ttl: limits.backgroundCountRetryMs,
  })

  /** `waitMsMax`: how long a request waits for its count. */
  constructor(waitMsMax: number, emit: EmitEvent) {
    this.#waitMsMax = waitMsMax
    this.#emit = emit
  }

  get running(): number {
    return this.#running.size
  }

  isRunning(key: string): boolean {
    return this.#running.has(key)
  }

  /** Waits for the count, if it is running. Throws if that takes too long. */
  async wait(key: string, of: Counted, signal: AbortSignal): Promise<void> {
    const count = this.#running.get(key)
    if (count === undefined) return
    let stop = () => {}
    const late = new Promise<'late'>((resolve) => {
      stop = () => resolve('late')
    })
    const timer = setTimeout(stop, this.#waitMsMax)
    signal.addEventListener('abort', stop)
    try {
      if ((await Promise.race([count.ended, late])) === 'late') throw pending(of)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
  }

  /** Begins to count, unless it is known to take too long. Returns the error for the request that could not wait. */
  begin({ accountId }: AccountScope, key: string, of: Counted, count: () => Promise<void>): Failure {
    if (this.#failed.has(key)) return uncountable(of)
    const running = [...this.#running.values()]
    if (this.#running.has(key)) return pending(of)
    if (running.length >= limits.backgroundCountsMax || running.some((one) => one.accountId === accountId))
      return othersFirst(of)
    this.#running.set(key, { accountId, ended: this.#run(key, of, count) })
    return pending(of)
  }

  async #run(key: string, of: Counted, count: () => Promise<void>): Promise<void> {
    const startedAt = performance.now()
    const ended = (failed: boolean) =>
      this.#emit({ kind: 'background-count-ended', of, failed, ms: performance.now() - startedAt })
    this.#emit({ kind: 'background-count-started', of })
    try {
      await count()
      ended(false)
    } catch {
      this.#failed.set(key, true)
      ended(true)
    } finally {
      this.#running.delete(key)
    }
  }
}

/** Whether a read was cancelled because it took longer than a request may wait. */
export function isLate(error: unknown): boolean {
  return error instanceof Failure && error.code === 'deadline_exceeded'
}

const names: Readonly<Record<Counted, { readonly one: string; readonly others: string }>> = {
  total: { one: 'The total of this filter', others: 'the totals of other filters are' },
  summary: { one: 'This summary', others: 'another filter or summary is' },
}

function pending(of: Counted): Failure {
  return new Failure(
    'total_pending',
    `${names[of].one} takes longer to count than a request can wait. The service goes on counting: repeat the request after the seconds in Retry-After.`,
  )
}

function othersFirst(of: Counted): Failure {
  return new Failure(
    'total_pending',
    `${names[of].one} takes longer to count than a request can wait, and ${names[of].others} being counted. Repeat the request after the seconds in Retry-After.`,
  )
}

function uncountable(of: Counted): Failure {
  return new Failure(
    'deadline_exceeded',
    `${names[of].one} could not be counted in ${limits.backgroundCountMsMax / 60_000} minutes. Narrow the filter: an equality or a range on an indexed field, or a word of three ` +
      'or more letters.',
  )
}
