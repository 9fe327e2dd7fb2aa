import { limits } from '../../limits/limits.ts'
import type { CounterStore } from './counter-store.ts'

/** Requests of one account, or of one key, in the current window. */
export interface Count {
  /** The same in all processes. */
  readonly name: string
  /** The total of all processes at the last sync, and the requests of this process since. */
  used: number
  /** Requests of this process that have not been added in the store. */
  unsynced: number
  /** By `performance.now()`. */
  endsAt: number
  /** Whether the count is queued for a sync. */
  pending: 'no' | 'later' | 'soon'
}

/**
 * Adds the counts of this process to counters that all processes share, in batches. A count is synced soon if its
 * unsynced requests could matter to its limit, and otherwise within `rateSyncMs`. No request waits for it.
 */
export class SharedCounters {
  readonly #store: CounterStore
  #soon: Count[] = []
  /** A set: a count that is twice in a batch would be added twice. */
  readonly #later = new Set<Count>()
  #timer: NodeJS.Timeout | undefined
  #isSyncing = false

  constructor(store: CounterStore) {
    this.#store = store
  }

  /** Queues the count for the next batch. */
  sync(count: Count, soon: boolean): void {
    if (count.pending === 'soon' || (count.pending === 'later' && !soon)) return
    if (!this.#store.isAvailable) return
    if (soon) {
      count.pending = 'soon'
      this.#soon.push(count)
      if (this.#soon.length === 1 && !this.#isSyncing) setImmediate(() => void this.#syncSoon())
      return
    }
    count.pending = 'later'
    this.#later.add(count)
    this.#timer ??= setTimeout(() => void this.#syncLater(), limits.rateSyncMs)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#store.close()
  }

  /** One batch at a time: counts queue up while it is in flight. */
  async #syncSoon(): Promise<void> {
    if (this.#isSyncing) return
    this.#isSyncing = true
    while (this.#soon.length > 0) await this.#add(this.#soon.splice(0, limits.rateSyncBatchMax))
    this.#isSyncing = false
  }

  async #syncLater(): Promise<void> {
    const counts = [...this.#later].filter((count) => count.pending === 'later')
    this.#later.clear()
    for (let i = 0; i < counts.length; i += limits.rateSyncBatchMax) {
      await this.#add(counts.slice(i, i + limits.rateSyncBatchMax))
    }
    this.#timer = undefined
    if (this.#later.size > 0) this.#timer = setTimeout(() => void this.#syncLater(), limits.rateSyncMs)
  }

  async #add(counts: readonly Count[]): Promise<void> {
    const unsynced = counts.map((count) => count.unsynced)
    for (const count of counts) {
      count.unsynced = 0
      count.pending = 'no'
    }
    try {
      const names = counts.map(({ name }) => name)
      this.#update(counts, await this.#store.add(names, unsynced))
    } catch {
      // Not retried: the store may have added them already, and counting them twice would reject allowed requests.
    }
  }

  #update(counts: readonly Count[], results: readonly number[]): void {
    const now = performance.now()
    for (const [i, count] of counts.entries()) {
      count.used = (results[2 * i] ?? 0) + count.unsynced
      count.endsAt = now + (results[2 * i + 1] ?? 0)
    }
  }
}
