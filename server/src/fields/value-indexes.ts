import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { Database } from '../postgres/database.ts'
import type { AccountScope } from '../scope.ts'
import { writeNextValues } from './value-steps.ts'

interface Work {
  readonly scope: AccountScope
  readonly resource: Resource
}

/** What a filter has to know of the table of values. */
export interface ValuesState {
  readonly dense: ReadonlySet<string>
}

/**
 * The tables of values, which answer filters on declared fields in accounts with many records. Such a filter has the values written that
 * are missing: in the background, one step after the other, one account in turn, for at most half of the time. Accounts without such
 * filters have none. Several processes may try, and a lock lets one of them.
 */
export class ValueIndexes {
  readonly #database: Database
  readonly #emit: EmitEvent
  readonly #recordsMin: number
  /** Complete, when this process has last looked. */
  readonly #known = new LRUCache<string, ValuesState>({ max: limits.valueIndexesKnown })
  readonly #waiting = new Map<string, Work>()
  readonly #closing = new AbortController()
  #running: Promise<void> | undefined

  constructor(database: Database, emit: EmitEvent, { indexedRecordsMin }: Pick<Limits, 'indexedRecordsMin'>) {
    this.#database = database
    this.#emit = emit
    this.#recordsMin = indexedRecordsMin
  }

  /** Undefined if a filter must be evaluated for each record. Then its values are written, if the records are many. */
  of(scope: AccountScope, resource: Resource, records: number): ValuesState | undefined {
    if (records < this.#recordsMin) return undefined
    const known = this.#known.get(nameOf(scope, resource))
    if (known === undefined) this.#add({ scope, resource })
    return known
  }

  /** A filter has found this number of outdated values; null: it could not use the table. */
  found(scope: AccountScope, resource: Resource, stale: number | null): void {
    if (stale === null || stale > limits.staleValuesMax) this.#known.delete(nameOf(scope, resource))
    if (stale === null || stale > limits.staleValuesMin) this.#add({ scope, resource })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  #add(work: Work): void {
    const name = nameOf(work.scope, work.resource)
    if (this.#closing.signal.aborted || this.#waiting.size >= limits.valueIndexesWaiting) return
    this.#waiting.set(name, work)
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  async #run(): Promise<void> {
    for (;;) {
      const [next] = this.#waiting
      if (next === undefined || this.#closing.signal.aborted) return
      const [name, work] = next
      this.#waiting.delete(name)
      const started = performance.now()
      const goesOn = await this.#step(name, work).catch((error: unknown) => {
        // The next filter tries again.
        this.#emit({ kind: 'values-unwritten', error })
        return false
      })
      if (goesOn) this.#waiting.set(name, work)
      const pauseMs = Math.max(performance.now() - started, limits.valuePauseMsMin)
      await sleep(pauseMs, undefined, { signal: this.#closing.signal }).catch(() => {})
    }
  }

  async #step(name: string, { scope, resource }: Work): Promise<boolean> {
    const { state, dense } = await this.#database.writeTo(scope, (transaction) =>
      writeNextValues(transaction, scope, resource),
    )
    if (state === 'done') this.#known.set(name, { dense })
    return state !== 'done'
  }
}

function nameOf({ accountId }: AccountScope, { name }: Resource): string {
  return `${accountId} ${name}`
}
