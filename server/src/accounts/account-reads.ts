import { clientDisconnected, Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { Database } from '../postgres/database.ts'
import type { ReadOptions } from '../postgres/pooled-reads.ts'
import type { Replicas, VerifiedState } from '../postgres/replicas/replicas.ts'
import type { PlainRow, StateRow } from '../postgres/text-rows.ts'
import { FairScheduler, type Rejection, type Seat } from '../scheduler/fair-scheduler.ts'
import type { AccountScope } from '../scope.ts'
import type { Statement, StateStatement } from '../sql.ts'
import type { TallyState } from '../tally-state.ts'

/** A read that may count millions of matches, or one that only reads a page. Counts never take all seats. */
export type ReadKind = 'count' | 'page'

export interface AccountReadsOptions {
  /** Connections of the pool for reads, for each server. */
  readonly connectionsMax: number
  /** Long reads of one account that run at once. */
  readonly accountMax: number
  readonly limits: Limits
}

/**
 * Runs reads through the scheduler, so that one account can use neither all connections nor all processors of the database.
 * Pipelined statements take milliseconds and are not limited, except those of the change feed: one client causes any number.
 */
export class AccountReads {
  readonly #database: Database
  readonly #replicas: Replicas | undefined
  readonly #long: Readonly<Record<ReadKind, FairScheduler>>
  readonly #feed: FairScheduler

  constructor(database: Database, options: AccountReadsOptions, replicas?: Replicas) {
    const { connectionsMax, accountMax, limits: injected } = options
    this.#database = database
    this.#replicas = replicas
    const connections = () => connectionsMax * (database.servers + (replicas?.counts.available ?? 0))
    const schedulerOf = (seats: () => number) =>
      new FairScheduler({
        seats,
        accountSeats: accountMax,
        waitingMax: limits.readsWaitingMax,
        accountWaitingMax: limits.accountReadsWaitingMax,
        waitMsMax: injected.readWaitMsMax,
        busy: (rejection) => accountBusy(accountMax, injected.readWaitMsMax, rejection),
      })
    // Together they have no more seats than connections. Counts leave some of them to pages, even if there are no pages.
    const forCounts = () => Math.max(1, Math.floor(connections() * limits.countConnectionsShare))
    const count: FairScheduler = schedulerOf(() => Math.min(forCounts(), connections() - page.running))
    const page: FairScheduler = schedulerOf(() => connections() - count.running)
    this.#long = { count, page }
    this.#feed = new FairScheduler({
      seats: injected.feedPagesInFlightMax,
      accountSeats: injected.accountFeedPagesMax,
      waitingMax: injected.feedWaitersMax,
      accountWaitingMax: injected.accountFeedWaitersMax,
      waitMsMax: injected.readWaitMsMax,
      busy: () => feedBusy(injected.accountFeedPagesMax),
    })
  }

  /** Long reads that wait for a connection. */
  get waiting(): number {
    return this.#long.count.waitingForOthers + this.#long.page.waitingForOthers
  }

  /** Whether long reads wait: nearly every filter is one. */
  get isFull(): boolean {
    return this.#long.count.inFlight + this.#long.page.inFlight >= limits.readsWaitingMax / 2
  }

  /** Throws if a read of the account would be rejected; for a filter that takes long to parse, even if that depends on its kind. */
  rejectIfFull(scope: AccountScope, characters: number): void {
    this.#long.page.rejectIfFull(scope)
    if (characters > limits.longRequestBytes) this.#long.count.rejectIfFull(scope)
  }

  /** For a statement that reads no state. */
  read<Row extends PlainRow<Row>>(
    scope: AccountScope,
    statement: Statement,
    signal: AbortSignal,
    kind: ReadKind = 'page',
  ): Promise<Row[]> {
    return this.#scheduled(kind, scope, signal, (options) =>
      this.#database.nodeOf(scope).read<Row>(statement, options),
    )
  }

  /** For a count in the background, without a seat. */
  countLong<Row extends StateRow<Row>>(scope: AccountScope, statement: StateStatement): Promise<Row[]> {
    return this.#database.nodeOf(scope).read<Row>(statement, { msMax: limits.backgroundCountMsMax })
  }

  /** A page of the change feed. */
  async readChanges<Row extends StateRow<Row>>(
    scope: AccountScope,
    statement: StateStatement,
    signal: AbortSignal,
  ): Promise<Row[]> {
    if (statement.execution !== 'pipelined')
      return await this.#readLong<Row>('page', scope, statement, signal)
    const seat = await this.#feed.acquire(scope, signal)
    try {
      return await this.#database.nodeOf(scope).read<Row>(statement)
    } finally {
      seat.release()
    }
  }

  /**
   * For a statement that returns the state of the tally, and one row: on a replica, if one has the state that the
   * verification has read.
   */
  readAt<Row extends StateRow<Row> & TallyState>(
    scope: AccountScope,
    statement: StateStatement,
    verified: Omit<VerifiedState, 'accountId'>,
    signal: AbortSignal,
    kind: ReadKind,
  ): Promise<Row[]> {
    if (statement.execution === 'pipelined') return this.#database.nodeOf(scope).read<Row>(statement)
    const replicas = this.#replicas
    if (replicas === undefined) return this.#readLong<Row>(kind, scope, statement, signal)
    const { accountId } = scope
    return this.#scheduled(kind, scope, signal, async (options) => {
      const row = await replicas.read<Row>(statement, { ...verified, accountId }, options)
      return row === undefined ? await this.#database.nodeOf(scope).read<Row>(statement, options) : [row]
    })
  }

  #readLong<Row extends StateRow<Row>>(
    kind: ReadKind,
    scope: AccountScope,
    statement: StateStatement,
    signal: AbortSignal,
  ): Promise<Row[]> {
    return this.#scheduled(kind, scope, signal, (options) =>
      this.#database.nodeOf(scope).read<Row>(statement, options),
    )
  }

  async #scheduled<Result>(
    kind: ReadKind,
    scope: AccountScope,
    signal: AbortSignal,
    run: (options: ReadOptions) => Promise<Result>,
  ): Promise<Result> {
    const seat = await this.#long[kind].acquire(scope, signal)
    let overdue = Promise.resolve()
    try {
      if (signal.aborted) throw clientDisconnected()
      const onOverdue = (ended: Promise<void>) => {
        overdue = ended
      }
      return await run({ signal, onOverdue })
    } finally {
      // A statement that is still running in the database holds its seat until it has ended.
      void overdue.then(() => this.#release(kind, seat))
    }
  }

  #release(kind: ReadKind, seat: Seat): void {
    seat.release()
    this.#long[kind === 'count' ? 'page' : 'count'].seatsAdded()
  }
}

const reasons: Record<Rejection, (waitMs: number) => string> = {
  'queue-full': () => `${limits.accountReadsWaitingMax} more wait`,
  waited: (waitMs) => `this request waited ${waitMs / 1000} s for one of them to end`,
  displaced: () => 'more of its queries wait than of any other account, while the service is busy',
}

function accountBusy(accountMax: number, waitMs: number, rejection: Rejection): Failure {
  return new Failure(
    'account_busy',
    `This account has ${accountMax} long ${accountMax === 1 ? 'query' : 'queries'} running, the maximum, and ${reasons[rejection](waitMs)}. ` +
      'Try again shortly, with fewer concurrent requests.',
  )
}

function feedBusy(max: number): Failure {
  return new Failure(
    'account_busy',
    `This account reads ${max} pages of changes at once, the maximum, and too many more wait. ` +
      'Try again shortly, with fewer clients that read changes.',
  )
}
