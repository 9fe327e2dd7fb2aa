import type { Limits } from '../../limits.ts'

/** How fast the reader of an export takes it, by what it took since it was last judged. */
export class ReaderThroughput {
  #judgedAt = performance.now()
  /** Since when the export waits for its reader. */
  #waitsSince: number | undefined
  /** Since it was last judged. */
  #waitedMs = 0
  #bytes = 0
  #isSlow = false
  readonly #limits: Pick<Limits, 'exportReaderWindowMs' | 'exportReaderBytesPerSecondMin'>

  constructor(limits: Pick<Limits, 'exportReaderWindowMs' | 'exportReaderBytesPerSecondMin'>) {
    this.#limits = limits
  }

  waits(): void {
    this.#waitsSince = performance.now()
  }

  took(bytes: number): void {
    this.#bytes += bytes
    this.#waitedMs += this.#waitingMs(performance.now())
    this.#waitsSince = undefined
  }

  /** Not slow is a reader for whom the database looks for records, however few they are. */
  isSlow(): boolean {
    const now = performance.now()
    const ms = now - this.#judgedAt
    if (ms < this.#limits.exportReaderWindowMs) return this.#isSlow
    const waitedMs = this.#waitedMs + this.#waitingMs(now)
    this.#isSlow = waitedMs > ms / 2 && this.#bytes < (this.#limits.exportReaderBytesPerSecondMin * ms) / 1000
    this.#judgedAt = now
    this.#waitedMs = 0
    this.#bytes = 0
    if (this.#waitsSince !== undefined) this.#waitsSince = now
    return this.#isSlow
  }

  #waitingMs(now: number): number {
    return this.#waitsSince === undefined ? 0 : now - this.#waitsSince
  }
}
