import type { ListHints } from '../query/sql/access-path.ts'
import type { ListRow } from '../query/sql/list-statement.ts'
import { isSameState, type TallyState } from '../tally-state.ts'
import {
  type Cached,
  type CachedList,
  carryOrderTo,
  carryTo,
  hintsAt,
  hintsToCarry,
  isNewer,
  sortedHintsAt,
  sortedHintsToCarry,
} from './page-cache.ts'

/** A way to read a page by what is cached of its list, or in a sorted list of its order. */
export interface PageSource {
  readonly hints: ListHints
  readonly entry?: CachedList
  /** Whether the entry is that of the order, with its page ends. */
  readonly isSorted?: boolean
  /** Whether the hints are true in the present state only. */
  readonly isCurrent?: boolean
}

/** The ways in which a page can be read, each for the case that the ones before it do not apply. `sorted`: null if the list is in the order of ids. */
export function pageSources(
  list: Cached | undefined,
  sorted: Cached | undefined | null,
  skipped: number,
  hasFilter: boolean,
  unknown: ListHints,
): readonly PageSource[] {
  const sources: PageSource[] = []
  const add = (hints: ListHints | undefined, source: Omit<PageSource, 'hints'>) => {
    if (hints !== undefined) sources.push({ ...source, hints })
  }
  if (sorted != null) {
    const { entry, isCurrent } = sorted
    if (isCurrent) add(sortedHintsAt(entry, skipped), { entry, isSorted: true, isCurrent })
    add(sortedHintsToCarry(entry, skipped, hasFilter), { entry, isSorted: true })
  }
  if (list !== undefined) {
    const { entry, isCurrent } = list
    if (isCurrent) add(hintsAt(entry, skipped), { entry, isCurrent })
    // Without a filter, only the page ends would be carried.
    if (hasFilter || sorted === null) add(hintsToCarry(entry, skipped, hasFilter), { entry })
  }
  add(unknown, {})
  return sources
}

/** Whether the row is an answer. Not if a write was committed meanwhile, or if not all changes to an order are known. */
export function isAnswered({ hints, isCurrent }: PageSource, row: ListRow, state: TallyState): boolean {
  if (isCurrent === true) return isSameState(row, state)
  return hints.sortedEnds === undefined || row.ranks != null
}

/** The entry of the source at the state of the row. Undefined if the row does not depend on it. */
export function entryAt({ entry, isSorted, isCurrent }: PageSource, row: ListRow): CachedList | undefined {
  const { gained, lost, ranks } = row
  if (entry === undefined || isCurrent === true) return entry
  if (gained == null || lost == null) return undefined
  const state = { ...row, lineage: row.lineage ?? null }
  return isSorted === true && ranks != null
    ? carryOrderTo(entry, state, { gained, lost, ranks })
    : carryTo(entry, state, gained, lost)
}

/**
 * What is cached of the list itself, after its order was carried from `before` to `after`. Undefined: it stays. Lists are read by id and
 * in an order by different clients, and each carries what it reads; the total must not become too old to be carried.
 */
export function listAt(
  list: Cached | undefined,
  before: CachedList,
  after: CachedList,
  { gained, lost }: ListRow,
): CachedList | undefined {
  const isOfLineage = list !== undefined && list.entry.lineage === before.lineage
  if (isOfLineage && list.entry.version === before.version)
    return before === after ? undefined : carryTo(list.entry, after, gained ?? '', lost ?? '')
  return isOfLineage && isNewer(list.entry, before) ? undefined : { ...after, ends: [] }
}
