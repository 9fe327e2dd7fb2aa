import type { AccountReads } from '../accounts/account-reads.ts'
import type { Verified } from '../accounts/key-verifier.ts'
import { internalError } from '../errors.ts'
import { limits } from '../limits.ts'
import { failingOver } from '../postgres/sqlstate.ts'
import { type ListHints, type ListRow, listStatement } from '../query/sql/list-statement.ts'
import { isOlder, isSameState, type Tally } from '../tally-state.ts'
import { linkHeader, listBody, pageNumbers } from './envelope.ts'
import { listKey, type PageCache } from './page-cache.ts'
import type { ListQuery } from './plan-cache.ts'
import { etagOf, type ReadResponse, responseOf } from './response.ts'

/** Reads one page of a list. The cached total and page ends of the list determine the access path. */
export class ListReader {
  readonly #accountReads: AccountReads
  readonly #pageCache: PageCache

  constructor(accountReads: AccountReads, pageCache: PageCache) {
    this.#accountReads = accountReads
    this.#pageCache = pageCache
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
    { access, tally }: Verified & { readonly tally: Tally },
    { plan, page, filterKey }: ListQuery,
    signal: AbortSignal,
  ): Promise<[ListRow, number]> {
    const key = listKey(access, plan.resource.name, filterKey)
    // In a small account, evaluating a filter again is cheaper than planning it or caching its total.
    const isSmallAccount = plan.where !== undefined && tally.total <= limits.smallAccountRecordsMax
    const hints: ListHints = isSmallAccount
      ? { isSmallAccount }
      : this.#pageCache.get(key, tally, plan.limit, page)
    // A page beyond the last needs no scan.
    const knownTotal = plan.where === undefined ? tally.total : hints.total
    if (knownTotal !== undefined && (page - 1) * plan.limit >= knownTotal) {
      return [{ ...tally, total: null, count: '0', records: '', last_id: null }, knownTotal]
    }
    const read = (passed?: ListHints) =>
      this.#accountReads.read<ListRow>(access, listStatement(access, plan, page, passed), signal)
    let [row] = await read(hints)
    // If a write was committed between the verification and the read, the cached total is outdated: count again.
    if (row !== undefined && !isSameState(row, tally) && hints.total !== undefined) [row] = await read()
    if (row === undefined) throw internalError()
    if (isOlder(row, tally)) throw failingOver()
    const total = Number(row.total ?? hints.total)
    // Near the start of an unfiltered list a cached page end saves nothing: the total is in the tally, and skipping is cheap.
    if (!isSmallAccount && (plan.where !== undefined || page * plan.limit > limits.pipelinedRecordsMax)) {
      const lastId = Number(row.count) === plan.limit ? (row.last_id ?? undefined) : undefined
      this.#pageCache.set(key, row, { total, limit: plan.limit, page, lastId })
    }
    return [row, total]
  }
}
