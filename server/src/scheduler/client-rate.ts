import type { Limits } from '../limits/passed-limits.ts'

type RateLimits = Pick<Limits, 'slowClientWindowMs' | 'slowClientBytesPerSecondMin'>

/** Measures how fast a client reads an export or sends a batch, in windows of at least `slowClientWindowMs`. */
export class ClientRate {
  #windowStart = performance.now()
  /** Set while the operation waits for its client. */
  #waitingSince: number | undefined
  /** Within the window, as are the bytes. */
  #waitedMs = 0
  #bytes = 0
  #isSlow = false
  readonly #limits: RateLimits

  constructor(limits: RateLimits) {
    this.#limits = limits
  }

  waitStarted(): void {
    this.#waitingSince = performance.now()
  }

  /** The client has taken or sent this number of bytes. */
  waitEnded(bytes: number): void {
    this.#bytes += bytes
    this.#waitedMs += this.#waitingMs(performance.now())
    this.#waitingSince = undefined
  }

  /** A client is not slow if the operation mostly waits for the database, at any rate. */
  isSlow(): boolean {
    const now = performance.now()
    const ms = now - this.#windowStart
    if (ms < this.#limits.slowClientWindowMs) return this.#isSlow
    const waitedMs = this.#waitedMs + this.#waitingMs(now)
    this.#isSlow = waitedMs > ms / 2 && this.#bytes < (this.#limits.slowClientBytesPerSecondMin * ms) / 1000
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
