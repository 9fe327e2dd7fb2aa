import type { ResourceName } from '../catalog/resources.ts'
import { Failure } from '../errors/errors.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { Database } from '../postgres/database.ts'
import { FairScheduler, type Seat, type SeatHolder } from '../scheduler/fair-scheduler.ts'
import { isOlder, type TallyState } from '../tally-state.ts'
import {
  changedTallies,
  checkKeys,
  type KeyOfAccount,
  type WatchedState,
  type WatchedTally,
} from './check-statements.ts'

/** Why a client no longer waits: the process shuts down or another account needs the slot; or its key is no longer valid. */
export type SlotEnd = 'stopped' | 'key-invalid'

/** A tally and the clients that wait for it to change. */
interface WatchedFeed extends WatchedTally {
  known: WatchedState
  readonly slots: Set<FeedSlot>
}

/**
 * The clients of this process that wait for changes. Their number does not matter to the database: one statement checks the
 * tallies of all of them every `feedCheckMs`. There are no notifications between processes, so none can be lost.
 */
export class FeedWaiters {
  readonly #database: Database
  readonly #limits: Limits
  readonly #scheduler: FairScheduler
  readonly #slots = new Set<FeedSlot>()
  readonly #feeds = new Map<string, WatchedFeed>()
  /** Clients to be woken, and the state that each has not seen. */
  readonly #toWake = new Map<FeedSlot, WatchedState>()
  #isWaking = false
  #timer: NodeJS.Timeout | undefined
  #keysCheckedAt = performance.now()
  #isClosed = false

  constructor(database: Database, limits: Limits) {
    this.#database = database
    this.#limits = limits
    this.#scheduler = new FairScheduler({
      seats: limits.feedWaitersMax,
      accountSeats: limits.accountFeedWaitersMax,
      waitingMax: 0,
      accountWaitingMax: 0,
      waitMsMax: 0,
      givesWay: 'largest',
      busy: () => feedLimit(limits.accountFeedWaitersMax),
    })
  }

  /** Long polls that wait, and streams. */
  get count(): number {
    return this.#slots.size
  }

  /** Takes a slot, which the caller must leave. */
  async enter(key: KeyOfAccount, signal: AbortSignal): Promise<FeedSlot> {
    const seat = await this.#scheduler.acquire(key, signal)
    const slot = new FeedSlot(key, this, seat, this.#isClosed ? 'stopped' : undefined)
    seat.holder = slot
    this.#slots.add(slot)
    this.#schedule()
    return slot
  }

  remove(slot: FeedSlot): void {
    this.#slots.delete(slot)
    this.#toWake.delete(slot)
  }

  /** Ends all waits, and lets no client wait any more. */
  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const slot of this.#slots) slot.end('stopped')
  }

  /** Watches the tally for this slot. If it is known to have changed, the slot is woken at once. */
  watch(slot: FeedSlot, resource: ResourceName, seen: WatchedState): () => void {
    const { accountId } = slot.key
    const name = `${accountId} ${resource}`
    let feed = this.#feeds.get(name)
    if (feed === undefined) {
      feed = { accountId, resource, known: seen, slots: new Set() }
      this.#feeds.set(name, feed)
    }
    feed.slots.add(slot)
    if (isOlder(seen, feed.known)) this.#wakeSoon(slot, feed.known)
    else if (isDifferent(seen, feed.known)) this.#update(feed, seen)
    return () => {
      feed.slots.delete(slot)
      this.#toWake.delete(slot)
      if (feed.slots.size === 0 && this.#feeds.get(name) === feed) this.#feeds.delete(name)
    }
  }

  /** A client that has read the new state wakes those that wait with an older one. */
  #update(feed: WatchedFeed, state: WatchedState): void {
    feed.known = state
    for (const slot of feed.slots) this.#wakeSoon(slot, state)
  }

  /** A few in each event-loop iteration: a write may wake hundreds, and other requests are served in between. */
  #wakeSoon(slot: FeedSlot, state: WatchedState): void {
    this.#toWake.set(slot, state)
    if (this.#isWaking) return
    this.#isWaking = true
    setImmediate(() => this.#wakeSome())
  }

  #wakeSome(): void {
    let left = this.#limits.feedWakeClients
    for (const [slot, state] of this.#toWake) {
      if (left-- === 0) break
      this.#toWake.delete(slot)
      slot.wake(state)
    }
    this.#isWaking = this.#toWake.size > 0
    if (this.#isWaking) setImmediate(() => this.#wakeSome())
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isClosed || this.#slots.size === 0) return
    this.#timer = setTimeout(() => {
      void this.#check().finally(() => {
        this.#timer = undefined
        this.#schedule()
      })
    }, this.#limits.feedCheckMs)
    this.#timer.unref()
  }

  /** If the database is unavailable, the next check finds what this one did not. */
  async #check(): Promise<void> {
    try {
      for (const feeds of batches([...this.#feeds.values()], this.#limits.feedCheckBatchMax)) {
        for (const [feed, state] of await changedTallies(this.#database, feeds)) this.#update(feed, state)
      }
      if (performance.now() - this.#keysCheckedAt >= this.#limits.feedKeyCheckMs) await this.#checkKeys()
    } catch {
      // Database reports failed statements itself.
    }
  }

  async #checkKeys(): Promise<void> {
    const startedAt = performance.now()
    const byKey = Map.groupBy([...this.#slots], ({ key }) => `${key.accountId} ${key.keyId}`)
    for (const groups of batches([...byKey.values()], this.#limits.feedCheckBatchMax)) {
      const keys = groups.flatMap((slots) => slots.slice(0, 1).map(({ key }) => ({ ...key, slots })))
      for (const { key, isValid } of await checkKeys(this.#database, keys)) {
        for (const slot of key.slots) {
          if (isValid) slot.verifiedAt = startedAt
          else slot.end('key-invalid')
        }
      }
    }
    this.#keysCheckedAt = startedAt
  }
}

/** One waiting client: a long poll while it waits, or a stream from its start to its end. */
export class FeedSlot implements SeatHolder {
  readonly key: KeyOfAccount
  /** When the key was last known to be valid, by `performance.now()`. */
  verifiedAt = performance.now()
  readonly #waiters: FeedWaiters
  readonly #seat: Seat
  #ended: SlotEnd | undefined
  /** While it waits: the state that the client has seen. */
  #seen: WatchedState | undefined
  #resolve: ((state: WatchedState | undefined) => void) | undefined

  constructor(key: KeyOfAccount, waiters: FeedWaiters, seat: Seat, ended: SlotEnd | undefined) {
    this.key = key
    this.#waiters = waiters
    this.#seat = seat
    this.#ended = ended
  }

  get ended(): SlotEnd | undefined {
    return this.#ended
  }

  /** Resolves with the new state when the tally has changed; undefined after `ms`, if the client disconnects, or at `end`. */
  async changed(
    resource: ResourceName,
    seen: WatchedState,
    ms: number,
    signal: AbortSignal,
  ): Promise<WatchedState | undefined> {
    if (this.#ended !== undefined || signal.aborted || ms <= 0) return undefined
    const stop = () => this.#resolve?.(undefined)
    const timeout = setTimeout(stop, ms)
    signal.addEventListener('abort', stop)
    let unwatch: (() => void) | undefined
    try {
      return await new Promise<WatchedState | undefined>((resolve) => {
        this.#seen = seen
        this.#resolve = resolve
        unwatch = this.#waiters.watch(this, resource, seen)
      })
    } finally {
      this.#resolve = undefined
      this.#seen = undefined
      clearTimeout(timeout)
      signal.removeEventListener('abort', stop)
      unwatch?.()
    }
  }

  /** Wakes the client if the state differs from the one that it has seen. */
  wake(state: WatchedState): void {
    if (this.#seen !== undefined && isDifferent(this.#seen, state)) this.#resolve?.(state)
  }

  end(reason: SlotEnd): void {
    this.#ended ??= reason
    this.#resolve?.(undefined)
  }

  /** Another account needs the slot. */
  abort(): void {
    this.end('stopped')
    this.leave()
  }

  leave(): void {
    this.#waiters.remove(this)
    this.#seat.release()
  }
}

/** The epoch does not matter: after a restart of the database without a write there is nothing new to read. */
function isDifferent(one: TallyState, other: TallyState): boolean {
  return one.version !== other.version || one.xid !== other.xid
}

function batches<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size)
  return Array.from({ length: count }, (_, i) => items.slice(i * size, (i + 1) * size))
}

function feedLimit(accountMax: number): Failure {
  return new Failure(
    'feed_limit',
    `This account has ${accountMax} clients that wait for changes, the maximum. Close some of them, or request changes without wait.`,
  )
}
