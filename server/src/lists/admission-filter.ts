/**
 * What came of late, roughly and in little room: a table of hashes, where each place belongs to the last that fell on it.
 * It may forget early, and once in a while take one for another.
 */
export class AdmissionFilter {
  readonly #hashes: Uint32Array

  constructor(places: number) {
    this.#hashes = new Uint32Array(places)
  }

  /** Whether this came before. From now on it did. */
  note(text: string): boolean {
    const hash = hashOf(text)
    const place = hash % this.#hashes.length
    const isKnown = this.#hashes[place] === hash
    this.#hashes[place] = hash
    return isKnown
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
