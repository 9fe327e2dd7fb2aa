import { LRUCache } from 'lru-cache'
import { limits } from '../limits/limits.ts'
import type { ListHints } from '../query/sql/access-path.ts'
import type { RankedId } from '../query/sql/carry.ts'
import type { SortedEnd } from '../query/sql/sorted-carry.ts'
import type { AccountScope } from '../scope.ts'
import { isSameState, type TallyState } from '../tally-state.ts'

/** The last record of a page: its id, and the number of matches up to it. */
interface PageEnd {
  readonly rank: number
  readonly id: number
  /** Only in a sorted list: the value by which it is sorted. */
  readonly value?: string
}

/** What is known about a list at one version. Never changed, except that page ends are added. */
export interface CachedList extends TallyState {
  /** Null: it cannot be carried to later versions. */
  readonly lineage: string | null
  readonly total: number
  /** Sorted by rank. */
  ends: PageEnd[]
}

/** The cache key of a list: the same for all its pages, and for its export. */
export function listKey({ accountId }: AccountScope, resource: string, filterKey: string): string {
  return `${accountId} ${resource} ${filterKey}`
}

export interface Cached {
  readonly entry: CachedList
  /** The entry is of the present state. Otherwise it must be carried. */
  readonly isCurrent: boolean
}

/** Totals of filters and ends of pages. Holds one version per list. */
export class PageCache {
  readonly #lists: LRUCache<string, CachedList>

  constructor(max: number = limits.listsCached) {
    this.#lists = new LRUCache({ max })
  }

  get(list: string, state: TallyState): Cached | undefined {
    const entry = this.#lists.get(list)
    return entry && { entry, isCurrent: isSameState(entry, state) }
  }

  set(list: string, entry: CachedList): void {
    const cached = this.#lists.get(list)
    // Two requests may carry or count the same list at the same time: the newer version stays.
    const isOutdated = cached !== undefined && cached.epoch === entry.epoch && isNewer(cached, entry)
    if (!isOutdated) this.#lists.set(list, entry)
  }
}

export function isNewer(one: TallyState, other: TallyState): boolean {
  return BigInt(one.version) > BigInt(other.version)
}

export function addSortedEnd(entry: CachedList, rank: number, id: string, value: string): void {
  add(entry, { rank, id: Number(id), value }, limits.sortedEndsCached)
}

export function addEnd(entry: CachedList, rank: number, id: string): void {
  add(entry, { rank, id: Number(id) }, limits.pageEndsCached)
}

function add(entry: CachedList, end: PageEnd, max: number): void {
  const { rank } = end
  const at = lowerBound(entry.ends, rank)
  if (entry.ends[at]?.rank !== rank) entry.ends.splice(at, 0, end)
  // Above the limit, every second end is dropped: a jump then skips a page or two more.
  if (entry.ends.length > max) entry.ends = entry.ends.filter((_, i) => i % 2 === 1)
}

/** Total, and the nearest page end before the page that starts after `skipped` matches, in the state of the entry. */
export function hintsAt({ total, ends }: CachedList, skipped: number): ListHints {
  const end = nearest(ends, skipped)
  return end === undefined ? { total } : { total, end }
}

/**
 * Hints to carry the entry to another version: undefined if that cannot be done, or saves nothing. Up to the sort threshold
 * all matches of a filter are read in any case; without a filter, the total is in the tally and a near page is read fast.
 */
export function hintsToCarry(
  { lineage, version, total, ends }: CachedList,
  skipped: number,
  hasFilter: boolean,
): ListHints | undefined {
  if (lineage === null || !isWorthCarrying(total, skipped, hasFilter)) return undefined
  const start = nearest(ends, skipped) ?? firstRecord
  // No more matches are gained before a start than records have changed.
  const safeStart = nearest(ends, skipped - limits.carriedChangesMax) ?? firstRecord
  return { carry: { lineage, version, start, safeStart } }
}

function isWorthCarrying(total: number, skipped: number, hasFilter: boolean): boolean {
  return hasFilter ? total > limits.filterSortRecordsMax : skipped > limits.pageRecordsMax
}

/** The same for a sorted list. */
export function sortedHintsAt({ total, ends }: CachedList, skipped: number): ListHints {
  const end = ends[lowerBound(ends, skipped + 1) - 1]
  return end === undefined ? { total } : { total, sortedEnd: sortedEndOf(end) }
}

export function sortedHintsToCarry(
  { lineage, version, total, ends }: CachedList,
  skipped: number,
  hasFilter: boolean,
): ListHints | undefined {
  if (lineage === null || ends.length === 0 || !isWorthCarrying(total, skipped, hasFilter)) return undefined
  const sortedEnds = {
    ends: ends.map(sortedEndOf),
    nearRank: nearest(ends, skipped)?.rank ?? 0,
    safeRank: nearest(ends, skipped - limits.carriedChangesMax)?.rank ?? 0,
  }
  return { carry: { lineage, version, start: firstRecord, safeStart: firstRecord }, sortedEnds }
}

function sortedEndOf({ id, rank, value = '' }: PageEnd): SortedEnd {
  return { id: String(id), rank, value }
}

/** The same for the rest of a list, after an id: whatever its total, only the matches after the page end are counted. */
export function restHintsAt(
  { total, ends }: CachedList,
  afterId: number,
): ListHints & { restFrom: RankedId } {
  return { total, restFrom: nearestById(ends, afterId) }
}

export function restHintsToCarry(
  { lineage, version, ends }: CachedList,
  afterId: number,
): (ListHints & { restFrom: RankedId }) | undefined {
  if (lineage === null) return undefined
  const restFrom = nearestById(ends, afterId)
  return { restFrom, carry: { lineage, version, start: restFrom, safeStart: restFrom } }
}

function nearestById(ends: readonly PageEnd[], id: number): RankedId {
  const end = ends[firstIndex(ends, (one) => one.id > id) - 1]
  return end === undefined ? firstRecord : { id: String(end.id), rank: end.rank }
}

export const firstRecord: RankedId = { id: '0', rank: 0 }

type LaterState = TallyState & { readonly lineage: string | null }

/** The entry at a later state. `gained` and `lost`: the ids that the statement has returned. */
export function carryTo(entry: CachedList, state: LaterState, gained: string, lost: string): CachedList {
  const added = idsOf(gained)
  const removed = idsOf(lost)
  let [i, j] = [0, 0]
  const ends = entry.ends.map(({ rank, id }) => {
    while (i < added.length && (added[i] ?? 0) <= id) i++
    while (j < removed.length && (removed[j] ?? 0) <= id) j++
    return { rank: rank + i - j, id }
  })
  const { epoch, version, xid, lineage } = state
  return {
    epoch,
    version,
    xid,
    lineage,
    total: entry.total + added.length - removed.length,
    ends: distinct(ends),
  }
}

/** The same of a sorted list, with the ranks that the statement has returned. */
export function carryOrderTo(
  { total, ends }: CachedList,
  { epoch, version, xid, lineage }: LaterState,
  { gained, lost, ranks }: { readonly gained: string; readonly lost: string; readonly ranks: string },
): CachedList {
  const carried = ranks.split(',').map(Number)
  return {
    epoch,
    version,
    xid,
    lineage,
    total: total + idsOf(gained).length - idsOf(lost).length,
    ends: distinct(ends.map((end, at) => ({ ...end, rank: carried[at] ?? 0 }))),
  }
}

function idsOf(text: string): number[] {
  return text === ''
    ? []
    : text
        .split(',')
        .map(Number)
        .toSorted((a, b) => a - b)
}

/** If no match remains between two ends, both have the same rank. The first record that follows is the same. */
function distinct(ends: PageEnd[]): PageEnd[] {
  return ends.filter(({ rank }, i) => rank > 0 && rank !== ends[i - 1]?.rank)
}

function nearest(ends: readonly PageEnd[], skipped: number): RankedId | undefined {
  const end = ends[lowerBound(ends, skipped + 1) - 1]
  return end && { id: String(end.id), rank: end.rank }
}

/** The index of the first end whose rank is at least `rank`. */
function lowerBound(ends: readonly PageEnd[], rank: number): number {
  return firstIndex(ends, (end) => end.rank >= rank)
}

/** The index of the first end for which `isFound`, as for all after it. */
function firstIndex(ends: readonly PageEnd[], isFound: (end: PageEnd) => boolean): number {
  let [low, high] = [0, ends.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const end = ends[middle]
    if (end !== undefined && !isFound(end)) low = middle + 1
    else high = middle
  }
  return low
}
