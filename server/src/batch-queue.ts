export interface BatchQueueOptions<Item> {
  readonly inFlightMax: number
  /** Removes the next batch from what waits, at least one item. */
  readonly take: (waiting: Item[]) => Item[]
  /** Never rejects. */
  readonly run: (batch: readonly Item[]) => Promise<void>
}

/**
 * Runs what was added in an iteration of the event loop together. While `inFlightMax` batches are in flight, items queue up, so
 * the busier the process is, the larger its batches are.
 */
export class BatchQueue<Item> {
  readonly #options: BatchQueueOptions<Item>
  readonly #waiting: Item[] = []
  #isScheduled = false
  #inFlight = 0

  constructor(options: BatchQueueOptions<Item>) {
    this.#options = options
  }

  add(item: Item): void {
    this.#waiting.push(item)
    this.#schedule()
  }

  #schedule(): void {
    const isFull = this.#inFlight >= this.#options.inFlightMax
    if (this.#isScheduled || isFull || this.#waiting.length === 0) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#inFlight++
      void this.#options.run(this.#options.take(this.#waiting)).finally(() => {
        this.#inFlight--
        this.#schedule()
      })
      this.#schedule()
    })
  }
}
