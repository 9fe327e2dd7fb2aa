import type { Copy } from './copy.ts'
import { lateShareMax, type Polling } from './polling.ts'
import type { Clock, Pages, Source } from './source.ts'
import type { Remembered, ResourceState } from './state.ts'
import { lagsKept, type ResourceStatus } from './status.ts'
import { deletesMax, Stop } from './stop.ts'
import type { Key, SourceRow } from './values.ts'

const newestKept = 50
const keysPerRead = 1_000
/** Missing records of which the source is asked whether they are gone, before it is asked for all of them. */
const proofSample = 200

export interface PollerOptions {
  readonly polling: Polling
  /** Deletes that the operator has accepted once, in addition to those that a sweep may make by itself. */
  readonly deletesAccepted: number
}

/**
 * Keeps the copy of one resource in step with its source, by the rules of ADR 0084. Each method can be stopped at any moment, also by an
 * error, and is then simply repeated: a position moves only after everything before it is written here.
 */
export class Poller {
  readonly source: Source
  readonly copy: Copy
  readonly state: ResourceState
  readonly status: ResourceStatus
  readonly #clock: Clock
  readonly #options: PollerOptions
  #deletesAccepted: number
  #lateAt = 0
  #rollAt = 0
  #pages = 1

  constructor(
    source: Source,
    copy: Copy,
    { state, status }: { state: ResourceState; status: ResourceStatus },
    clock: Clock,
    options: PollerOptions,
  ) {
    this.source = source
    this.copy = copy
    this.state = state
    this.status = status
    this.#clock = clock
    this.#options = options
    this.#deletesAccepted = options.deletesAccepted
  }

  /** Whether a state was there: if not, everything is read. */
  get isNew(): boolean {
    return this.state.hot === 0
  }

  /** Reads every row. `onPage` gets the number of rows so far. */
  async first(onPage: (rows: number) => void): Promise<void> {
    const start = this.#clock.now()
    let rows = 0
    for await (const page of pagesOf(this.source)) {
      await this.#apply(page, { again: true })
      rows += page.length
      this.#pages = Math.max(this.#pages, Math.ceil(rows / Math.max(1, page.length)))
      onPage(rows)
    }
    // A transaction that began before may commit now: the first late scan begins a window before this start.
    Object.assign(this.state, { hot: start, late: start, rollStarted: start, rollAfter: null })
  }

  /** What is due now. */
  async step(): Promise<void> {
    const foreign = await this.copy.follow()
    if (foreign.length > 0) await this.#again(foreign)
    const now = Date.now()
    if (this.source.isHot) await this.hot()
    if (now >= this.#lateAt) await this.late()
    if (this.#clock.now() >= this.state.sweep + this.#options.polling.sweep) await this.sweep()
    if (now >= this.#rollAt) await this.roll()
    this.status.records = this.copy.size
    this.status.rejected = this.copy.rejected.size
  }

  /** Rows that were written since the last poll, and a little before. */
  async hot(): Promise<void> {
    const start = this.#clock.now()
    const since = this.state.hot - this.#options.polling.overlap
    await this.#read(this.source.since(since), true)
    await this.#readKeys(await this.source.touched(since, false))
    this.state.hot = start
  }

  /**
   * All rows of the window again. A transaction's rows carry the second in which it began, and appear when it commits: with an older date than
   * rows that were read already, or with the same date as before if the row was written twice in that second. So dates are not compared. The
   * window is counted from the scan before this one: what committed since then is in this one.
   */
  async late(): Promise<void> {
    const start = this.#clock.now()
    const [began, { window, late }] = [Date.now(), this.#options.polling]
    const since = this.state.late - window
    await this.#read(this.source.since(since), true)
    await this.#readKeys(await this.source.touched(since, true))
    this.state.late = start
    const took = Date.now() - began
    this.#lateAt = began + Math.max(late * 1000, took / lateShareMax)
  }

  /** Compares all keys. Deletes leave no trace in the source, so they are found by what is missing. */
  async sweep(): Promise<void> {
    const start = this.#clock.now()
    const live = await this.source.keys()
    const absent = this.copy
      .keys()
      .filter((key) => !live.has(key))
      .toArray()
    if (absent.length > 0) await this.#remove(absent, this.copy.size)
    else this.status.hidden = 0
    const added = live.keys().filter((key) => !this.copy.has(key) && !this.copy.rejected.has(key))
    await this.#readKeys(added.toArray())
    for (const key of this.copy.rejected.keys()) if (!live.has(key)) this.copy.rejected.delete(key)
    this.state.sweep = start
    this.status.sweptAt = new Date().toISOString()
  }

  /** The next page of all rows: finds what changed without any trace. */
  async roll(): Promise<void> {
    const { roll, rollAll } = this.#options.polling
    const { rows, isLast } = await this.source.after(this.state.rollAfter ?? undefined)
    await this.#apply(rows, { again: true })
    if (rows.length > 0) this.#pages = Math.max(1, Math.ceil(this.copy.size / rows.length))
    if (isLast) {
      this.state.rollAfter = null
      this.state.rollStarted = this.#clock.now()
      this.status.rolledAt = new Date().toISOString()
    } else this.state.rollAfter = rows.at(-1)?.key ?? null
    this.#rollAt = Date.now() + 1000 * Math.min(roll, rollAll / this.#pages)
  }

  /** A restored database has rows that are older than we have seen them, or other rows under the same keys. */
  async verifyNewest(): Promise<void> {
    const seen = new Map(this.state.newest.map((one) => [one[0], one]))
    let found = 0
    for await (const rows of this.source.byKeys([...seen.keys()])) {
      for (const row of rows) {
        found++
        const [, changedAt, bornAt] = seen.get(row.key) ?? [row.key, 0, row.bornAt]
        if (bornAt !== row.bornAt) throw restored(this.source, row, 'was created at another time than before')
        // A second: the dates of two transactions that began at once.
        if (row.changedAt < changedAt - 1) throw restored(this.source, row, 'is older than it was')
      }
    }
    if (seen.size >= 10 && found === 0)
      throw new Stop(
        'restored',
        `None of the ${seen.size} ${this.source.resource} records that were changed last exists any more.`,
        restoredWayOn,
      )
  }

  /** The same without a state, by the dates of birth that the records have here. */
  async verifySample(): Promise<void> {
    const born = new Map(this.copy.sample)
    let [found, other] = [0, 0]
    for await (const rows of this.source.byKeys([...born.keys()])) {
      found += rows.length
      other += rows.filter((row) => born.get(row.key) !== row.bornAt).length
    }
    if (other >= 2 && other * 2 > found)
      throw new Stop(
        'database_changed',
        `${other} of ${found} ${this.source.resource} records were created at another time than those here: this is another database.`,
        restoredWayOn,
      )
  }

  async #again(keys: readonly Key[]): Promise<void> {
    const before = this.status.updated + this.status.inserted - this.copy.sent
    await this.#readKeys(keys)
    this.status.overwritten += this.status.updated + this.status.inserted - this.copy.sent - before
  }

  async #readKeys(keys: readonly Key[]): Promise<void> {
    for (let at = 0; at < keys.length; at += keysPerRead)
      await this.#read(this.source.byKeys(keys.slice(at, at + keysPerRead)), false)
  }

  async #read(pages: Pages, isTimed: boolean): Promise<void> {
    for await (const rows of pages) await this.#apply(rows, { isTimed })
  }

  async #apply(rows: readonly SourceRow[], { again = false, isTimed = false } = {}): Promise<void> {
    const ours = rows.filter(({ key, isByUs }) => isByUs === true && !this.copy.has(key))
    if (ours.length > 0) await this.copy.adopt((await this.source.born?.(ours.map((row) => row.key))) ?? [])
    const { compared, inserted, updated, written } = await this.copy.apply(rows, { again })
    const { status } = this
    status.compared += compared
    status.inserted += inserted
    status.updated += updated
    if (isTimed) status.lags.push(...written.map((row) => Math.max(0, this.#clock.now() - row.changedAt)))
    if (status.lags.length > lagsKept) status.lags.splice(0, status.lags.length - lagsKept)
    this.#remember(rows)
  }

  #remember(rows: readonly SourceRow[]): void {
    const oldest = this.state.newest.at(-1)?.[1] ?? 0
    const newer = rows.filter((row) => this.state.newest.length < newestKept || row.changedAt > oldest)
    if (newer.length === 0) return
    const all = new Map(this.state.newest.map((one): [Key, Remembered] => [one[0], one]))
    for (const { key, changedAt, bornAt } of newer) all.set(key, [key, changedAt, bornAt])
    this.state.newest = [...all.values()].toSorted((a, b) => b[1] - a[1]).slice(0, newestKept)
  }

  async #remove(absent: readonly Key[], known: number): Promise<void> {
    // Before anything is deleted: in a restored database, what was created after the backup is missing.
    await this.verifyNewest()
    const limit = deletesMax(known) + this.#deletesAccepted
    // A proof costs the source two queries for each record, so whether too many are missing is first asked of some of them.
    if (absent.length > limit && absent.length > proofSample)
      await this.#prove(spread(absent), absent, known, limit)
    const { gone, hidden } = await this.#prove(absent, absent, known, limit)
    this.status.hidden = hidden.length
    this.status.deleted += await this.copy.remove(gone)
    if (gone.length > deletesMax(known)) this.#deletesAccepted = 0
    this.state.newest = this.state.newest.filter(([key]) => !gone.includes(key))
  }

  /** Which of the keys are gone, and which hidden. Stops if that is too many, or would be for all that are absent. */
  async #prove(keys: readonly Key[], absent: readonly Key[], known: number, limit: number) {
    const found = await this.source.missing(keys)
    const share = absent.length / keys.length
    const [gone, hidden] = [found.gone, found.hidden].map((one) => Math.round(one.length * share))
    const about = share > 1 ? 'about ' : ''
    const { resource } = this.source
    if (hidden !== undefined && hidden > limit)
      throw new Stop(
        'rights_shrank',
        `The source still has ${about}${hidden} of ${known} ${resource} records, but no longer shows them: it has taken rights or a company from the connector's user.`,
        `Give the rights back. Or pass --allow-deletes ${absent.length} once: the records stay here, without changes.`,
      )
    if (gone !== undefined && gone > limit)
      throw new Stop(
        'too_many_deletes',
        `${about}${gone} of ${known} ${resource} records no longer exist in the source, and ${limit} is the most that is deleted without asking.`,
        `Look at them with plan. If they are to be deleted here, pass --allow-deletes ${absent.length} once.`,
      )
    return found
  }
}

/** Some of the keys, from all parts of the list. */
function spread(keys: readonly Key[]): readonly Key[] {
  const every = Math.ceil(keys.length / proofSample)
  return keys.filter((_, at) => at % every === 0)
}

const restoredWayOn =
  'If this is the database that you want, pass --accept-database once: everything is read again, and more than 1 % of deletes still needs --allow-deletes.'

function restored({ resource }: Source, { key }: SourceRow, what: string): Stop {
  return new Stop(
    'restored',
    `${resource} ${key} ${what}: the source was restored from a backup, or is another database.`,
    restoredWayOn,
  )
}

/** Pages that are read while the caller writes: on a busy machine, both sides pause now and then. */
const pagesAhead = 3

/** Every row. The next pages are requested while the caller writes this one. */
export async function* pagesOf(source: Source): AsyncGenerator<readonly SourceRow[], void, undefined> {
  let last: ReturnType<Source['after']> = source.after(undefined)
  const ahead = [last]
  const request = () => {
    last = last.then(async (page) => {
      const key = page.rows.at(-1)?.key
      return page.isLast || key === undefined ? { rows: [], isLast: true } : await source.after(key)
    })
    // If the caller stops before this page is awaited, its failure must not become an unhandled rejection.
    last.catch(() => undefined)
    ahead.push(last)
  }
  for (;;) {
    while (ahead.length < pagesAhead) request()
    const page = await ahead.shift()
    if (page === undefined) return
    const { rows, isLast } = page
    yield rows
    if (isLast) return
  }
}
