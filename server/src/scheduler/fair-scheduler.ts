import { clientDisconnected, type Failure, overloaded } from '../errors/errors.ts'
import type { AccountScope } from '../scope.ts'

/** Why an operation of an account was rejected: its own queue is full, it waited too long, or it made room for another account. */
export type Rejection = 'queue-full' | 'waited' | 'displaced'

export interface SchedulerOptions {
  /** Operations of all accounts that run at once. A function if the number of servers can change. */
  readonly seats: number | (() => number)
  /** Operations of one account that run at once. */
  readonly accountSeats: number
  /** An account gets a further seat only if this number stays free for other accounts. Default: 0. */
  readonly spareSeats?: number
  /** Operations that wait, of all accounts and of one, and how long each waits. */
  readonly waitingMax: number
  readonly accountWaitingMax: number
  readonly waitMsMax: number
  /** Whether an operation may wait for seats of its own account, or only for those of others. Default: true. */
  readonly waitsForOwn?: boolean
  /**
   * Which operations give way if no seat is free: those with a slow client, which are looked for at this interval while others
   * wait; or at once the oldest of the account with the most seats, for an account that has fewer. Default: none.
   */
  readonly givesWay?: { readonly slowCheckMs: number } | 'largest'
  /** The error for an operation that is rejected because of its own account, which has this number of seats. */
  readonly busy: (rejection: Rejection, seats: number) => Failure
}

/** An operation that can give way. */
export interface SeatHolder {
  /** Whether it mostly waits for a client that is slower than the minimum rate. */
  isSlow?(): boolean
  /** Ends the operation, which releases its seat. */
  abort(): void
}

export interface Seat {
  /** The caller must call it; further calls do nothing. */
  release(): void
  holder: SeatHolder | undefined
}

interface Waiter {
  start(): void
  reject(failure: Failure): void
}

/** The operations of one account. */
interface Flow {
  readonly accountId: string
  /** Oldest first, as the waiters. */
  readonly seats: Set<Seat>
  readonly waiters: Set<Waiter>
}

/**
 * Shares the seats of one kind of work fairly among accounts, in the manner of API Priority and Fairness of Kubernetes: a flow
 * for each account, a bounded queue for each flow, and free seats given to the flows in turn. If all queues together are full,
 * the longest one loses its newest operation: overload affects the account that causes it.
 */
export class FairScheduler {
  readonly #options: SchedulerOptions
  /** Flows with a seat or a waiter. */
  readonly #flows = new Map<string, Flow>()
  /** Flows with waiters; the next one in turn first. */
  readonly #queued = new Set<Flow>()
  #taken = 0
  #waiting = 0
  #check: NodeJS.Timeout | undefined

  constructor(options: SchedulerOptions) {
    this.#options = options
  }

  /** Operations that run, of all accounts. */
  get running(): number {
    return this.#taken
  }

  /** Operations that run or wait, of all accounts. */
  get inFlight(): number {
    return this.#taken + this.#waiting
  }

  /** Operations that wait although their account may have more seats. */
  get waitingForOthers(): number {
    let count = 0
    for (const { seats, waiters } of this.#queued)
      count += Math.min(waiters.size, Math.max(0, this.#options.accountSeats - seats.size))
    return count
  }

  /** Throws if the account's queue is full, so that an operation need not be prepared in vain. */
  rejectIfFull({ accountId }: AccountScope): void {
    const flow = this.#flows.get(accountId)
    const { accountWaitingMax, busy } = this.#options
    if (flow !== undefined && flow.waiters.size >= accountWaitingMax)
      throw busy('queue-full', flow.seats.size)
  }

  /** Takes a seat, or waits for one. Rejects if the signal is aborted meanwhile. */
  async acquire(scope: AccountScope, signal?: AbortSignal): Promise<Seat> {
    const flow = this.#flowOf(scope)
    if (!this.#canRun(flow) && this.#options.givesWay === 'largest') this.#evictFor(flow)
    if (this.#canRun(flow)) return this.#seat(flow)
    try {
      this.#makeRoomToWait(flow)
      return await this.#wait(flow, signal)
    } finally {
      this.#forgetIfIdle(flow)
    }
  }

  /** Must be called when `seats` has become larger by itself. */
  seatsAdded(): void {
    this.#dispatch()
  }

  #flowOf({ accountId }: AccountScope): Flow {
    const known = this.#flows.get(accountId)
    if (known !== undefined) return known
    const flow: Flow = { accountId, seats: new Set(), waiters: new Set() }
    this.#flows.set(accountId, flow)
    return flow
  }

  #forgetIfIdle(flow: Flow): void {
    const isIdle = flow.seats.size === 0 && flow.waiters.size === 0
    if (isIdle && this.#flows.get(flow.accountId) === flow) this.#flows.delete(flow.accountId)
  }

  get #free(): number {
    const { seats } = this.#options
    return (typeof seats === 'number' ? seats : seats()) - this.#taken
  }

  #canRun({ seats }: Flow): boolean {
    const { accountSeats, spareSeats = 0 } = this.#options
    return seats.size < accountSeats && this.#free > (seats.size === 0 ? 0 : spareSeats)
  }

  #seat(flow: Flow): Seat {
    const seat: Seat = {
      holder: undefined,
      release: () => {
        if (!flow.seats.delete(seat)) return
        this.#taken--
        this.#dispatch()
        this.#forgetIfIdle(flow)
      },
    }
    flow.seats.add(seat)
    this.#taken++
    return seat
  }

  /** Gives free seats to the flows in turn. */
  #dispatch(): void {
    for (const flow of this.#queued) {
      if (this.#free <= 0) return
      const [next] = flow.waiters
      if (next === undefined || !this.#canRun(flow)) continue
      this.#queued.delete(flow)
      next.start()
      // Visited again by this loop, after all others.
      if (flow.waiters.size > 0) this.#queued.add(flow)
    }
  }

  /** Throws if the account must not wait, or if the queues are full and no other account has a longer one. */
  #makeRoomToWait(flow: Flow): void {
    const { accountWaitingMax, waitingMax, waitsForOwn = true, busy } = this.#options
    const isOwnFault = flow.seats.size > 0 || flow.waiters.size > 0
    if (!waitsForOwn && flow.seats.size > 0) throw busy('queue-full', flow.seats.size)
    if (waitingMax === 0) throw isOwnFault ? busy('queue-full', flow.seats.size) : overloaded()
    if (flow.waiters.size >= accountWaitingMax) throw busy('queue-full', flow.seats.size)
    if (this.#waiting < waitingMax) return
    let longest = flow
    for (const other of this.#queued) if (other.waiters.size > longest.waiters.size) longest = other
    const newest = [...longest.waiters].at(-1)
    if (newest === undefined || longest.waiters.size <= flow.waiters.size + 1)
      throw isOwnFault ? busy('queue-full', flow.seats.size) : overloaded()
    newest.reject(busy('displaced', longest.seats.size))
  }

  #wait(flow: Flow, signal: AbortSignal | undefined): Promise<Seat> {
    const { waitMsMax, busy, accountSeats } = this.#options
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timeout)
        signal?.removeEventListener('abort', onAbort)
        flow.waiters.delete(waiter)
        if (flow.waiters.size === 0) this.#queued.delete(flow)
        this.#waiting--
        if (this.#waiting === 0) this.#stopCheck()
      }
      const waiter: Waiter = {
        start: () => {
          leave()
          resolve(this.#seat(flow))
        },
        reject: (failure) => {
          leave()
          this.#forgetIfIdle(flow)
          reject(failure)
        },
      }
      const onAbort = (): void => waiter.reject(clientDisconnected())
      const onTimeout = (): void =>
        waiter.reject(flow.seats.size >= accountSeats ? busy('waited', flow.seats.size) : overloaded())
      const timeout = setTimeout(onTimeout, waitMsMax)
      signal?.addEventListener('abort', onAbort)
      flow.waiters.add(waiter)
      this.#queued.add(flow)
      this.#waiting++
      this.#startCheck()
      if (signal?.aborted === true) onAbort()
    })
  }

  /** The account with the most seats loses its oldest, if it has more than the other account would have then. */
  #evictFor({ seats }: Flow): void {
    if (this.#free > 0) return
    let largest: Flow | undefined
    for (const flow of this.#flows.values()) if (flow.seats.size > (largest?.seats.size ?? 0)) largest = flow
    const [oldest] = largest?.seats ?? []
    if (largest !== undefined && largest.seats.size > seats.size + 1) oldest?.holder?.abort()
  }

  #startCheck(): void {
    const { givesWay } = this.#options
    if (typeof givesWay !== 'object') return
    this.#check ??= setInterval(() => this.#abortSlow(), givesWay.slowCheckMs)
  }

  #stopCheck(): void {
    clearInterval(this.#check)
    this.#check = undefined
  }

  /** Aborts at most one operation for each account that waits; first those of accounts with the most seats. */
  #abortSlow(): void {
    const slow: { readonly holder: SeatHolder; readonly ofAccount: number }[] = []
    for (const { seats } of this.#flows.values())
      for (const { holder } of seats)
        if (holder?.isSlow?.() === true) slow.push({ holder, ofAccount: seats.size })
    slow.sort((one, other) => other.ofAccount - one.ofAccount)
    for (const { holder } of slow.slice(0, this.#queued.size)) holder.abort()
  }
}
