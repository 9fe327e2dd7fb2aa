/** A read in flight, and the number of requests that wait for it. */
interface Flight<Result> {
  readonly key: string
  readonly abort: AbortController
  readonly result: Promise<Result>
  waiting: number
}

/** The client that waits for a response: in production, Node's ServerResponse. */
export interface Caller {
  readonly destroyed: boolean
  once(event: 'close', listener: () => void): unknown
  off(event: 'close', listener: () => void): unknown
}

/** Requests with the same key share one read, which is aborted when all of their clients have disconnected. */
export class SharedReads<Result> {
  readonly #inFlight = new Map<string, Flight<Result>>()

  join(key: string, read: (signal: AbortSignal) => Promise<Result>, caller: Caller): Promise<Result> {
    return this.#wait(this.#inFlight.get(key) ?? this.#begin(key, read), caller)
  }

  #begin(key: string, read: (signal: AbortSignal) => Promise<Result>): Flight<Result> {
    const abort = new AbortController()
    const flight: Flight<Result> = { key, abort, result: read(abort.signal), waiting: 0 }
    this.#inFlight.set(key, flight)
    const end = () => this.#end(flight)
    flight.result.then(end, end)
    return flight
  }

  async #wait(flight: Flight<Result>, caller: Caller): Promise<Result> {
    const leave = () => {
      flight.waiting--
      if (flight.waiting > 0) return
      // Remove the read first, so that no later request joins a read that is being aborted.
      this.#end(flight)
      flight.abort.abort()
    }
    flight.waiting++
    if (caller.destroyed) leave()
    else caller.once('close', leave)
    try {
      return await flight.result
    } finally {
      caller.off('close', leave)
    }
  }

  #end(flight: Flight<Result>): void {
    if (this.#inFlight.get(flight.key) === flight) this.#inFlight.delete(flight.key)
  }
}
