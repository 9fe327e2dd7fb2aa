import type { AccountReads } from '../accounts/account-reads.ts'
import type { Verified } from '../accounts/verifications.ts'
import type { Resource } from '../catalog/resources.ts'
import { internalError } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { failingOver } from '../postgres/sqlstate.ts'
import { type ListHints, type ListRow, listStatement } from '../query/sql/list-statement.ts'
import { refersToOwnField } from '../query/sql/where.ts'
import type { AccountScope } from '../scope.ts'
import { isOlder, isSameState, type Tally } from '../tally-state.ts'
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

  constructor(accountReads: AccountReads, pageCache: PageCache, valueTables: ValueTables) {
    this.#accountReads = accountReads
    this.#pageCache = pageCache
    this.#valueTables = valueTables
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
    const { plan, templates, page, filterKey } = list
    const key = listKey(access, plan.resource.schemaName, filterKey)
    const hasFilter = plan.where !== undefined
    // In a small account, evaluating a filter again is cheaper than planning it or caching its total.
    const isSmallAccount = hasFilter && tally.total <= limits.smallAccountRecordsMax
    const { entry: cached, isCurrent } =
      (isSmallAccount ? undefined : this.#pageCache.get(key, tally)) ?? notCached
    const skipped = (page - 1) * plan.limit
    const knownTotal = hasFilter ? (isCurrent ? cached?.total : undefined) : tally.total
    // A page beyond the last needs no scan.
    if (knownTotal !== undefined && skipped >= knownTotal)
      return [{ ...tally, total: null, count: '0', records: '', last_id: null }, knownTotal]
    const toCarry = cached && hintsToCarry(cached, skipped, hasFilter)
    const send = async (hints: ListHints) => {
      const statement = listStatement(access, plan, page, hints, templates)
      const at = { resource: plan.resource.name, tally }
      const [row] = await this.#accountReads.readAt<ListRow>(access, statement, at, signal)
      if (row === undefined) throw internalError()
      return row
    }
    const values =
      plan.where !== undefined && refersToOwnField(plan.where)
        ? this.#valueTables.of(access, plan.resource, tally.total)
        : undefined
    const read = async (hints: ListHints) => {
      if (values === undefined) return await send(hints)
      const row = await send({ ...hints, values })
      if (row.answered === undefined) return row
      const { stale_values: stale = null } = row
      this.#valueTables.found(access, plan.resource, stale === null ? null : Number(stale))
      return row.answered === 't' ? row : await send(hints)
    }
    let hints = (isCurrent ? cached && hintsAt(cached, skipped) : toCarry) ?? { isSmallAccount }
    let row = await read(hints)
    // If a write was committed between the verification and the read, the cached total is outdated.
    if (isCurrent && !isSameState(row, tally)) {
      hints = toCarry ?? {}
      row = await read(hints)
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

const notCached = { entry: undefined, isCurrent: false }

function entryOf({ epoch, version, xid, lineage = null, total }: ListRow): CachedList {
  return { epoch, version, xid, lineage, total: Number(total), ends: [] }
}
