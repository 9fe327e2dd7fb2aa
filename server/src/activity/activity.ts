import type { Limits } from '../limits.ts'
import type { EmitEvent, Event } from '../observability/events.ts'
import type { Database } from '../postgres/database.ts'
import { isDatabaseError } from '../postgres/sqlstate.ts'
import type { Answered } from './answered.ts'
import { BatchWriter, isRefused } from './batch-writer.ts'
import { LastUse, lastUseStatement } from './last-use.ts'
import { insertRequestsStatement, RequestLog } from './request-log.ts'
import { Retention } from './retention.ts'
import { addUsageStatement, Usage } from './usage.ts'

/**
 * What accounts did, as they can look it up: their requests, their usage, the last use of their keys. A request is
 * noted when it was answered and written later, together with others, by one statement at a time of one connection.
 */
export class Activity {
  readonly #database: Database
  readonly #emit: EmitEvent
  readonly #log = new RequestLog()
  readonly #usage: Usage
  readonly #lastUse = new LastUse()
  readonly #retention: Retention
  readonly #writers: readonly Pick<BatchWriter<unknown>, 'isEmpty' | 'write' | 'giveUp'>[]
  readonly #timer: NodeJS.Timeout
  readonly #closeMsMax: number
  readonly #usageFlushMs: number
  #writing: Promise<boolean> | undefined
  #closing = false
  /** Requests that will be missing from the log, or from the usage, and were not reported yet. */
  #unlogged = 0
  #uncounted = 0
  #toldAt = Number.NEGATIVE_INFINITY
  #failing = false

  constructor(database: Database, emit: EmitEvent, limits: Limits) {
    this.#database = database
    this.#emit = emit
    this.#closeMsMax = limits.activityCloseMsMax
    this.#usageFlushMs = limits.usageFlushMs
    this.#usage = new Usage(limits.usageFlushMs)
    this.#retention = new Retention(database)
    this.#writers = [
      new BatchWriter(this.#log, insertRequestsStatement, {
        onWritten: (rows) => this.#retention.noteAdded(rows.map(({ event }) => event.access.accountId)),
        onDropped: (rows) => {
          this.#unlogged += rows.length
          for (const { atMs, event } of rows) this.#usage.noteUnlogged(atMs, event)
        },
      }),
      new BatchWriter(this.#usage, (sums) => addUsageStatement(sums, this.#usage.nextBatch()), {
        onWritten: (sums) => this.#retention.noteAdded(sums.map(({ access }) => access.accountId)),
        onDropped: (sums) => {
          this.#uncounted += sums.reduce((all, { requests }) => all + requests, 0)
        },
      }),
      // A day that is not written today is written with the key's first request of tomorrow.
      new BatchWriter(this.#lastUse, lastUseStatement, { onDropped: () => {} }),
    ]
    this.#timer = setInterval(() => void this.#write(), limits.activityFlushMs).unref()
  }

  /** On the way of every request, after its answer: 1 to 2 µs. */
  note(event: Event): void {
    if (event.kind !== 'request-completed' || !isOfKey(event)) return
    const atMs = Math.round(Date.now() - event.ms)
    const logged = this.#log.offer(atMs, event)
    if (!logged) this.#unlogged++
    const counted = this.#usage.note(atMs, event, logged)
    if (counted === 'full') this.#uncounted++
    // A key is used for the first time on a day only where there is no sum of this minute yet.
    if (counted !== 'counted') this.#lastUse.note(atMs, event.access)
  }

  /** Writes what waits, as long as the database takes it and the time allows. The rest is lost, and reported. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing = true
    const until = performance.now() + this.#closeMsMax
    await this.#writing
    while (!this.#writers.every(({ isEmpty }) => isEmpty)) {
      if (performance.now() > until || !(await this.#write())) break
    }
    for (const writer of this.#writers) writer.giveUp()
    this.#tellLost()
  }

  /** Whether the database took it. */
  #write(): Promise<boolean> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  async #writeAll(): Promise<boolean> {
    this.#tellLost()
    const before = this.#closing ? Number.POSITIVE_INFINITY : performance.now()
    let failure: { readonly error: unknown } | undefined
    const steps = [
      ...this.#writers.map((writer) => () => writer.write(this.#database, before)),
      () => this.#retention.work(),
    ]
    for (const step of steps) {
      try {
        await step()
      } catch (error) {
        failure ??= { error }
        // A table that is locked or refuses rows is no reason to leave the others out; a database that is away is.
        if (!isRefused(error) && !isDatabaseError(error)) break
      }
    }
    // While it goes on, once is enough: the requests themselves tell of a database that is away.
    if (failure !== undefined && !this.#failing) this.#emit({ kind: 'activity-unwritten', ...failure })
    this.#failing = failure !== undefined
    return !this.#failing
  }

  /** At once, and while it goes on as often as usage is written. */
  #tellLost(): void {
    const now = performance.now()
    if (this.#unlogged + this.#uncounted === 0) return
    if (!this.#closing && now - this.#toldAt < this.#usageFlushMs) return
    if (this.#unlogged > 0) this.#emit({ kind: 'requests-unlogged', count: this.#unlogged })
    if (this.#uncounted > 0) this.#emit({ kind: 'requests-uncounted', count: this.#uncounted })
    this.#unlogged = 0
    this.#uncounted = 0
    this.#toldAt = now
  }
}

function isOfKey(event: Extract<Event, { kind: 'request-completed' }>): event is Answered {
  return event.access !== undefined
}
