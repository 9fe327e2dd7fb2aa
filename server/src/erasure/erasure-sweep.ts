import type { Limits } from '../limits/passed-limits.ts'
import type { Database } from '../postgres/database.ts'
import type { Transaction } from '../postgres/transaction.ts'
import { type Erasure, openErasures } from './erasure.ts'
import { searchErased } from './finish-erasure.ts'

/** Continues erasures that have not finished. Every process sweeps: a search that two of them run finds nothing the second time. */
export class ErasureSweep {
  readonly #database: Database
  readonly #limits: Pick<Limits, 'erasureSweepMs' | 'erasureSettleMs'>
  /** Erasures that this process has searched for once. The next search is the last one. */
  readonly #searched = new Set<string>()
  #sweptAt = Number.NEGATIVE_INFINITY

  constructor(database: Database, limits: Pick<Limits, 'erasureSweepMs' | 'erasureSettleMs'>) {
    this.#database = database
    this.#limits = limits
  }

  /** Does nothing until the next sweep is due. */
  async run(): Promise<void> {
    const { erasureSweepMs, erasureSettleMs } = this.#limits
    if (performance.now() - this.#sweptAt < erasureSweepMs) return
    this.#sweptAt = performance.now()
    const open = await this.#database.write((transaction) =>
      transaction.run<Erasure>(openErasures(erasureSettleMs)),
    )
    const names = open.map(nameOf)
    for (const name of this.#searched) if (!names.includes(name)) this.#searched.delete(name)
    for (const [i, erasure] of open.entries()) {
      const name = names[i] ?? ''
      if (this.#searched.has(name) && !erasure.isSettled) continue
      const write = <T>(work: (transaction: Transaction) => Promise<T>) =>
        this.#database.writeTo(erasure, work)
      await searchErased(write, erasure)
      this.#searched.add(name)
    }
  }
}

function nameOf({ accountId, resource, id, requestedAt }: Erasure): string {
  return `${accountId} ${resource} ${id} ${requestedAt.getTime()}`
}
