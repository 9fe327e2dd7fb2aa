import type { AccountReads } from '../accounts/account-reads.ts'
import type { Verified } from '../accounts/key-verifier.ts'
import { Failure } from '../errors.ts'
import { limits } from '../limits.ts'
import { failingOver } from '../postgres/sqlstate.ts'
import { type ListHints, type ListRow, listStatement } from '../query/sql/list-statement.ts'
import { isOlder, isSameState, type Tally } from '../tally-state.ts'
import { linkHeader, listBody, pageNumbers } from './envelope.ts'
import { listKey, type PageCache } from './page-cache.ts'
import type { ListQuery } from './plan-cache.ts'
import { etagOf, type ReadResponse, responseOf } from './response.ts'

/** Reads one page of a list, by the access path that what is cached of the list allows. */
export class ListReader {
  readonly #accountReads: AccountReads
  readonly #pageCache: PageCache

  constructor(accountReads: AccountReads, pageCache: PageCache) {
    this.#accountReads = accountReads
    this.#pageCache = pageCache
  }

  /** `path`: of the resource, for `Link`. */
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
    // In a small account, evaluating a filter anew is cheaper than planning for it or caching its total.
    const isSmallAccount = plan.where !== undefined && tally.total <= limits.smallAccountRecordsMax
    const known: ListHints = isSmallAccount
      ? { isSmallAccount }
      : this.#pageCache.get(key, tally, plan.limit, page)
    // A page beyond the last needs no scan.
    const knownTotal = plan.where === undefined ? tally.total : known.total
    if (knownTotal !== undefined && (page - 1) * plan.limit >= knownTotal) {
      return [{ ...tally, total: null, count: '0', records: '', last_id: null }, knownTotal]
    }
    const read = (from?: ListHints) =>
      this.#accountReads.read<ListRow>(access, listStatement(access, plan, page, from), signal)
    let [row] = await read(known)
    // If somebody wrote between the check and the read, the cached total is of another version: count again.
    if (row !== undefined && !isSameState(row, tally) && known.total !== undefined) [row] = await read()
    if (row === undefined)
      throw new Failure('internal', 'Something went wrong on our side. It has been logged.')
    if (isOlder(row, tally)) throw failingOver()
    const total = Number(row.total ?? known.total)
    // Near the start of an unfiltered list a cached page end saves nothing: the tally has the total, and few ids are skipped.
    if (!isSmallAccount && (plan.where !== undefined || page * plan.limit > limits.pipelinedRecordsMax)) {
      const lastId = Number(row.count) === plan.limit ? (row.last_id ?? undefined) : undefined
      this.#pageCache.set(key, row, { total, limit: plan.limit, page, lastId })
    }
    return [row, total]
  }
}
