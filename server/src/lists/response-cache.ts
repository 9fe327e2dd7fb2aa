import { LRUCache } from 'lru-cache'
import type { Verified } from '../accounts/verifications.ts'
import { limits } from '../limits/limits.ts'
import type { AccountScope } from '../scope.ts'
import { isSameState, type TallyState } from '../tally-state.ts'
import { AdmissionFilter } from './admission-filter.ts'
import type { ReadResponse } from './response.ts'
import { type Caller, SharedReads } from './shared-reads.ts'

/**
 * Responses by account and request, each with the state of the data that it shows. A cached response is used only if a
 * verification that was sent after the request arrived found this state current. So no response is stale, with any
 * number of processes, without invalidation messages.
 *
 * When the cache is full, it admits a response only on its second request: otherwise one client that pages through a
 * million records would evict what others request every minute.
 */
export class ResponseCache {
  readonly #cached = new LRUCache<string, ReadResponse>({
    maxSize: limits.responseCacheBytesMax,
    maxEntrySize: limits.cachedResponseBytesMax,
    sizeCalculation: sizeOf,
  })
  readonly #admission = new AdmissionFilter(limits.responseAdmissionSlots)
  readonly #reads = new SharedReads<ReadResponse>()

  /**
   * Returns the response at the verified state, or a newer one from `read`. Identical requests share one read, which is
   * aborted when all of their clients have disconnected.
   */
  get(
    verified: Verified & { readonly tally: TallyState },
    requestHash: string,
    read: (signal: AbortSignal) => Promise<ReadResponse>,
    caller: Caller,
  ): ReadResponse | Promise<ReadResponse> {
    const key = keyOf(verified.access, requestHash)
    const cached = this.#cached.get(key)
    if (cached !== undefined && isSameState(cached, verified.tally)) return cached
    return this.#reads.join(flightKeyOf(verified, key), (signal) => this.#add(key, read(signal)), caller)
  }

  /** Whether a response is cached, of whatever state. */
  has(scope: AccountScope, requestHash: string): boolean {
    return this.#cached.has(keyOf(scope, requestHash))
  }

  async #add(key: string, pending: Promise<ReadResponse>): Promise<ReadResponse> {
    const response = await pending
    if (this.#cached.has(key) || this.#fits(response, key) || this.#admission.add(key)) {
      this.#cached.set(key, response)
    }
    return response
  }

  #fits(response: ReadResponse, key: string): boolean {
    return this.#cached.calculatedSize + sizeOf(response, key) <= limits.responseCacheBytesMax
  }
}

function keyOf({ accountId }: AccountScope, requestHash: string): string {
  return `${accountId} ${requestHash}`
}

function flightKeyOf(
  { tally: { epoch, version, xid } }: Verified & { readonly tally: TallyState },
  key: string,
): string {
  return `${epoch} ${version} ${xid} ${key}`
}

/** Twice the body, because it may also be cached gzipped; 400 bytes for the entry itself. */
function sizeOf(response: ReadResponse, key: string): number {
  return response.bytes * 2 + key.length * 2 + 400
}
