import { LRUCache } from 'lru-cache'
import { limits } from '../../limits/limits.ts'

interface Counter {
  used: number
  /** By `performance.now()`. */
  endsAt: number
}

/**
 * The rate-limit counters of a primary, to which its workers add. It does what the script of `RedisCounters` does, so that N
 * workers without Redis together allow one limit instead of N.
 */
export class MemoryCounters {
  readonly #counters = new LRUCache<string, Counter>({
    max: limits.rateAccountsTracked + limits.rateKeysTracked,
  })

  add(names: readonly string[], amounts: readonly number[]): number[] {
    const now = performance.now()
    return names.flatMap((name, i) => {
      let counter = this.#counters.get(name)
      if (counter === undefined || counter.endsAt <= now) {
        counter = { used: 0, endsAt: now + limits.rateWindowMs }
        this.#counters.set(name, counter)
      }
      counter.used += amounts[i] ?? 0
      return [counter.used, counter.endsAt - now]
    })
  }
}
