import { LRUCache } from 'lru-cache'
import type { Check } from '../accounts/checks.ts'
import { limits } from '../limits.ts'
import { SeenBefore } from '../seen-before.ts'
import { HangUp } from '../store/hang-up.ts'
import { isSameState, type TallyState } from '../tally-state.ts'
import type { Answer } from './answer.ts'

/** A read that some wait for together. */
interface Flight {
  readonly name: string
  readonly hangUp: HangUp
  readonly answer: Promise<Answer>
  waiting: number
}

/** Who waits for an answer: its connection, or what stands for it. */
export interface Caller {
  readonly destroyed: boolean
  once(event: 'close', then: () => void): unknown
  off(event: 'close', then: () => void): unknown
}

/**
 * Answers by account and request, each with the version that it shows. One is used only when a check made after the
 * request arrived found that version current, so none is ever stale, on any number of processes, and nobody has to
 * tell anybody that something changed.
 *
 * Once there is no room left, only what is asked for a second time is kept: a walk through a million records would
 * otherwise drive out what others ask every minute.
 */
export class Answers {
  readonly #kept = new LRUCache<string, Answer>({
    maxSize: limits.answersBytesMax,
    maxEntrySize: limits.answerBytesMax,
    sizeCalculation: sizeOf,
  })
  readonly #newcomers = new SeenBefore(limits.answersSeen)
  readonly #underWay = new Map<string, Flight>()

  /**
   * The answer at the version of the check, or a newer one from `read`. Who asks the same meanwhile shares it, and when
   * all of them have hung up, it is given up.
   */
  get(
    check: Check & { readonly tally: TallyState },
    mark: string,
    read: (hangUp: HangUp) => Promise<Answer>,
    caller: Caller,
  ): Answer | Promise<Answer> {
    const { epoch, version, xid } = check.tally
    const place = `${check.access.accountId} ${mark}`
    const kept = this.#kept.get(place)
    if (kept !== undefined && isSameState(kept, check.tally)) return kept
    const name = `${epoch} ${version} ${xid} ${place}`
    const flight = this.#underWay.get(name) ?? this.#begin(name, place, read)
    return this.#wait(flight, caller)
  }

  #begin(name: string, place: string, read: (hangUp: HangUp) => Promise<Answer>): Flight {
    const hangUp = new HangUp()
    const flight: Flight = { name, hangUp, answer: this.#keep(place, read(hangUp)), waiting: 0 }
    this.#underWay.set(name, flight)
    const end = () => this.#end(flight)
    flight.answer.then(end, end)
    return flight
  }

  async #keep(place: string, reading: Promise<Answer>): Promise<Answer> {
    const answer = await reading
    if (this.#kept.has(place) || this.#hasRoomFor(answer, place) || this.#newcomers.note(place)) {
      this.#kept.set(place, answer)
    }
    return answer
  }

  #hasRoomFor(answer: Answer, place: string): boolean {
    return this.#kept.calculatedSize + sizeOf(answer, place) <= limits.answersBytesMax
  }

  async #wait(flight: Flight, caller: Caller): Promise<Answer> {
    const leave = () => {
      flight.waiting--
      if (flight.waiting > 0) return
      // Nobody joins what is given up.
      this.#end(flight)
      flight.hangUp.up()
    }
    flight.waiting++
    if (caller.destroyed) leave()
    else caller.once('close', leave)
    try {
      return await flight.answer
    } finally {
      caller.off('close', leave)
    }
  }

  #end(flight: Flight): void {
    if (this.#underWay.get(flight.name) === flight) this.#underWay.delete(flight.name)
  }
}

/** Twice the body: it may be kept compressed, too. The rest is the entry itself. */
function sizeOf(answer: Answer, place: string): number {
  return answer.bytes * 2 + place.length * 2 + 400
}
