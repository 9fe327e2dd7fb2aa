import type { Limits } from '../../limits/limits.ts'

/** Measures how fast a client reads its export, in windows of at least `exportReaderWindowMs`. */
export class ReaderThroughput {
  #windowStart = performance.now()
  /** Set while the export waits for its reader. */
  #waitingSince: number | undefined
  /** Within the window, as are the bytes. */
  #waitedMs = 0
  #bytes = 0
  #isSlow = false
  readonly #limits: Pick<Limits, 'exportReaderWindowMs' | 'exportReaderBytesPerSecondMin'>

  constructor(limits: Pick<Limits, 'exportReaderWindowMs' | 'exportReaderBytesPerSecondMin'>) {
    this.#limits = limits
  }

  waitStarted(): void {
    this.#waitingSince = performance.now()
  }

  chunkTaken(bytes: number): void {
    this.#bytes += bytes
    this.#waitedMs += this.#waitingMs(performance.now())
    this.#waitingSince = undefined
  }

  /** A reader is not slow if the export mostly waits for the database, at any rate. */
  isSlow(): boolean {
    const now = performance.now()
    const ms = now - this.#windowStart
    if (ms < this.#limits.exportReaderWindowMs) return this.#isSlow
    const waitedMs = this.#waitedMs + this.#waitingMs(now)
    this.#isSlow = waitedMs > ms / 2 && this.#bytes < (this.#limits.exportReaderBytesPerSecondMin * ms) / 1000
    this.#windowStart = now
    this.#waitedMs = 0
    this.#bytes = 0
    if (this.#waitingSince !== undefined) this.#waitingSince = now
    return this.#isSlow
  }

  #waitingMs(now: number): number {
    return this.#waitingSince === undefined ? 0 : now - this.#waitingSince
  }
}
