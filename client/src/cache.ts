import { limits } from './limits.ts'

/** A cached response: its body, and the ETag by which the service decides whether it is still current. */
export interface CacheEntry {
  readonly etag: string
  readonly body: string
}

/**
 * Stores responses. Every request is sent with the ETag of its cached response, and the cached body is used only after
 * a 304. So a cached response is never stale, and a cache may drop entries at any time.
 */
export interface Cache {
  get(key: string): Promise<CacheEntry | undefined> | CacheEntry | undefined
  set(key: string, entry: CacheEntry): Promise<void> | void
}

/** A cache in memory, with least-recently-used eviction. */
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
    // A Map iterates in insertion order: insert again, so that the entry is the most recently used.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry
  }

  set(key: string, entry: CacheEntry): void {
    this.#delete(key)
    if (sizeOf(key, entry) > this.#charactersMax) return
    this.#entries.set(key, entry)
    this.#characters += sizeOf(key, entry)
    for (const [oldest] of this.#entries) {
      if (this.#characters <= this.#charactersMax) return
      this.#delete(oldest)
    }
  }

  #delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#characters -= sizeOf(key, entry)
  }
}

function sizeOf(key: string, entry: CacheEntry): number {
  return key.length + entry.body.length + entry.etag.length
}
