/** Counters that several processes share: in Redis, or in the primary of `serve --processes`. */
export interface CounterStore {
  /** Whether `add` can be called. If not, counts stay in the process until it can. */
  readonly isAvailable: boolean
  /**
   * Adds an amount to each counter. Returns two numbers for each: its total, and the milliseconds until its window ends.
   * A window begins when a process first adds to the counter.
   */
  add(names: readonly string[], amounts: readonly number[]): Promise<readonly number[]>
  close(): void
}

/** Uses Redis, which all machines share; and while Redis is unavailable, the counters of this machine's primary. */
export class FallbackCounters implements CounterStore {
  readonly #preferred: CounterStore
  readonly #fallback: CounterStore

  constructor(preferred: CounterStore, fallback: CounterStore) {
    this.#preferred = preferred
    this.#fallback = fallback
  }

  get isAvailable(): boolean {
    return this.#preferred.isAvailable || this.#fallback.isAvailable
  }

  add(names: readonly string[], amounts: readonly number[]): Promise<readonly number[]> {
    return (this.#preferred.isAvailable ? this.#preferred : this.#fallback).add(names, amounts)
  }

  close(): void {
    this.#preferred.close()
    this.#fallback.close()
  }
}
