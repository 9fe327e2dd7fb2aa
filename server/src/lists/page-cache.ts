import { LRUCache } from 'lru-cache'
import { limits } from '../limits.ts'
import type { AccountScope } from '../scope.ts'
import { isSameState, type TallyState } from '../tally-state.ts'

interface PageEnd {
  readonly page: number
  readonly id: string
}

interface ListFacts extends TallyState {
  readonly total: number
  /** By limit: ends of pages, in the order of their numbers. */
  readonly ends: Map<number, PageEnd[]>
}

/** The name under which a list is remembered: one for all its pages, and for its export. */
export function listKey({ accountId }: AccountScope, resource: string, filterKey: string): string {
  return `${accountId} ${resource} ${filterKey}`
}

/** Totals of filters and ends of pages, each at the version it was seen in; one version of a list at a time. */
export class PageCache {
  readonly #lists = new LRUCache<string, ListFacts>({ max: limits.listsCached })

  /** What holds of the list in this state; nothing where it was seen in another. */
  recall(list: string, state: TallyState, limit: number, page: number): { total?: number; end?: PageEnd } {
    const context = this.#lists.get(list)
    if (context === undefined || !isSameState(context, state)) return {}
    const end = nearestBefore(context.ends.get(limit) ?? [], page)
    return end === undefined ? { total: context.total } : { total: context.total, end }
  }

  /** `lastId` ends the page, if it was a full one. */
  note(
    list: string,
    state: TallyState,
    seen: { total: number; limit: number; page: number; lastId: string | undefined },
  ): void {
    let context = this.#lists.get(list)
    if (context === undefined || !isSameState(context, state)) {
      context = { ...state, total: seen.total, ends: new Map() }
      this.#lists.set(list, context)
    }
    if (seen.lastId === undefined) return
    if (context.ends.size >= limits.pageLimitsCached && !context.ends.has(seen.limit)) context.ends.clear()
    const ends = context.ends.get(seen.limit) ?? []
    context.ends.set(seen.limit, insert(ends, { page: seen.page, id: seen.lastId }))
  }
}

function nearestBefore(ends: readonly PageEnd[], page: number): PageEnd | undefined {
  return ends[place(ends, page) - 1]
}

/** Where an end of this page stands, or would: the first whose number is not below. */
function place(ends: readonly PageEnd[], page: number): number {
  let [low, high] = [0, ends.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ends[middle]?.page ?? 0) < page) low = middle + 1
    else high = middle
  }
  return low
}

/** Of too many, every second goes: a jump then has a little further to go. */
function insert(ends: PageEnd[], end: PageEnd): PageEnd[] {
  const at = place(ends, end.page)
  if (ends[at]?.page !== end.page) ends.splice(at, 0, end)
  return ends.length > limits.pageEndsCached ? ends.filter((_, i) => i % 2 === 1) : ends
}
