import { Failure } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Statement } from '../sql.ts'
import type { Store } from '../store/pool.ts'
import type { Event, RequestAccess, Tell } from '../telemetry/events.ts'
import type { Answered } from './answered.ts'
import { LastUse, lastUseStatement } from './last-use.ts'
import { insertRequestsStatement, RequestLog } from './request-log.ts'
import { Retention } from './retention.ts'
import { addUsageStatement, Usage } from './usage.ts'

/** Something that gathers what is to be written, and is asked for it from time to time. */
interface Gatherer<Row> {
  readonly isEmpty: boolean
  /** Some of what waits since before then, by `performance.now()`: as many as are made into a statement in no time. */
  take(before: number): readonly Row[]
  /** How many requests are lost to the log for want of room. */
  putBack(rows: readonly Row[]): number
}

/**
 * What accounts did, as they can look it up: their requests, their usage, the last use of their keys. A request is
 * noted when it was answered and written later, together with others, by one statement at a time of one connection.
 */
export class Activity {
  readonly #store: Store
  readonly #tell: Tell
  readonly #log = new RequestLog()
  readonly #usage = new Usage()
  readonly #lastUse = new LastUse()
  readonly #retention: Retention
  readonly #timer: NodeJS.Timeout
  #writing: Promise<boolean> | undefined
  #closing = false
  #unlogged = 0
  #toldAt = Number.NEGATIVE_INFINITY
  #failing = false

  constructor(store: Store, tell: Tell) {
    this.#store = store
    this.#tell = tell
    this.#retention = new Retention(store)
    this.#timer = setInterval(() => void this.#write(), limits.activityFlushMs).unref()
  }

  /** On the way of every request, after its answer: 1 to 2 µs. */
  note(event: Event): void {
    if (event.kind !== 'request-answered' || !isOfKey(event)) return
    const atMs = Math.round(Date.now() - event.ms)
    const logged = this.#log.offer(atMs, event)
    if (!logged) this.#unlogged++
    // A key is used for the first time on a day only where there is no sum of this minute yet.
    if (this.#usage.note(atMs, event, logged) !== 'counted') this.#lastUse.note(atMs, event.access)
  }

  /** Writes what waits, as long as the database takes it and the time allows. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing = true
    const until = performance.now() + limits.activityCloseMsMax
    await this.#writing
    while (!(this.#log.isEmpty && this.#usage.isEmpty && this.#lastUse.isEmpty)) {
      if (performance.now() > until || !(await this.#write())) return
    }
  }

  /** Whether the database took it. */
  #write(): Promise<boolean> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  async #writeAll(): Promise<boolean> {
    this.#tellUnlogged()
    try {
      await this.#writeSome(this.#log, insertRequestsStatement, ({ event }) => event.access)
      await this.#writeSome(this.#usage, addUsageStatement, ({ access }) => access)
      await this.#writeSome(this.#lastUse, lastUseStatement)
      await this.#retention.work()
      this.#failing = false
    } catch (error) {
      // While it goes on, once is enough: the requests themselves tell of a database that is away.
      if (!this.#failing) this.#tell({ kind: 'activity-unwritten', error })
      this.#failing = true
    }
    return !this.#failing
  }

  /** At once, and while it goes on as often as usage is written. */
  #tellUnlogged(): void {
    const now = performance.now()
    if (this.#unlogged === 0 || (!this.#closing && now - this.#toldAt < limits.usageFlushMs)) return
    this.#tell({ kind: 'requests-unlogged', count: this.#unlogged })
    this.#unlogged = 0
    this.#toldAt = now
  }

  /** `logOf`: in whose log a row is. */
  async #writeSome<Row>(
    from: Gatherer<Row>,
    statement: (rows: readonly Row[]) => Statement,
    logOf?: (row: Row) => RequestAccess,
  ): Promise<void> {
    const rows = from.take(this.#closing ? Number.POSITIVE_INFINITY : performance.now())
    if (rows.length === 0) return
    try {
      await this.#store.writeOne(statement(rows))
    } catch (error) {
      // What the database refuses as such it would refuse again; all else is tried again.
      if (error instanceof Failure && error.code !== 'internal') {
        this.#unlogged += from.putBack(rows)
      }
      throw error
    }
    if (logOf !== undefined) this.#retention.noteAdded(rows.map((row) => logOf(row).accountId))
  }
}

function isOfKey(event: Extract<Event, { kind: 'request-answered' }>): event is Answered {
  return event.access !== undefined
}
