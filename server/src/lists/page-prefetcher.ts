import { LRUCache } from 'lru-cache'
import type { AccountReads } from '../accounts/account-reads.ts'
import type { Verified } from '../accounts/verifications.ts'
import { limits } from '../limits/limits.ts'
import { isSameState, type Tally, type TallyState } from '../tally-state.ts'
import type { ListReader } from './list-reader.ts'
import { type ListQuery, nextPageOf } from './plan-cache.ts'
import type { ReadResponse } from './response.ts'
import type { ResponseCache } from './response-cache.ts'
import type { Caller } from './shared-reads.ts'

/** The last page that a client has requested of a list. */
interface Position extends TallyState {
  readonly page: number
}

/**
 * If a client requests one long page after the other, reads the next page while the client receives this one. The response
 * is used like a cached one: only if the verification of the next request finds its state current.
 *
 * No prefetch delays a request: it starts only while the account has no read in flight and most connections are free. If
 * the data changed since the page before, there is none, because the next page would probably be outdated, too.
 */
export class PagePrefetcher {
  readonly #accountReads: AccountReads
  readonly #listReader: ListReader
  readonly #responseCache: ResponseCache
  readonly #positions = new LRUCache<string, Position>({ max: limits.prefetchPositions })

  constructor(accountReads: AccountReads, listReader: ListReader, responseCache: ResponseCache) {
    this.#accountReads = accountReads
    this.#listReader = listReader
    this.#responseCache = responseCache
  }

  /** Called before the response is sent. `connection`: the prefetch is aborted when it closes. */
  onPage(
    verified: Verified & { readonly tally: Tally },
    list: ListQuery,
    path: string,
    response: ReadResponse,
    connection: Caller,
  ): void {
    const { access, tally } = verified
    const isFull = response.records === list.plan.limit && response.records >= limits.prefetchRecordsMin
    if (!isFull || !isSameState(response, tally)) return
    const { epoch, version, xid } = response
    const key = `${access.accountId} ${access.keyId} ${list.listHash}`
    const last = this.#positions.get(key)
    this.#positions.set(key, { page: list.page, epoch, version, xid })
    if (last?.page !== list.page - 1 || !isSameState(last, response)) return
    if (!this.#accountReads.isIdleFor(access)) return
    const next = nextPageOf(list)
    this.#responseCache.prefetch(
      verified,
      next.requestHash,
      (signal) => this.#listReader.read(verified, next, path, signal),
      connection,
    )
  }
}
