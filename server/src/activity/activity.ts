import type { Limits } from '../limits/passed-limits.ts'
import type { AuthenticatedRequest, EmitEvent, RequestCompleted } from '../observability/events.ts'
import type { Database } from '../postgres/database.ts'
import { isDatabaseError } from '../postgres/sqlstate.ts'
import { BatchWriter, isPermanent } from './batch-writer.ts'
import { LastUse, lastUseStatement } from './last-use.ts'
import { insertRequests, RequestLog } from './request-log.ts'
import { Retention } from './retention.ts'
import { addUsageStatement, Usage } from './usage.ts'

/**
 * Records what each account's administrator can look up: requests, usage and the last use of keys. A request is recorded
 * after its response, and written later in a batch with others. One statement runs at a time, on one connection.
 */
export class Activity {
  readonly #database: Database
  readonly #emit: EmitEvent
  readonly #log = new RequestLog()
  readonly #usage: Usage
  readonly #lastUse = new LastUse()
  readonly #retention: Retention
  readonly #sweeps: readonly { run(): Promise<void> }[]
  readonly #writers: readonly Pick<BatchWriter<unknown>, 'isEmpty' | 'write' | 'dropAll'>[]
  readonly #timer: NodeJS.Timeout
  readonly #closeMsMax: number
  readonly #usageFlushMs: number
  #writing: Promise<boolean> | undefined
  #closing = false
  /** Requests missing from the request log and from the usage, since the last report. */
  #unlogged = 0
  #uncounted = 0
  #reportedAt = Number.NEGATIVE_INFINITY
  #failing = false

  /** `sweeps`: delete what else has expired. Each returns at once unless it is due. */
  constructor(
    database: Database,
    emit: EmitEvent,
    limits: Limits,
    sweeps: readonly { run(): Promise<void> }[],
  ) {
    this.#sweeps = sweeps
    this.#database = database
    this.#emit = emit
    this.#closeMsMax = limits.activityCloseMsMax
    this.#usageFlushMs = limits.usageFlushMs
    this.#usage = new Usage(limits.usageFlushMs)
    this.#retention = new Retention(database)
    this.#writers = [
      new BatchWriter(this.#log, {
        statementOf: insertRequests,
        accountOf: ({ event }) => event.access.accountId,
        onWritten: (rows) => this.#retention.countAdded(rows.map(({ event }) => event.access.accountId)),
        onDropped: (rows) => {
          this.#unlogged += rows.length
          for (const { atMs, event } of rows) this.#usage.countUnlogged(atMs, event)
        },
      }),
      new BatchWriter(this.#usage, {
        statementOf: (sums) => addUsageStatement(sums, this.#usage.nextBatch()),
        accountOf: ({ access }) => access.accountId,
        onWritten: (sums) => this.#retention.countAdded(sums.map(({ access }) => access.accountId)),
        onDropped: (sums) => {
          this.#uncounted += sums.reduce((all, { requests }) => all + requests, 0)
        },
      }),
      // If today's use of a key is not written, the key's first request of the next day writes that day.
      new BatchWriter(this.#lastUse, {
        statementOf: lastUseStatement,
        accountOf: ({ accountId }) => accountId,
        onDropped: () => {},
      }),
    ]
    this.#timer = setInterval(() => void this.#write(), limits.activityFlushMs).unref()
  }

  /** Called after the response of every request; takes 1 to 2 µs. */
  readonly record: EmitEvent = (event) => {
    if (event.kind !== 'request-completed' || !isAuthenticated(event)) return
    const atMs = Math.round(Date.now() - event.ms)
    const logged = this.#log.offer(atMs, event)
    if (!logged) this.#unlogged++
    const counted = this.#usage.count(atMs, event, logged)
    if (counted === 'full') this.#uncounted++
    // If this minute has a sum already, the use of the key on this day has been recorded.
    if (counted !== 'counted') this.#lastUse.record(atMs, event.access)
  }

  /** Writes what is queued until the timeout or the first failure. The rest is lost, and the loss is reported. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing = true
    const until = performance.now() + this.#closeMsMax
    await this.#writing
    while (!this.#writers.every(({ isEmpty }) => isEmpty)) {
      if (performance.now() > until || !(await this.#write())) break
    }
    for (const writer of this.#writers) writer.dropAll()
    this.#reportLost()
  }

  /** Resolves to whether everything was written. */
  #write(): Promise<boolean> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  async #writeAll(): Promise<boolean> {
    this.#reportLost()
    const before = this.#closing ? Number.POSITIVE_INFINITY : performance.now()
    let failure: { readonly error: unknown } | undefined
    const steps = [
      ...this.#writers.map((writer) => () => writer.write(this.#database, before)),
      () => this.#retention.run(),
      ...this.#sweeps.map((sweep) => () => sweep.run()),
    ]
    for (const step of steps) {
      try {
        await step()
      } catch (error) {
        failure ??= { error }
        // If one table is locked or rejects its rows, the others are still written, unless the database is unavailable.
        if (!isPermanent(error) && !isDatabaseError(error)) break
      }
    }
    // Reported once for a series of failures: failed requests report an unavailable database already.
    if (failure !== undefined && !this.#failing) this.#emit({ kind: 'activity-unwritten', ...failure })
    this.#failing = failure !== undefined
    return !this.#failing
  }

  /** Reports the first loss at once, later ones at most every `usageFlushMs`. */
  #reportLost(): void {
    const now = performance.now()
    if (this.#unlogged + this.#uncounted === 0) return
    if (!this.#closing && now - this.#reportedAt < this.#usageFlushMs) return
    if (this.#unlogged > 0) this.#emit({ kind: 'requests-unlogged', count: this.#unlogged })
    if (this.#uncounted > 0) this.#emit({ kind: 'requests-uncounted', count: this.#uncounted })
    this.#unlogged = 0
    this.#uncounted = 0
    this.#reportedAt = now
  }
}

function isAuthenticated(event: RequestCompleted): event is AuthenticatedRequest {
  return event.access !== undefined
}
