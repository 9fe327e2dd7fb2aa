import type { AccountReads } from '../accounts/account-reads.ts'
import type { Verified } from '../accounts/verifications.ts'
import { internalError } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { failingOver } from '../postgres/sqlstate.ts'
import { type ListHints, type ListRow, listStatement } from '../query/sql/list-statement.ts'
import type { Statement } from '../sql.ts'
import { isAtLeast, isOlder, isSameState, type Tally } from '../tally-state.ts'
import { linkHeader, listBody, pageNumbers } from './envelope.ts'
import {
  addEnd,
  type CachedList,
  carryTo,
  hintsAt,
  hintsToCarry,
  listKey,
  type PageCache,
} from './page-cache.ts'
import type { ListQuery } from './plan-cache.ts'
import { etagOf, type ReadResponse, responseOf } from './response.ts'

/** A statement that was sent before the key was verified. */
export interface ListAhead {
  readonly statement: Statement
  readonly rows: Promise<ListRow[]>
}

/** Reads one page of a list. The cached total and page ends of the list determine the access path. */
export class ListReader {
  readonly #accountReads: AccountReads
  readonly #pageCache: PageCache

  constructor(accountReads: AccountReads, pageCache: PageCache) {
    this.#accountReads = accountReads
    this.#pageCache = pageCache
  }

  /**
   * Sends the statement that `read` will need if nothing changes, before the key is verified. Only a pipelined statement, which
   * takes so little time that it may be in vain; and none with a filter: how long that takes follows from the number of records,
   * which may have grown since the tally was read.
   */
  ahead({ access, tally }: Verified, list: ListQuery): ListAhead | undefined {
    if (tally === undefined || list.plan.where !== undefined) return undefined
    const { emptyTotal, hints } = this.#prepare({ access, tally }, list)
    if (emptyTotal !== undefined) return undefined
    const statement = listStatement(access, list.plan, list.page, hints)
    if (statement.execution !== 'pipelined') return undefined
    const rows = this.#accountReads.read<ListRow>(access, statement, neverAborted)
    // Reported by `read`, if it needs the rows.
    rows.catch(() => {})
    return { statement, rows }
  }

  /** `path`: the path of the resource, for the `Link` header. */
  async read(
    verified: Verified & { readonly tally: Tally },
    list: ListQuery,
    path: string,
    signal: AbortSignal,
    ahead?: ListAhead,
  ): Promise<ReadResponse> {
    const { plan, page } = list
    const [row, total] = await this.#rowAndTotal(verified, list, signal, ahead)
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

  /** What is cached of the list, and the access path that follows from it. */
  #prepare(
    { access, tally }: Verified & { readonly tally: Tally },
    { plan, page, filterKey }: ListQuery,
  ): Prepared {
    const key = listKey(access, plan.resource.name, filterKey)
    const hasFilter = plan.where !== undefined
    // In a small account, evaluating a filter again is cheaper than planning it or caching its total.
    const isSmallAccount = hasFilter && tally.total <= limits.smallAccountRecordsMax
    const { entry: cached, isCurrent } =
      (isSmallAccount ? undefined : this.#pageCache.get(key, tally)) ?? notCached
    const skipped = (page - 1) * plan.limit
    const knownTotal = hasFilter ? (isCurrent ? cached?.total : undefined) : tally.total
    const toCarry = cached && hintsToCarry(cached, skipped, hasFilter)
    const hints = (isCurrent ? cached && hintsAt(cached, skipped) : toCarry) ?? { isSmallAccount }
    const emptyTotal = knownTotal !== undefined && skipped >= knownTotal ? knownTotal : undefined
    return { key, hasFilter, isSmallAccount, cached, isCurrent, emptyTotal, toCarry, hints }
  }

  /** The page and the total, from one snapshot. */
  async #rowAndTotal(
    verified: Verified & { readonly tally: Tally },
    list: ListQuery,
    signal: AbortSignal,
    ahead: ListAhead | undefined,
  ): Promise<[ListRow, number]> {
    const { access, tally } = verified
    const { plan, page } = list
    const prepared = this.#prepare(verified, list)
    const { key, hasFilter, isSmallAccount, cached, isCurrent, emptyTotal, toCarry } = prepared
    let { hints } = prepared
    // A page beyond the last needs no scan.
    if (emptyTotal !== undefined)
      return [{ ...tally, total: null, count: '0', records: '', last_id: null }, emptyTotal]
    const read = async (sent?: ListAhead) => {
      const statement = listStatement(access, plan, page, hints)
      const early = sent !== undefined && isSame(sent.statement, statement) ? await sent.rows : []
      // Otherwise it was read before the verification, or from another server.
      if (early[0] !== undefined && isAtLeast(early[0], tally)) return early[0]
      const at = { resource: plan.resource.name, tally }
      const [row] = await this.#accountReads.readAt<ListRow>(access, statement, at, signal)
      if (row === undefined) throw internalError()
      return row
    }
    let row = await read(ahead)
    // If a write was committed between the verification and the read, the cached total is outdated.
    if (isCurrent && !isSameState(row, tally)) {
      hints = toCarry ?? {}
      row = await read()
    }
    if (isOlder(row, tally)) throw failingOver()
    const { gained, lost } = row
    const isCarried = cached !== undefined && gained != null && lost != null
    const isUnchanged = cached !== undefined && hints.total !== undefined
    const entry = isCarried
      ? carryTo(cached, { ...row, lineage: row.lineage ?? null }, gained, lost)
      : isUnchanged
        ? cached
        : entryOf(row)
    const total = hasFilter ? entry.total : Number(row.total)
    // Near the start of an unfiltered list a cached page end saves nothing: the total is in the tally, and skipping is cheap.
    if (!isSmallAccount && (hasFilter || page * plan.limit > limits.pipelinedRecordsMax)) {
      if (Number(row.count) === plan.limit && row.last_id !== null)
        addEnd(entry, page * plan.limit, row.last_id)
      this.#pageCache.set(key, entry)
    }
    return [row, total]
  }
}

interface Prepared {
  readonly key: string
  readonly hasFilter: boolean
  readonly isSmallAccount: boolean
  readonly cached: CachedList | undefined
  readonly isCurrent: boolean
  /** The total, if the page is known to be beyond the last. */
  readonly emptyTotal: number | undefined
  readonly toCarry: ListHints | undefined
  readonly hints: ListHints
}

function isSame(one: Statement, other: Statement): boolean {
  return one.text === other.text && one.values.every((value, i) => value === other.values[i])
}

const neverAborted = new AbortController().signal
const notCached = { entry: undefined, isCurrent: false }

function entryOf({ epoch, version, xid, lineage = null, total }: ListRow): CachedList {
  return { epoch, version, xid, lineage, total: Number(total), ends: [] }
}
