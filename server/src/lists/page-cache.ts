import { LRUCache } from 'lru-cache'
import { limits } from '../limits.ts'
import type { AccountScope } from '../scope.ts'
import { isSameState, type TallyState } from '../tally-state.ts'

/** The id of the last record of a page. */
interface PageEnd {
  readonly page: number
  readonly id: string
}

interface CachedList extends TallyState {
  readonly total: number
  /** By page size (`limit`), sorted by page number. */
  readonly ends: Map<number, PageEnd[]>
}

/** The cache key of a list: the same for all its pages, and for its export. */
export function listKey({ accountId }: AccountScope, resource: string, filterKey: string): string {
  return `${accountId} ${resource} ${filterKey}`
}

/** Totals of filters and ends of pages, valid for one version. Holds one version per list. */
export class PageCache {
  readonly #lists = new LRUCache<string, CachedList>({ max: limits.listsCached })

  /** The total, and the nearest cached page end before `page`; empty if the list was cached in another state. */
  get(list: string, state: TallyState, limit: number, page: number): { total?: number; end?: PageEnd } {
    const cached = this.#lists.get(list)
    if (cached === undefined || !isSameState(cached, state)) return {}
    const end = nearestBefore(cached.ends.get(limit) ?? [], page)
    return end === undefined ? { total: cached.total } : { total: cached.total, end }
  }

  /** `lastId`: the id of the last record of the page, if the page is full. */
  set(
    list: string,
    state: TallyState,
    seen: { total: number; limit: number; page: number; lastId: string | undefined },
  ): void {
    let cached = this.#lists.get(list)
    if (cached === undefined || !isSameState(cached, state)) {
      cached = { ...state, total: seen.total, ends: new Map() }
      this.#lists.set(list, cached)
    }
    if (seen.lastId === undefined) return
    if (cached.ends.size >= limits.pageLimitsCached && !cached.ends.has(seen.limit)) cached.ends.clear()
    const ends = cached.ends.get(seen.limit) ?? []
    cached.ends.set(seen.limit, insert(ends, { page: seen.page, id: seen.lastId }))
  }
}

function nearestBefore(ends: readonly PageEnd[], page: number): PageEnd | undefined {
  return ends[lowerBound(ends, page) - 1]
}

/** The index of the first end whose page number is at least `page`. */
function lowerBound(ends: readonly PageEnd[], page: number): number {
  let [low, high] = [0, ends.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ends[middle]?.page ?? 0) < page) low = middle + 1
    else high = middle
  }
  return low
}

/** Above the limit, every second end is dropped: a jump then skips a page or two more. */
function insert(ends: PageEnd[], end: PageEnd): PageEnd[] {
  const at = lowerBound(ends, end.page)
  if (ends[at]?.page !== end.page) ends.splice(at, 0, end)
  return ends.length > limits.pageEndsCached ? ends.filter((_, i) => i % 2 === 1) : ends
}
