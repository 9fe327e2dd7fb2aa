import type { AccountReads } from '../accounts/account-reads.ts'
import type { Verified } from '../accounts/verifications.ts'
import type { Resource } from '../catalog/resources.ts'
import { Failure, internalError } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { failingOver } from '../postgres/sqlstate.ts'
import type { RankedId } from '../query/sql/carry.ts'
import { totalStatement } from '../query/sql/first-count.ts'
import { type ListHints, type ListRow, listStatement } from '../query/sql/list-statement.ts'
import { namesRecords, refersToOwnField } from '../query/sql/where.ts'
import type { AccountScope } from '../scope.ts'
import { isOlder, isSameState, type Tally, type TallyState } from '../tally-state.ts'
import type { BackgroundCounts } from './background-counts.ts'
import {
  addEnd,
  addSortedEnd,
  type CachedList,
  carryTo,
  firstRecord,
  hintsAt,
  hintsToCarry,
  listKey,
  type PageCache,
  restHintsAt,
  restHintsToCarry,
  sortedEndAt,
} from './page-cache.ts'
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
      await this.#counts.wait(whole, signal)
    const rest = await this.#restOfList(verified, list, signal)
    if (rest !== undefined) return rest
    const key = listKey(access, plan.resource.schemaName, filterKey)
    const hasFilter = plan.where !== undefined
    // In a small account, evaluating a filter again is cheaper than planning it or caching its total.
    const isSmallAccount = hasFilter && tally.total <= limits.smallAccountRecordsMax
    const { entry: cached, isCurrent } =
      (isSmallAccount ? undefined : this.#pageCache.get(key, tally)) ?? notCached
    const skipped = (page - 1) * plan.limit
    const knownTotal = hasFilter ? (isCurrent ? cached?.total : undefined) : tally.total
    // A page beyond the last needs no scan.
    if (knownTotal !== undefined && skipped >= knownTotal) return [emptyRow(tally), knownTotal]
    const sortedKey = list.sortKey === undefined ? undefined : `${key} sort=${list.sortKey}`
    // Without a filter, only the page ends would be carried.
    const toCarry =
      cached && (hasFilter || sortedKey === undefined) ? hintsToCarry(cached, skipped, hasFilter) : undefined
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
    const unknown: ListHints = {
      isSmallAccount,
      isLargeAccount: hasFilter && tally.total > limits.filterSortRecordsMax,
    }
    const sorted = this.#sortedAt(sortedKey, tally)
    const sortedEnd = sorted && sortedEndAt(sorted, skipped)
    const numbers = { records: tally.total, ...(cached && { matches: cached.total }) }
    const known = { ...((isCurrent ? cached && hintsAt(cached, skipped) : toCarry) ?? unknown), ...numbers }
    let hints: ListHints = sortedEnd === undefined ? known : { ...known, sortedEnd }
    let row = await read(hints)
    // If a write was committed between the verification and the read, what is cached is outdated.
    if ((isCurrent || sortedEnd !== undefined) && !isSameState(row, tally)) {
      hints = { ...(toCarry ?? unknown), ...numbers }
      row = await read(hints)
    }
    if (isOlder(row, tally)) throw failingOver()
    const { gained, lost, between } = row
    const isCarried = cached !== undefined && gained != null && lost != null
    const isUnchanged = cached !== undefined && hints.total !== undefined
    const entry = isCarried
      ? carryTo(cached, { ...row, lineage: row.lineage ?? null }, gained, lost)
      : isUnchanged
        ? cached
        : entryOf(row)
    const total = hasFilter ? entry.total : Number(row.total)
    if (between != null) {
      this.#addRest(list, access, entryOf(row, Number(between)), Number(between), row)
    } else if (!isSmallAccount && (hasFilter || page * plan.limit > limits.pipelinedRecordsMax)) {
      // Near the start of an unfiltered list a cached page end saves nothing: the total is in the tally, and skipping is cheap.
      if (Number(row.count) === plan.limit && row.last_id !== null) {
        if (sortedKey === undefined) addEnd(entry, page * plan.limit, row.last_id)
        else this.#addSorted(sortedKey, row, row.last_id, page * plan.limit)
      }
      if (hasFilter || sortedKey === undefined) this.#pageCache.set(key, entry)
    }
    return [row, total]
  }

  #sortedAt(key: string | undefined, tally: Tally): CachedList | undefined {
    const entry = key === undefined ? undefined : this.#pageCache.sorted.get(key)
    return entry !== undefined && isSameState(entry, tally) ? entry : undefined
  }

  #addSorted(key: string, row: ListRow, lastId: string, rank: number): void {
    if (row.last_value == null) return
    const cached = this.#pageCache.sorted.get(key)
    const entry = cached !== undefined && isSameState(cached, row) ? cached : entryOf(row)
    addSortedEnd(entry, rank, lastId, row.last_value)
    this.#pageCache.sorted.set(key, entry)
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
      const isLate = error instanceof Failure && error.code === 'deadline_exceeded'
      if (!isLate || whole === undefined || !(isCounted || hints.carry !== undefined)) throw error
      const key = listKey(access, resource.schemaName, wholeKey)
      throw this.#counts.begin(access, key, async () => {
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

function emptyRow({ epoch, version, xid }: Tally): ListRow {
  return { epoch, version, xid, total: null, count: '0', records: '', last_id: null }
}

/** Whether the statement may count millions of matches. */
function countsMany({ isLargeAccount, total, carry, restFrom }: ListHints): boolean {
  return isLargeAccount === true && total === undefined && carry === undefined && restFrom === undefined
}

const notCached = { entry: undefined, isCurrent: false }

/** `before`: matches before those of the row. */
function entryOf({ epoch, version, xid, lineage = null, total }: TotalRow, before = 0): CachedList {
  return { epoch, version, xid, lineage, total: Number(total) + before, ends: [] }
}
