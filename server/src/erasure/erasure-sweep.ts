import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../errors/errors.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { Database } from '../postgres/database.ts'
import { isDatabaseError } from '../postgres/sqlstate.ts'
import { type Erasure, openErasures } from './erasure.ts'
import { searchErased, type Write } from './finish-erasure.ts'

/** Continues erasures that have not finished. Every process sweeps: a search that two of them run finds nothing the second time. */
export class ErasureSweep {
  readonly #database: Database
  readonly #limits: Pick<Limits, 'erasureSweepMs' | 'erasureSettleMs'>
  /** Erasures that this process has searched for once. The next search is the last one. */
  readonly #searched = new Set<string>()
  #sweptAt = Number.NEGATIVE_INFINITY
  #sweeping = false
  #failure: unknown

  constructor(database: Database, limits: Pick<Limits, 'erasureSweepMs' | 'erasureSettleMs'>) {
    this.#database = database
    this.#limits = limits
  }

  /**
   * Begins a sweep if the next one is due, and does not wait for it: a search through long logs takes minutes, in which new entries must be
   * written. Throws what made the one before fail, unless the database was unavailable.
   */
  async run(): Promise<void> {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
    if (this.#sweeping || performance.now() - this.#sweptAt < this.#limits.erasureSweepMs) return
    this.#sweeping = true
    void this.#sweep()
      .catch((error: unknown) => {
        // An unavailable database is reported by the requests that need it. The next sweep continues.
        const isUnavailable = error instanceof Failure && error.code !== 'internal' && !isDatabaseError(error)
        if (!isUnavailable) this.#failure = error
      })
      .finally(() => {
        this.#sweeping = false
        this.#sweptAt = performance.now()
      })
  }

  async #sweep(): Promise<void> {
    const { erasureSettleMs } = this.#limits
    const open = await this.#database.write((transaction) =>
      transaction.run<Erasure>(openErasures(erasureSettleMs)),
    )
    const names = open.map(nameOf)
    for (const name of this.#searched) if (!names.includes(name)) this.#searched.delete(name)
    for (const [i, erasure] of open.entries()) {
      const name = names[i] ?? ''
      if (this.#searched.has(name) && !erasure.isSettled) continue
      await searchErased(this.#writerOf(erasure), erasure)
      this.#searched.add(name)
    }
  }

  /** Rests after each step for as long as it took, so that requests have at least half of the time. */
  #writerOf(erasure: Erasure): Write {
    return async (work) => {
      const start = performance.now()
      try {
        return await this.#database.writeTo(erasure, work)
      } finally {
        await sleep(performance.now() - start)
      }
    }
  }
}

function nameOf({ accountId, resource, id, requestedAt }: Erasure): string {
  return `${accountId} ${resource} ${id} ${requestedAt.getTime()}`
}
