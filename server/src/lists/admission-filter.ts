/** Approximate set of recently seen keys in constant memory: a later key can overwrite an earlier one, and keys can collide. */
export class AdmissionFilter {
  readonly #hashes: Uint32Array

  constructor(slots: number) {
    this.#hashes = new Uint32Array(slots)
  }

  /** Adds the key. Returns whether it was already in the set. */
  add(key: string): boolean {
    const hash = hashOf(key)
    const slot = hash % this.#hashes.length
    const wasSeen = this.#hashes[slot] === hash
    this.#hashes[slot] = hash
    return wasSeen
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
