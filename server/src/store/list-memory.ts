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
export function listName({ accountId }: AccountScope, resource: string, filterKey: string): string {
  return `${accountId} ${resource} ${filterKey}`
}

/** Totals of filters and ends of pages, each at the version it was seen in; one version of a list at a time. */
export class ListMemory {
  readonly #lists = new LRUCache<string, ListFacts>({ max: limits.listsRemembered })

  /** What holds of the list in this state; nothing where it was seen in another. */
  recall(list: string, state: TallyState, limit: number, page: number): { total?: number; end?: PageEnd } {
    const facts = this.#lists.get(list)
    if (facts === undefined || !isSameState(facts, state)) return {}
    const end = nearestBefore(facts.ends.get(limit) ?? [], page)
    return end === undefined ? { total: facts.total } : { total: facts.total, end }
  }

  /** `lastId` ends the page, if it was a full one. */
  note(
    list: string,
    state: TallyState,
    seen: { total: number; limit: number; page: number; lastId: string | undefined },
  ): void {
    let facts = this.#lists.get(list)
    if (facts === undefined || !isSameState(facts, state)) {
      facts = { ...state, total: seen.total, ends: new Map() }
      this.#lists.set(list, facts)
    }
    if (seen.lastId === undefined) return
    if (facts.ends.size >= limits.pageLimitsRemembered && !facts.ends.has(seen.limit)) facts.ends.clear()
    const ends = facts.ends.get(seen.limit) ?? []
    facts.ends.set(seen.limit, insert(ends, { page: seen.page, id: seen.lastId }))
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
  return ends.length > limits.pageEndsRemembered ? ends.filter((_, i) => i % 2 === 1) : ends
}
