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
  /** Batches, and the items in them. */
  #inFlight = 0
  #itemsInFlight = 0

  constructor(options: BatchQueueOptions<Item>) {
    this.#options = options
  }

  /** Items that wait or are in flight. */
  get size(): number {
    return this.#waiting.length + this.#itemsInFlight
  }

  /** The item that has waited longest. */
  get oldest(): Item | undefined {
    return this.#waiting[0]
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
      const batch = this.#options.take(this.#waiting)
      this.#inFlight++
      this.#itemsInFlight += batch.length
      void this.#options.run(batch).finally(() => {
        this.#inFlight--
        this.#itemsInFlight -= batch.length
        this.#schedule()
      })
      this.#schedule()
    })
  }
}
