import { LRUCache } from 'lru-cache'
import type { Check } from '../accounts/checks.ts'
import { limits } from '../limits.ts'
import { isSameState, type TallyState } from '../tally-state.ts'
import type { Answer } from './answer.ts'

/**
 * Answers by account and request, each with the version that it shows. One is used only when a check made after the
 * request arrived found that version current, so none is ever stale, on any number of processes, and nobody has to
 * tell anybody that something changed.
 */
export class Answers {
  readonly #kept = new LRUCache<string, Answer>({
    maxSize: limits.answersBytesMax,
    maxEntrySize: limits.answerBytesMax,
    // Twice the body: it may be kept compressed, too. The rest is the entry itself.
    sizeCalculation: (answer, key) => answer.bytes * 2 + key.length * 2 + 400,
  })
  readonly #underWay = new Map<string, Promise<Answer>>()

  /** The answer at the version of the check, or a newer one from `read`. Who asks the same meanwhile shares it. */
  async get(
    check: Check & { readonly tally: TallyState },
    key: string,
    read: () => Promise<Answer>,
  ): Promise<Answer> {
    const { history, version } = check.tally
    const place = `${check.access.accountId} ${key}`
    const kept = this.#kept.get(place)
    if (kept !== undefined && isSameState(kept, check.tally)) return kept
    const flight = `${history} ${version} ${place}`
    const underWay = this.#underWay.get(flight)
    if (underWay !== undefined) return underWay
    const reading = read().finally(() => this.#underWay.delete(flight))
    this.#underWay.set(flight, reading)
    const answer = await reading
    this.#kept.set(place, answer)
    return answer
  }
}
