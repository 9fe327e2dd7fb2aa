import { clientDisconnected, Failure, overloaded } from '../../errors.ts'
import type { Limits } from '../../limits.ts'

/** An export as its slot sees it. */
export interface SlotHolder {
  /** Whether it waited for its reader most of the last seconds, and got rid of little. */
  isReaderSlow(): boolean
  /** Ends it, which releases its slot. */
  giveUp(): void
}

export interface Slot {
  holder: SlotHolder | undefined
  release(): void
}

/**
 * The slots for exports, shared fairly: an account takes a second one only while another stays free, so that two
 * accounts never have all. If none is free, one export of an account waits for a while, and meanwhile exports that
 * are held up by slow readers lose their slots.
 */
export class ExportSlots {
  readonly #held = new Map<Slot, string>()
  /** By account, in the order in which they came. */
  readonly #waiting = new Map<string, () => void>()
  readonly #limits: Limits
  #look: NodeJS.Timeout | undefined

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** The caller releases it, once. */
  async take(accountId: string, signal: AbortSignal): Promise<Slot> {
    const ofAccount = this.#countOf(accountId)
    const free = this.#limits.exportsInFlightMax - this.#held.size - this.#waiting.size
    if (ofAccount >= this.#limits.accountExportsMax) throw tooManyOfAccount(ofAccount)
    if (ofAccount > 0 && free < 2) throw leftForOthers()
    if (this.#waiting.has(accountId)) throw leftForOthers()
    return free < 1 ? await this.#wait(accountId, signal) : this.#hold(accountId)
  }

  #countOf(accountId: string): number {
    let count = 0
    for (const holder of this.#held.values()) if (holder === accountId) count++
    return count
  }

  #hold(accountId: string): Slot {
    const slot: Slot = {
      holder: undefined,
      release: () => {
        this.#held.delete(slot)
        const [next] = this.#waiting.values()
        next?.()
      },
    }
    this.#held.set(slot, accountId)
    return slot
  }

  #wait(accountId: string, signal: AbortSignal): Promise<Slot> {
    if (this.#waiting.size >= this.#limits.exportsWaitingMax) throw overloaded()
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timeout)
        signal.removeEventListener('abort', abort)
        this.#waiting.delete(accountId)
        if (this.#waiting.size === 0) this.#stopLooking()
      }
      const refuse = (failure: Failure): void => {
        leave()
        reject(failure)
      }
      const timeout = setTimeout(() => refuse(overloaded()), this.#limits.exportWaitMsMax)
      const abort = (): void => refuse(clientDisconnected())
      signal.addEventListener('abort', abort)
      this.#waiting.set(accountId, () => {
        leave()
        resolve(this.#hold(accountId))
      })
      this.#look ??= setInterval(() => this.#endSlowOnes(), this.#limits.exportCheckMs)
    })
  }

  #stopLooking(): void {
    clearInterval(this.#look)
    this.#look = undefined
  }

  /** As many as others wait for; first those of accounts that have two. */
  #endSlowOnes(): void {
    const slow: { readonly holder: SlotHolder; readonly ofAccount: number }[] = []
    for (const [{ holder }, accountId] of this.#held) {
      if (holder?.isReaderSlow() === true) slow.push({ holder, ofAccount: this.#countOf(accountId) })
    }
    slow.sort((one, other) => other.ofAccount - one.ofAccount)
    for (const { holder } of slow.slice(0, this.#waiting.size)) holder.giveUp()
  }
}

function tooManyOfAccount(count: number): Failure {
  return new Failure(
    'export_limit',
    `This account has ${count} exports running, the most that an account may have. Wait for one to finish.`,
  )
}

function leftForOthers(): Failure {
  return new Failure(
    'export_limit',
    'This account has an export running or waiting, and the last free slot is left for other accounts. ' +
      'Wait for it to finish.',
  )
}
