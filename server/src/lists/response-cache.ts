import { LRUCache } from 'lru-cache'
import type { Verified } from '../accounts/verifications.ts'
import { limits } from '../limits/limits.ts'
import type { AccountScope } from '../scope.ts'
import { isSameState, type TallyState } from '../tally-state.ts'
import type { ReadResponse } from './response.ts'

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

/** A read in flight, and the number of requests that wait for it. */
interface Flight<Result> {
  readonly key: string
  readonly abort: AbortController
  readonly result: Promise<Result>
  waiting: number
}

/** The client that waits for a response: in production, Node's ServerResponse. */
export interface Caller {
  readonly destroyed: boolean
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

/** Requests with the same key share one read, which is aborted when all of their clients have disconnected. */
export class SharedReads<Result> {
  readonly #inFlight = new Map<string, Flight<Result>>()

  join(key: string, read: (signal: AbortSignal) => Promise<Result>, caller: Caller): Promise<Result> {
    return this.#wait(this.#inFlight.get(key) ?? this.#begin(key, read), caller)
  }

  #begin(key: string, read: (signal: AbortSignal) => Promise<Result>): Flight<Result> {
    const abort = new AbortController()
    const flight: Flight<Result> = { key, abort, result: read(abort.signal), waiting: 0 }
    this.#inFlight.set(key, flight)
    const end = () => this.#end(flight)
    flight.result.then(end, end)
    return flight
  }

  async #wait(flight: Flight<Result>, caller: Caller): Promise<Result> {
    const leave = () => {
      flight.waiting--
      if (flight.waiting > 0) return
      // Remove the read first, so that no later request joins a read that is being aborted.
      this.#end(flight)
      flight.abort.abort()
    }
    flight.waiting++
    if (caller.destroyed) leave()
    else caller.once('close', leave)
    try {
      return await flight.result
    } finally {
      caller.off('close', leave)
    }
  }

  #end(flight: Flight<Result>): void {
    if (this.#inFlight.get(flight.key) === flight) this.#inFlight.delete(flight.key)
  }
}

/** Approximate set of recently seen keys in constant memory: a later key can overwrite an earlier one, and keys can collide. */
export class AdmissionFilter {
  readonly #hashes: Uint32Array

  constructor(slots: number) {
    this.#hashes = new Uint32Array(slots)
  }

  /** Adds the key. Returns whether it was already in the set. */
  add(key: string): boolean {
    const hash = fnv1a(key)
    const slot = hash % this.#hashes.length
    const wasSeen = this.#hashes[slot] === hash
    this.#hashes[slot] = hash
    return wasSeen
  }
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
