import { setTimeout as sleep } from 'node:timers/promises'
import type { AccountReads } from '../accounts/account-reads.ts'
import type { RateLimiter } from '../accounts/rate-limits/rate-limiter.ts'
import type { Access } from '../accounts/verifications.ts'
import { Failure, unauthenticated } from '../errors/errors.ts'
import type { Definitions } from '../fields/definitions.ts'
import type { Limits } from '../limits/passed-limits.ts'
import { type Caller, SharedReads } from '../lists/response-cache.ts'
import { failingOver } from '../postgres/sqlstate.ts'
import type { ChangesRow } from '../query/sql/changes-statement.ts'
import type { StateStatement } from '../sql.ts'
import { isOlder } from '../tally-state.ts'
import { type ChangesQuery, type Since, startName } from './changes-query.ts'
import type { WatchedState } from './check-statements.ts'
import { type FeedPage, readFeedPage } from './feed-page.ts'
import type { FeedSlot, FeedWaiters } from './waiters.ts'

/** A page, and the version of the account's own fields that its records have. */
export type WatchedPage = FeedPage & WatchedState

/** The client of a request: who it is, when it disconnects, and the state of the tally that its key verification read. */
export interface FeedClient {
  readonly access: Access
  readonly tally: WatchedState
  readonly caller: Caller
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

export interface ChangeFeedParts {
  readonly accountReads: AccountReads
  readonly definitions: Definitions
  readonly waiters: FeedWaiters
  readonly rateLimiter: RateLimiter
  readonly limits: Limits
}

/**
 * Reads pages of the change feed, and waits for changes. The rate limits count every page: those of a stream, too, which is one
 * request.
 */
export class ChangeFeed {
  readonly #accountReads: AccountReads
  readonly #definitions: Definitions
  readonly #waiters: FeedWaiters
  readonly #rateLimiter: RateLimiter
  readonly #limits: Limits
  readonly #reads = new SharedReads<WatchedPage>()

  constructor({ accountReads, definitions, waiters, rateLimiter, limits }: ChangeFeedParts) {
    this.#accountReads = accountReads
    this.#definitions = definitions
    this.#waiters = waiters
    this.#rateLimiter = rateLimiter
    this.#limits = limits
  }

  /** The page that begins at `since`. Clients that wait for the same changes share one read. */
  read(client: FeedClient, query: ChangesQuery, since: Since, tally: WatchedState): Promise<WatchedPage> {
    const { epoch, version, xid } = tally
    const { accountId } = client.access
    const key = `${accountId} ${query.hash} ${startName(query, since)} ${epoch} ${version} ${xid}`
    return this.#reads.join(
      key,
      (signal) => this.#readPage(client.access, query, since, tally, signal),
      client.caller,
    )
  }

  /** Waits up to `waitMs` for changes after an empty page. Then the result is empty, too. */
  async wait(client: FeedClient, query: ChangesQuery, empty: WatchedPage): Promise<WatchedPage> {
    const slot = await this.#waiters.enter(client.access, client.signal)
    try {
      return await this.#next(client, query, empty, slot, performance.now() + query.waitMs)
    } finally {
      slot.leave()
    }
  }

  /**
   * Yields pages until the client disconnects, the process shuts down, or the time is up; the first at once, later ones when
   * there are changes, and an empty one at every heartbeat.
   */
  async *stream(client: FeedClient, query: ChangesQuery): AsyncGenerator<FeedPage, void, undefined> {
    const { feedHeartbeatMs, feedStreamMsMax, feedUnverifiedMsMax } = this.#limits
    const endAt = performance.now() + feedStreamMsMax
    const slot = await this.#waiters.enter(client.access, client.signal)
    try {
      let page = await this.read(client, query, query.since, client.tally)
      while (slot.ended === undefined && !client.signal.aborted) {
        yield page
        // Not retained while the stream waits.
        page = withoutChanges(page)
        const now = performance.now()
        if (now >= endAt || now - slot.verifiedAt > feedUnverifiedMsMax) return
        page = page.more
          ? ((await this.#readIfPossible(client, query, page, page, now + feedHeartbeatMs)) ?? page)
          : await this.#next(client, query, page, slot, now + feedHeartbeatMs)
      }
    } finally {
      slot.leave()
    }
  }

  /** Waits until changes follow the page, or until the time; then the page is empty. With a filter its end may have moved. */
  async #next(
    client: FeedClient,
    query: ChangesQuery,
    previous: WatchedPage,
    slot: FeedSlot,
    until: number,
  ): Promise<WatchedPage> {
    let page = withoutChanges(previous)
    for (;;) {
      const left = until - performance.now()
      const state = await slot.changed(query.feed.resource, page, left, client.signal)
      if (slot.ended === 'key-invalid') throw unauthenticated()
      if (state === undefined) return page
      page = (await this.#readIfPossible(client, query, page, state, until)) ?? page
      if (page.count > 0 || page.more) return page
    }
  }

  /**
   * Undefined if the read failed for a reason that passes, or if a rate limit is exceeded until then: the client waits for the
   * next check, and loses nothing.
   */
  async #readIfPossible(
    client: FeedClient,
    query: ChangesQuery,
    page: WatchedPage,
    state: WatchedState,
    until: number,
  ): Promise<WatchedPage | undefined> {
    try {
      const { exceeded, secondsLeft } = this.#rateLimiter.take(client.access)
      if (exceeded !== undefined) {
        await this.#pause(Math.min(secondsLeft * 1000, until - performance.now()), client.signal)
        return undefined
      }
      return await this.read(client, query, page.end, state)
    } catch (error) {
      if (!(error instanceof Failure) || !passing.has(error.code)) throw error
      await this.#pause(this.#limits.feedCheckMs, client.signal)
      return undefined
    }
  }

  /** Ends early if the client disconnects. */
  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await sleep(Math.max(0, ms), undefined, { signal }).catch(() => {})
  }

  async #readPage(
    access: Access,
    query: ChangesQuery,
    since: Since,
    tally: WatchedState,
    signal: AbortSignal,
  ): Promise<WatchedPage> {
    const run = (statement: StateStatement) =>
      this.#accountReads.readChanges<ChangesRow>(access, statement, signal)
    const { resource } = query.plan
    let { schema } = tally
    for (;;) {
      const found = this.#definitions.of(access, resource, schema)
      const planned = query.planFor(found instanceof Promise ? await found : found)
      const page = await readFeedPage(run, access, planned, since)
      if (isOlder(page, tally)) throw failingOver()
      if (page.version === tally.version) return { ...page, schema }
      // A write was committed meanwhile. If it declared a field, the records of the page lack it, and would not be sent again.
      const current = await this.#definitions.current(access, resource)
      if (current.schema === schema) return { ...page, schema }
      schema = current.schema
    }
  }
}

const passing: ReadonlySet<string> = new Set([
  'account_busy',
  'overloaded',
  'database_unavailable',
  'deadline_exceeded',
])

function withoutChanges(page: WatchedPage): WatchedPage {
  return page.count === 0 ? page : { ...page, count: 0, changes: '' }
}
