import { LRUCache } from 'lru-cache'
import { limits } from '../limits.ts'

/**
 * Names for statements worth keeping prepared: those whose best plan does not depend on their values, and whose text
 * comes again. A connection keeps what was once prepared, so there are only so many names in a process's life.
 */
export class PreparedNames {
  readonly #names = new Map<string, string>()
  readonly #seen = new LRUCache<string, number>({ max: limits.preparedCandidates })

  nameOf(text: string): string | undefined {
    const name = this.#names.get(text)
    if (name !== undefined) return name
    if (this.#names.size >= limits.preparedMax) return undefined
    const seen = (this.#seen.get(text) ?? 0) + 1
    if (seen < limits.preparedSightings) {
      this.#seen.set(text, seen)
      return undefined
    }
    this.#seen.delete(text)
    const given = `q${this.#names.size + 1}`
    this.#names.set(text, given)
    return given
  }
}
