import { clientDisconnected, Failure, overloaded } from '../../errors/errors.ts'
import type { Limits } from '../../limits/limits.ts'

/** The export that occupies a slot. */
export interface SlotHolder {
  /** Whether it mostly waited for its reader in the last window, and sent less than the minimum rate. */
  isReaderSlow(): boolean
  /** Aborts the export, which releases its slot. */
  abort(): void
}

export interface Slot {
  holder: SlotHolder | undefined
  release(): void
}

/**
 * A concurrency limiter for exports that is fair to accounts. An account gets a second slot only if another one remains
 * free, so that two accounts cannot occupy all. If no slot is free, one export per account waits in a queue with a
 * timeout; meanwhile exports with slow readers are aborted.
 */
export class ExportSlots {
  /** The accounts of the occupied slots. */
  readonly #occupied = new Map<Slot, string>()
  /** By account, in order of arrival. */
  readonly #waiting = new Map<string, () => void>()
  readonly #limits: Limits
  #sweep: NodeJS.Timeout | undefined

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** The caller must release the slot, once. */
  async acquire(accountId: string, signal: AbortSignal): Promise<Slot> {
    const accountExports = this.#countOf(accountId)
    const free = this.#limits.exportsInFlightMax - this.#occupied.size - this.#waiting.size
    if (accountExports >= this.#limits.accountExportsMax) throw tooManyExports(accountExports)
    if (accountExports > 0 && free < 2) throw reservedForOthers()
    if (this.#waiting.has(accountId)) throw reservedForOthers()
    return free < 1 ? await this.#wait(accountId, signal) : this.#occupy(accountId)
  }

  #countOf(accountId: string): number {
    let count = 0
    for (const occupant of this.#occupied.values()) if (occupant === accountId) count++
    return count
  }

  #occupy(accountId: string): Slot {
    const slot: Slot = {
      holder: undefined,
      release: () => {
        this.#occupied.delete(slot)
        const [next] = this.#waiting.values()
        next?.()
      },
    }
    this.#occupied.set(slot, accountId)
    return slot
  }

  #wait(accountId: string, signal: AbortSignal): Promise<Slot> {
    if (this.#waiting.size >= this.#limits.exportsWaitingMax) throw overloaded()
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timeout)
        signal.removeEventListener('abort', abort)
        this.#waiting.delete(accountId)
        if (this.#waiting.size === 0) this.#stopSweep()
      }
      const fail = (failure: Failure): void => {
        leave()
        reject(failure)
      }
      const timeout = setTimeout(() => fail(overloaded()), this.#limits.exportWaitMsMax)
      const abort = (): void => fail(clientDisconnected())
      signal.addEventListener('abort', abort)
      this.#waiting.set(accountId, () => {
        leave()
        resolve(this.#occupy(accountId))
      })
      this.#sweep ??= setInterval(() => this.#abortSlowExports(), this.#limits.exportCheckMs)
    })
  }

  #stopSweep(): void {
    clearInterval(this.#sweep)
    this.#sweep = undefined
  }

  /** Aborts at most one for each waiting export; first those of accounts with two. */
  #abortSlowExports(): void {
    const slow: { readonly holder: SlotHolder; readonly accountExports: number }[] = []
    for (const [{ holder }, accountId] of this.#occupied) {
      if (holder?.isReaderSlow() === true) slow.push({ holder, accountExports: this.#countOf(accountId) })
    }
    slow.sort((one, other) => other.accountExports - one.accountExports)
    for (const { holder } of slow.slice(0, this.#waiting.size)) holder.abort()
  }
}

function tooManyExports(count: number): Failure {
  return new Failure(
    'export_limit',
    `This account has ${count} exports running, the maximum for an account. Wait for one to finish.`,
  )
}

function reservedForOthers(): Failure {
  return new Failure(
    'export_limit',
    'This account has an export running or waiting, and the last free slot is reserved for other accounts. ' +
      'Wait for it to finish.',
  )
}
