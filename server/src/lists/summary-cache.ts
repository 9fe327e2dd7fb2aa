import { LRUCache } from 'lru-cache'
import { limits } from '../limits/limits.ts'
import type { CachedGroups } from '../query/sql/summary-carry.ts'
import type { AccountScope } from '../scope.ts'

/** The groups of summaries at the version at which they were last read, to be carried to later ones. */
export class SummaryCache {
  readonly #cached = new LRUCache<string, CachedGroups>({
    maxSize: limits.summaryCacheBytesMax,
    sizeCalculation: ({ groups }, key) => (groups.length + key.length) * 2 + 200,
  })

  get(scope: AccountScope, requestHash: string): CachedGroups | undefined {
    return this.#cached.get(summaryKey(scope, requestHash))
  }

  set(scope: AccountScope, requestHash: string, entry: CachedGroups): void {
    const key = summaryKey(scope, requestHash)
    const cached = this.#cached.get(key)
    // Two requests may carry the same summary at the same time: the newer version stays.
    const isOutdated = cached?.lineage === entry.lineage && BigInt(cached.version) > BigInt(entry.version)
    if (!isOutdated) this.#cached.set(key, entry)
  }
}

export function summaryKey({ accountId }: AccountScope, requestHash: string): string {
  return `${accountId} ${requestHash}`
}
