import { QueryTooSlow } from './errors.ts'
import { limits } from './limits.ts'

/** A page as a walk sees it. */
export interface WalkPage<R> {
  readonly records: readonly R[]
  readonly isLast: boolean
  /** Names the state of the data that the page shows; undefined where a proxy took the ETag away. */
  readonly version: string | undefined
}

/** A page of all matches, or of those in a window of ids: beyond `after`, and up to `upTo` where that is bounded. */
export interface Place {
  readonly after?: number
  readonly upTo?: number | undefined
  readonly page: number
}

/**
 * Every record once, by id, while others write. A page number is a distance from the start, and a deletion on the way
 * moves all that follows: a record would be lost. So a page counts only if it shows the same version as the page
 * before. When it does not, the walk goes on by key, after the last id it has seen, which is right in any version.
 * There it asks for windows of ids, because the service counts what a filter matches whenever the version is new.
 *
 * The next page is fetched while the caller has this one.
 */
export async function* walk<R>(
  ask: (place: Place) => Promise<WalkPage<R>>,
  idOf: (record: R) => number,
): AsyncGenerator<R, void, undefined> {
  let place: Place = { page: 1 }
  let version: string | undefined
  let lastId: number | undefined
  let width: number = limits.walkPageRecords
  let coming = ask(place)
  for (;;) {
    const page = await coming.catch(onlyWhereNeeded(place))
    if (page === undefined || (place.page > 1 && page.version !== version)) {
      place = windowAfter(lastId ?? 0, width)
      coming = ask(place)
      continue
    }
    const isCalm = page.version !== undefined && (lastId === undefined || page.version === version)
    const [first, last] = [page.records[0], page.records.at(-1)]
    if (first !== undefined && last !== undefined) {
      lastId = idOf(last)
      const pages = isCalm ? limits.walkWindowPages : limits.walkWindowPagesBusy
      if (!page.isLast) width = (lastId - idOf(first) + 1) * pages
    }
    version = page.version
    if (page.isLast && place.upTo === undefined) return yield* page.records
    if (page.isLast && place.page === 1) width *= limits.walkWindowGrowth
    if (page.isLast) place = windowAfter(place.upTo ?? 0, width)
    else place = isCalm ? { ...place, page: place.page + 1 } : windowAfter(lastId ?? 0, width)
    coming = ask(place)
    // Should the caller stop before it is awaited, nobody is left to hear of its failure.
    coming.catch(() => undefined)
    yield* page.records
  }
}

/** Beyond the largest id there can be, a window needs no end. */
function windowAfter(after: number, width: number): Place {
  const upTo = after + width
  return { after, upTo: upTo < Number.MAX_SAFE_INTEGER ? upTo : undefined, page: 1 }
}

/** A high page number may take the service too long where it has just been started; by key it never does. */
function onlyWhereNeeded({ page }: Place) {
  return (error: unknown): undefined => {
    if (!(error instanceof QueryTooSlow) || page === 1) throw error
  }
}
