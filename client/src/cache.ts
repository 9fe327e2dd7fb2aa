import { limits } from './limits.ts'

/** An answer to keep: its text, and the ETag under which the service tells whether it still holds. */
export interface CacheEntry {
  readonly etag: string
  readonly body: string
}

/**
 * Where answers are kept. A kept answer is never used unasked: every request goes out with its ETag, and only a 304
 * brings the kept text back. So an entry cannot be stale, and may be lost at any time.
 */
export interface Cache {
  get(key: string): Promise<CacheEntry | undefined> | CacheEntry | undefined
  set(key: string, entry: CacheEntry): Promise<void> | void
}

/** In this process; what was used least recently goes first. */
export class MemoryCache implements Cache {
  readonly #entries = new Map<string, CacheEntry>()
  readonly #charactersMax: number
  #characters = 0

  constructor({ charactersMax = limits.cacheCharactersMax }: { charactersMax?: number } = {}) {
    this.#charactersMax = charactersMax
  }

  get(key: string): CacheEntry | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    // A Map keeps the order of insertion: what was used goes to its end.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry
  }

  set(key: string, entry: CacheEntry): void {
    this.#forget(key)
    if (sizeOf(key, entry) > this.#charactersMax) return
    this.#entries.set(key, entry)
    this.#characters += sizeOf(key, entry)
    for (const [oldest] of this.#entries) {
      if (this.#characters <= this.#charactersMax) return
      this.#forget(oldest)
    }
  }

  #forget(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#characters -= sizeOf(key, entry)
  }
}

function sizeOf(key: string, entry: CacheEntry): number {
  return key.length + entry.body.length + entry.etag.length
}
