import { QueryTooSlow } from './errors.ts'
import { limits } from './limits.ts'

/** A page of records. */
export interface RecordPage<R> {
  readonly records: readonly R[]
  readonly isLast: boolean
  /** Identifies the snapshot from which the page was read; undefined if a proxy removed the ETag. */
  readonly version: string | undefined
}

/** A page of all matches, or of those in a window of ids: greater than `after`, and at most `upTo` if that is set. */
export interface PagePosition {
  readonly after?: number
  readonly upTo?: number | undefined
  readonly page: number
}

/**
 * Yields every record exactly once, ordered by id, while others write. A page number is an offset from the start: if an
 * earlier record is deleted, all later records move up, and the next page would skip one. So a page is used only if it
 * has the same version as the page before. If not, iteration continues by key, with the records after the last id, which
 * is correct at any version. It then requests windows of ids, because at a new version the service must count all
 * matches again, and a window limits that count.
 *
 * The next page is prefetched while the caller processes this one.
 */
export async function* iterate<R>(
  fetchPage: (position: PagePosition) => Promise<RecordPage<R>>,
  idOf: (record: R) => number,
): AsyncGenerator<R, void, undefined> {
  let position: PagePosition = { page: 1 }
  let version: string | undefined
  let lastId: number | undefined
  let width: number = limits.iterationPageRecords
  let pending = fetchPage(position)
  for (;;) {
    const page = await pending.catch(continueByKey(position))
    if (page === undefined || (position.page > 1 && page.version !== version)) {
      position = windowAfter(lastId ?? 0, width)
      pending = fetchPage(position)
      continue
    }
    const isUnchanged = page.version !== undefined && (lastId === undefined || page.version === version)
    const [first, last] = [page.records[0], page.records.at(-1)]
    if (first !== undefined && last !== undefined) {
      lastId = idOf(last)
      const pages = isUnchanged ? limits.idWindowPages : limits.idWindowPagesDuringWrites
      if (!page.isLast) width = (lastId - idOf(first) + 1) * pages
    }
    version = page.version
    if (page.isLast && position.upTo === undefined) return yield* page.records
    if (page.isLast && position.page === 1) width *= limits.idWindowGrowth
    if (page.isLast) position = windowAfter(position.upTo ?? 0, width)
    else position = isUnchanged ? { ...position, page: position.page + 1 } : windowAfter(lastId ?? 0, width)
    pending = fetchPage(position)
    // If the caller stops before this page is awaited, its failure must not become an unhandled rejection.
    pending.catch(() => undefined)
    yield* page.records
  }
}

/** A window that would end beyond the largest possible id has no upper bound. */
function windowAfter(after: number, width: number): PagePosition {
  const upTo = after + width
  return { after, upTo: upTo < Number.MAX_SAFE_INTEGER ? upTo : undefined, page: 1 }
}

/** A high page number can exceed the service's timeout while its page cache is cold; a read by key never does. */
function continueByKey({ page }: PagePosition) {
  return (error: unknown): undefined => {
    if (!(error instanceof QueryTooSlow) || page === 1) throw error
  }
}
