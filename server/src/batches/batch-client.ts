import { Failure } from '../errors/errors.ts'
import type { Limits } from '../limits/passed-limits.ts'
import { ClientRate } from '../scheduler/client-rate.ts'
import type { SeatHolder } from '../scheduler/fair-scheduler.ts'

/** The client of a batch. While it sends or reads too slowly, the batch gives way to one of another account that waits. */
export class BatchClient implements SeatHolder {
  readonly #rate: ClientRate
  readonly #bytesPerSecondMin: number
  /** Of the waits in progress: a compressed body is received while results are sent. */
  readonly #rejects = new Set<(failure: Failure) => void>()
  #failure: Failure | undefined

  constructor(limits: Limits) {
    this.#rate = new ClientRate(limits)
    this.#bytesPerSecondMin = limits.slowClientBytesPerSecondMin
  }

  isSlow(): boolean {
    return this.#rate.isSlow()
  }

  abort(): void {
    const failure = tooSlow(this.#bytesPerSecondMin)
    this.#failure = failure
    for (const reject of this.#rejects) reject(failure)
  }

  /** The body as it arrives. Not destroyed if the batch ends early: that would close the connection before the error is sent. */
  async *received(body: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
    for (;;) {
      const result = await this.waitFor(body.next(), ({ value }) => value?.length ?? 0)
      if (result.done === true) return
      yield result.value
    }
  }

  /** Waits for the client, and counts the bytes that it has sent or taken meanwhile. */
  async waitFor<Result>(waiting: Promise<Result>, bytesOf: (result: Result) => number): Promise<Result> {
    if (this.#failure !== undefined) throw this.#failure
    let stop: ((failure: Failure) => void) | undefined
    this.#rate.waitStarted()
    try {
      const result = await new Promise<Result>((resolve, reject) => {
        stop = reject
        this.#rejects.add(reject)
        waiting.then(resolve, reject)
      })
      this.#rate.waitEnded(bytesOf(result))
      return result
    } finally {
      if (stop !== undefined) this.#rejects.delete(stop)
    }
  }
}

function tooSlow(bytesPerSecondMin: number): Failure {
  return new Failure(
    'overloaded',
    `The batch was ended, because another account waited and this client sent or read less than ${bytesPerSecondMin / 1024} KB per second. ` +
      'Rows before it may have been written. Send the batch again, faster: what was written stays unchanged.',
  )
}
