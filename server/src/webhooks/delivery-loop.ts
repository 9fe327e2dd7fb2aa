import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { overloaded } from '../errors/errors.ts'
import { limits as constants } from '../limits/limits.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { EmitEvent, Event } from '../observability/events.ts'
import type { Database } from '../postgres/database.ts'
import { FairScheduler, type Seat } from '../scheduler/fair-scheduler.ts'
import { withinTime } from '../timeout.ts'
import { candidatePages, candidatesIn } from './candidates.ts'
import { behindStatement, type Candidate, type Endpoint, trimLogStatement } from './delivery-statements.ts'

export interface DeliveryLoopOptions {
  readonly database: Database
  readonly emit: EmitEvent
  readonly limits: Limits
  /** Sends what the endpoint has not received. */
  readonly deliver: (endpoint: Endpoint) => Promise<void>
}

const writingMethods = new Set(['POST', 'PATCH', 'DELETE', 'PUT'])

/**
 * Finds the endpoints with undelivered changes and delivers to them. What is undelivered follows from the positions of endpoints
 * and the versions of tallies, so nothing is lost if a process ends. A sweep reads both; a hint of this process' own writes makes
 * it faster.
 */
export class DeliveryLoop {
  readonly #options: DeliveryLoopOptions
  /** Accounts that this process has written to since the last check. */
  readonly #hinted = new Set<string>()
  #hintTimer: NodeJS.Timeout | undefined
  #sweepTimer: NodeJS.Timeout | undefined
  readonly #scheduler: FairScheduler
  readonly #stop = new AbortController()
  /** Endpoints that wait for a seat. */
  readonly #waiting = new Set<string>()
  readonly #running = new Map<string, Promise<void>>()
  /** Endpoints that were found again while this process was sending to them. */
  readonly #again = new Set<string>()
  /** Deliveries of this process since the last trim of the account's log. */
  readonly #logged = new Map<string, number>()
  #closing = false
  #failing = false

  constructor(options: DeliveryLoopOptions) {
    this.#options = options
    const { limits } = options
    this.#scheduler = new FairScheduler({
      seats: limits.webhooksInFlightMax,
      accountSeats: limits.accountWebhooksInFlightMax,
      waitingMax: limits.webhooksWaitingMax,
      accountWaitingMax: constants.webhooksMax,
      waitMsMax: limits.webhookQueueMsMax,
      busy: overloaded,
    })
    setMaxListeners(0, this.#stop.signal)
    // Processes that start at the same time do not sweep at the same time.
    this.#scheduleSweep(Math.random() * options.limits.webhookSweepMs)
  }

  /** Subscribes to the events of requests: a write may have changes for an endpoint. */
  readonly observe = (event: Event): void => {
    if (event.kind !== 'request-completed' || event.access === undefined) return
    if (event.status >= 300 || !writingMethods.has(event.method)) return
    this.hint(event.access.accountId)
  }

  /** Checks the endpoints of the account soon. A lost hint does not matter: the sweep finds the same. */
  hint(accountId: string): void {
    const { webhookHintAccountsMax, webhookHintMs } = this.#options.limits
    if (this.#closing || this.#hinted.size >= webhookHintAccountsMax) return
    this.#hinted.add(accountId)
    this.#hintTimer ??= setTimeout(() => {
      this.#hintTimer = undefined
      void this.#attempt(() => this.#checkHinted())
    }, webhookHintMs).unref()
  }

  /** Sends no new message. Waits until those in flight have stored their result and released their leases. */
  async close(): Promise<void> {
    this.#closing = true
    clearTimeout(this.#hintTimer)
    clearTimeout(this.#sweepTimer)
    this.#stop.abort()
    this.#again.clear()
    await withinTime(this.#options.limits.webhookCloseMsMax, Promise.all(this.#running.values()))
  }

  #scheduleSweep(ms: number): void {
    if (this.#closing) return
    this.#sweepTimer = setTimeout(() => {
      void this.#attempt(() => this.#sweep()).then(() =>
        this.#scheduleSweep(this.#options.limits.webhookSweepMs),
      )
    }, ms).unref()
  }

  /** Reports the first failure of a series: failed requests report an unavailable database already. */
  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work()
      this.#failing = false
    } catch (error) {
      if (!this.#failing && !this.#closing) this.#options.emit({ kind: 'webhook-sweep-failed', error })
      this.#failing = true
    }
  }

  async #checkHinted(): Promise<void> {
    const accountIds = [...this.#hinted]
    this.#hinted.clear()
    await this.#enqueueBehind(await candidatesIn(this.#options.database, accountIds))
  }

  async #sweep(): Promise<void> {
    const { database, limits } = this.#options
    const pagesOf = await database.form(candidatePages)
    // Statements of requests are not delayed by many pages in a row.
    for await (const page of pagesOf(database, () => sleep(limits.webhookHintMs))) {
      await this.#enqueueBehind(page)
      if (this.#closing) return
    }
  }

  async #enqueueBehind(candidates: readonly Candidate[]): Promise<void> {
    if (candidates.length === 0) return
    const { database } = this.#options
    const endpoints = candidates.map((candidate) => ({ ...candidate, accountId: candidate.account_id }))
    const { checkAccounts } = await database.connect()
    const behind = await checkAccounts(endpoints, async (some) => {
      const rows = await database.read<{ n: string }>(behindStatement(some))
      return rows.flatMap(({ n }) => some[Number(n) - 1] ?? [])
    })
    for (const { accountId, id } of behind) this.#enqueue({ accountId, id })
  }

  #enqueue(endpoint: Endpoint): void {
    const key = `${endpoint.accountId} ${endpoint.id}`
    if (this.#running.has(key)) this.#again.add(key)
    else if (!this.#closing && !this.#waiting.has(key)) void this.#wait(key, endpoint)
  }

  /** The sweep finds an endpoint again that gets no seat. */
  async #wait(key: string, endpoint: Endpoint): Promise<void> {
    this.#waiting.add(key)
    try {
      const seat = await this.#scheduler.acquire(endpoint, this.#stop.signal)
      if (this.#closing) seat.release()
      else this.#running.set(key, this.#run(key, endpoint, seat))
    } catch {
      // The queue is full, or the process exits.
    } finally {
      this.#waiting.delete(key)
    }
  }

  async #run(key: string, endpoint: Endpoint, seat: Seat): Promise<void> {
    await this.#attempt(async () => {
      await this.#options.deliver(endpoint)
      await this.#trimLog(endpoint)
    })
    this.#running.delete(key)
    seat.release()
    if (this.#again.delete(key) && !this.#closing) this.hint(endpoint.accountId)
  }

  /** A process that serves more accounts than this forgets their counts, and trims later. */
  async #trimLog({ accountId }: Endpoint): Promise<void> {
    const { deliveryTrimRows, webhooksWaitingMax } = this.#options.limits
    if (this.#logged.size > webhooksWaitingMax) this.#logged.clear()
    const count = (this.#logged.get(accountId) ?? 0) + 1
    this.#logged.set(accountId, count % deliveryTrimRows)
    if (count < deliveryTrimRows) return
    await this.#options.database.writeOne(trimLogStatement({ accountId }))
  }
}
