import type { AccountReads } from '../accounts/account-reads.ts'
import type { Verified } from '../accounts/verifications.ts'
import type { Resource } from '../catalog/resources.ts'
import { internalError } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { failingOver } from '../postgres/sqlstate.ts'
import type { ListHints } from '../query/sql/access-path.ts'
import type { RankedId } from '../query/sql/carry.ts'
import { totalStatement } from '../query/sql/first-count.ts'
import { type ListRow, listStatement } from '../query/sql/list-statement.ts'
import { namesRecords, refersToOwnField } from '../query/sql/where.ts'
import type { AccountScope } from '../scope.ts'
import { isOlder, isSameState, type Tally, type TallyState } from '../tally-state.ts'
import { type BackgroundCounts, isLate } from './background-counts.ts'
import {
  addEnd,
  addSortedEnd,
  type CachedList,
  carryTo,
  firstRecord,
  listKey,
  PageCache,
  restHintsAt,
  restHintsToCarry,
} from './page-cache.ts'
import { entryAt, isAnswered, listAt, type PageSource, pageSources } from './page-source.ts'
import type { ListQuery } from './plan-cache.ts'
import { etagOf, linkHeader, listBody, pageNumbers, type ReadResponse, responseOf } from './response.ts'

/** The tables of values of declared fields. */
export interface ValueTables {
  /** Undefined if the table of a resource with this number of records has no answers. */
  of(scope: AccountScope, resource: Resource, records: number): ListHints['values']
  /** The number of outdated values that a filter has found; null: the table has no answers. */
  found(scope: AccountScope, resource: Resource, stale: number | null): void
}

/** Reads one page of a list. The cached total and page ends of the list determine the access path. */
export class ListReader {
  readonly #accountReads: AccountReads
  readonly #pageCache: PageCache
  /** By list and order: the page ends, with the total of the list. */
  readonly #sortedCache = new PageCache(limits.sortedListsCached)
  readonly #valueTables: ValueTables
  readonly #counts: BackgroundCounts

  constructor(
    accountReads: AccountReads,
    pageCache: PageCache,
    valueTables: ValueTables,
    counts: BackgroundCounts,
  ) {
    this.#accountReads = accountReads
    this.#pageCache = pageCache
    this.#valueTables = valueTables
    this.#counts = counts
  }

  /** `path`: the path of the resource, for the `Link` header. */
  async read(
    verified: Verified & { readonly tally: Tally },
    list: ListQuery,
    path: string,
    signal: AbortSignal,
  ): Promise<ReadResponse> {
    const { plan, page } = list
    const [row, total] = await this.#rowAndTotal(verified, list, signal)
    const pages = pageNumbers(page, plan.limit, total)
    const link = linkHeader(path, list.pageQuery, pages)
    return responseOf(
      row,
      etagOf(row, list.requestHash),
      listBody(row.records, row.count, total, pages),
      link.length <= limits.linkBytesMax ? link : undefined,
      Number(row.count),
    )
  }

  /** The page and the total, from one snapshot. */
  async #rowAndTotal(
    verified: Verified & { readonly tally: Tally },
    list: ListQuery,
    signal: AbortSignal,
  ): Promise<[ListRow, number]> {
    const { access, tally } = verified
    const { plan, page, filterKey } = list
    const whole = listKey(access, plan.resource.schemaName, list.wholeKey)
    if (this.#counts.isRunning(whole) && this.#pageCache.get(whole, tally)?.isCurrent !== true)
      await this.#counts.wait(whole, 'total', signal)
    const rest = await this.#restOfList(verified, list, signal)
    if (rest !== undefined) return rest
    const key = listKey(access, plan.resource.schemaName, filterKey)
    const hasFilter = plan.where !== undefined
    // In a small account, evaluating a filter again is cheaper than planning it or caching its total.
    const isSmallAccount = hasFilter && tally.total <= limits.smallAccountRecordsMax
    const listed = isSmallAccount ? undefined : this.#pageCache.get(key, tally)
    const sortedKey = list.sortKey === undefined ? undefined : `${key} sort=${list.sortKey}`
    const sorted = sortedKey === undefined ? null : this.#sortedCache.get(sortedKey, tally)
    const skipped = (page - 1) * plan.limit
    const sources = pageSources(listed, isSmallAccount ? undefined : sorted, skipped, hasFilter, {
      isSmallAccount,
      isLargeAccount: hasFilter && tally.total > limits.filterSortRecordsMax,
    })
    const knownTotal = hasFilter ? sources.find((one) => one.isCurrent)?.entry?.total : tally.total
    // A page beyond the last needs no scan.
    if (knownTotal !== undefined && skipped >= knownTotal) return [emptyRow(tally), knownTotal]
    const values =
      plan.where !== undefined && refersToOwnField(plan.where)
        ? this.#valueTables.of(access, plan.resource, tally.total)
        : undefined
    const send = (hints: ListHints) => this.#send(verified, list, hints, signal)
    const read = async (hints: ListHints) => {
      if (values === undefined) return await send(hints)
      const row = await send({ ...hints, values })
      if (row.answered === undefined) return row
      const { stale_values: stale = null } = row
      this.#valueTables.found(access, plan.resource, stale === null ? null : Number(stale))
      return row.answered === 't' ? row : await send(hints)
    }
    const readFrom = async ({ hints, entry: known }: PageSource) =>
      await read({ ...hints, records: tally.total, ...(known && { matches: known.total }) })
    const [source, row] = await firstAnswer(sources, readFrom, tally)
    if (isOlder(row, tally)) throw failingOver()
    const derived = entryAt(source, row)
    const entry = derived ?? entryOf(row)
    const total = hasFilter ? entry.total : Number(row.total)
    const { between } = row
    if (between != null) {
      this.#addRest(list, access, entryOf(row, Number(between)), Number(between), row)
    } else if (!isSmallAccount && (hasFilter || page * plan.limit > limits.pipelinedRecordsMax)) {
      // Near the start of an unfiltered list a cached page end saves nothing: the total is in the tally, and skipping is cheap.
      const rank = Number(row.count) === plan.limit ? page * plan.limit : undefined
      if (sortedKey === undefined) {
        if (rank !== undefined && row.last_id !== null) addEnd(entry, rank, row.last_id)
        this.#pageCache.set(key, entry)
      } else {
        const order = source.isSorted === true ? derived : undefined
        const ofList = order && source.entry ? listAt(listed, source.entry, order, row) : entry
        if (hasFilter && ofList !== undefined) this.#pageCache.set(key, ofList)
        // Page ends of an earlier version stay, because a page near the start does not carry them.
        const isKept = !hasFilter && source.hints.carry === undefined
        this.#cacheOrder(sortedKey, order ?? { ...entry, ends: [] }, isKept, row, rank)
      }
    }
    return [row, total]
  }

  /** `rank`: of the last record, if the page is full. */
  #cacheOrder(key: string, order: CachedList, isKept: boolean, row: ListRow, rank: number | undefined): void {
    const cached = this.#sortedCache.get(key, row)
    const entry = cached?.isCurrent === true ? cached.entry : order
    if (isKept && cached !== undefined && cached.entry !== entry && cached.entry.lineage !== null) return
    if (rank !== undefined && row.last_id !== null && row.last_value != null)
      addSortedEnd(entry, rank, row.last_id, row.last_value)
    if (entry.ends.length > 0) this.#sortedCache.set(key, entry)
  }

  /**
   * With `after_id`, from what is cached of the whole list. Undefined if that is unknown, or if the matches are so few that all of them
   * are found for each page.
   */
  async #restOfList(
    verified: Verified & { readonly tally: Tally },
    list: ListQuery,
    signal: AbortSignal,
  ): Promise<[ListRow, number] | undefined> {
    const { access, tally } = verified
    const { plan, wholeKey } = list
    if (plan.after === undefined || tally.total <= limits.filterSortRecordsMax) return undefined
    const hasFilter = plan.after.where !== undefined
    const found = this.#pageCache.get(listKey(access, plan.resource.schemaName, wholeKey), tally)
    if (hasFilter && (found === undefined || found.entry.total <= limits.filterSortRecordsMax))
      return undefined
    const afterId = Number(plan.after.id)
    const toCarry = found && restHintsToCarry(found.entry, afterId)
    // Without a filter, the total is in the tally.
    const fromStart = hasFilter ? undefined : { restFrom: firstRecord }
    const current = found?.isCurrent === true ? restHintsAt(found.entry, afterId) : undefined
    let hints: RestHints | undefined = current ?? toCarry ?? fromStart
    if (hints === undefined) return undefined
    let row = await this.#send(verified, list, hints, signal)
    if (hints === current && !isSameState(row, tally)) {
      hints = toCarry ?? fromStart
      if (hints === undefined) return undefined
      row = await this.#send(verified, list, hints, signal)
    }
    if (isOlder(row, tally)) throw failingOver()
    const { gained, lost } = row
    const isCarried = found !== undefined && hints.carry !== undefined && gained != null && lost != null
    const entry = isCarried
      ? carryTo(found.entry, { ...row, lineage: row.lineage ?? null }, gained, lost)
      : found !== undefined && hints === current
        ? found.entry
        : entryOf(row)
    const start = hints.carry === undefined ? hints.restFrom.rank : Number(row.start_rank)
    const before = start + Number(row.between)
    this.#addRest(list, access, entry, before, row)
    return [row, (hasFilter ? entry.total : Number(row.total)) - before]
  }

  /** Adds the ends of the page before `after_id`, and of this page, to the whole list. */
  #addRest(
    { plan, page, wholeKey }: ListQuery,
    access: AccountScope,
    entry: CachedList,
    before: number,
    row: ListRow,
  ): void {
    if (plan.after === undefined) return
    if (before > 0) addEnd(entry, before, plan.after.id)
    if (Number(row.count) === plan.limit && row.last_id !== null)
      addEnd(entry, before + page * plan.limit, row.last_id)
    this.#pageCache.set(listKey(access, plan.resource.schemaName, wholeKey), entry)
  }

  async #send(
    { access, tally }: Verified & { readonly tally: Tally },
    { plan, page, templates, wholeKey }: ListQuery,
    hints: ListHints,
    signal: AbortSignal,
  ): Promise<ListRow> {
    const { resource, where, after } = plan
    const statement = listStatement(access, plan, page, hints, templates)
    const at = { resource: resource.name, tally }
    const isCounted = where !== undefined && !namesRecords(where) && countsMany(hints)
    try {
      return onlyRow(
        await this.#accountReads.readAt<ListRow>(access, statement, at, signal, isCounted ? 'count' : 'page'),
      )
    } catch (error) {
      const whole = after === undefined ? where : after.where
      // The ends of a sorted list are carried without counting.
      const mayCount = isCounted || (hints.carry !== undefined && hints.sortedEnds === undefined)
      if (!isLate(error) || whole === undefined || !mayCount) throw error
      const key = listKey(access, resource.schemaName, wholeKey)
      throw this.#counts.begin(access, key, 'total', async () => {
        const counted = totalStatement(access, resource, whole)
        const row = onlyRow(await this.#accountReads.countLong<TotalRow>(access, counted))
        this.#pageCache.set(key, entryOf(row))
      })
    }
  }
}

type RestHints = ListHints & { readonly restFrom: RankedId }
type TotalRow = Pick<ListRow, keyof TallyState | 'lineage' | 'total'>

function onlyRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw internalError()
  return row
}

/** The last source always has an answer. */
async function firstAnswer(
  sources: readonly PageSource[],
  read: (source: PageSource) => Promise<ListRow>,
  tally: Tally,
): Promise<[PageSource, ListRow]> {
  for (const source of sources) {
    const row = await read(source)
    if (isAnswered(source, row, tally)) return [source, row]
  }
  throw internalError()
}

function emptyRow({ epoch, version, xid }: Tally): ListRow {
  return { epoch, version, xid, total: null, count: '0', records: '', last_id: null }
}

/** Whether the statement may count millions of matches. */
function countsMany({ isLargeAccount, total, carry, restFrom }: ListHints): boolean {
  return isLargeAccount === true && total === undefined && carry === undefined && restFrom === undefined
}

/** `before`: matches before those of the row. */
function entryOf({ epoch, version, xid, lineage = null, total }: TotalRow, before = 0): CachedList {
  return { epoch, version, xid, lineage, total: Number(total) + before, ends: [] }
}
