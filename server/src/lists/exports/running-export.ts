import { clientDisconnected, Failure } from '../../errors/errors.ts'
import type { Limits } from '../../limits/passed-limits.ts'
import { failureOf } from '../../postgres/sqlstate.ts'
import { ClientRate } from '../../scheduler/client-rate.ts'
import type { SeatHolder } from '../../scheduler/fair-scheduler.ts'
import type { Tally, TallyState } from '../../tally-state.ts'
import type { ExportConnection, ExportConnections, ExportHolder } from './export-connections.ts'
import type { ExportRequest, StartedExport } from './export-copy.ts'

export interface RunningOptions {
  readonly msMax: number
  readonly limits: Limits
  /** Whether a record was erased that the export may contain. */
  readonly isErased: (request: ExportRequest, version: string) => Promise<boolean>
  /** Releases the seat of the export. */
  readonly release: () => void
}

/** One export with its connection. A timer ends it if it takes too long or makes no progress. */
export class RunningExport implements TallyState, SeatHolder, ExportHolder {
  readonly #connections: ExportConnections
  readonly #release: () => void
  /** Undefined before it is started. */
  #connection: ExportConnection | undefined
  readonly #timer: NodeJS.Timeout
  #started: StartedExport | undefined
  readonly #reader: ClientRate
  #progressAt = performance.now()
  #isComplete = false
  #isEnded = false
  #request: ExportRequest | undefined
  #isChecking = false
  /** Called if a record is erased that it may contain, so that not even the buffers are sent. */
  onErased: ((failure: Failure) => void) | undefined
  /** Why the service aborted it. */
  #abortReason: Failure | undefined

  constructor(connections: ExportConnections, { msMax, limits, isErased, release }: RunningOptions) {
    this.#connections = connections
    this.#release = release
    this.#reader = new ClientRate(limits)
    const endAt = performance.now() + msMax
    this.#timer = setInterval(
      () => {
        void this.#endIfErased(isErased)
        const now = performance.now()
        const stalled = now - this.#progressAt > limits.exportStallMsMax
        if (now < endAt && !stalled) return
        this.#abortReason = stalled
          ? aborted(`It made no progress for ${limits.exportStallMsMax / 1000} s.`)
          : aborted('It exceeded its timeout.')
        this.end()
      },
      Math.min(1000, msMax),
    )
    this.#timer.unref()
  }

  /** Resolves when the first records are available. `tally`: as read by the verification. */
  async start(request: ExportRequest, tally: Tally): Promise<void> {
    try {
      this.#request = request
      this.#started = await this.#connections.start(request, tally, this)
    } catch (error) {
      throw this.#failureOf(error)
    }
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  use(connection: ExportConnection): void {
    this.#connection = connection
    if (!this.#isEnded) return
    connection.release(true)
    throw clientDisconnected()
  }

  get epoch(): string {
    return this.#running.epoch
  }

  get version(): string {
    return this.#running.version
  }

  get xid(): string {
    return this.#running.xid
  }

  get lineages(): string {
    return this.#running.lineages
  }

  get total(): number {
    return this.#running.total
  }

  get chunks(): AsyncIterable<Buffer> {
    return this.#measuredChunks()
  }

  async finish(): Promise<number> {
    try {
      const count = await this.#running.finish()
      this.#isComplete = true
      return count
    } catch (error) {
      throw this.#failureOf(error)
    } finally {
      this.end()
    }
  }

  async *#measuredChunks(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.#running.chunks) {
        this.#reader.waitStarted()
        yield chunk
        this.#reader.waitEnded(chunk.length)
        this.#progressAt = performance.now()
      }
    } catch (error) {
      throw this.#failureOf(error)
    }
  }

  /** If the database does not answer, the next check does. */
  async #endIfErased(isErased: RunningOptions['isErased']): Promise<void> {
    const [request, started] = [this.#request, this.#started]
    if (request === undefined || started === undefined || this.#isChecking) return
    this.#isChecking = true
    const wasErased = await isErased(request, started.version).catch(() => false)
    this.#isChecking = false
    if (!wasErased || this.#isEnded) return
    this.#abortReason = aborted('A record was erased that it may contain. Start it again.', '')
    this.end()
    this.onErased?.(this.#abortReason)
  }

  isSlow(): boolean {
    return this.#reader.isSlow()
  }

  abort(): void {
    this.#abortReason = aborted('The client read it too slowly while another account waited for an export.')
    this.end()
  }

  /** The service aborted the export, the client disconnected, or the database failed. */
  #failureOf(error: unknown): Failure {
    if (this.#abortReason !== undefined) return this.#abortReason
    if (this.#isEnded) return clientDisconnected(error)
    this.end()
    return failureOf(error)
  }

  /** Can be called at any time, also twice. Closes the connection of an incomplete export, which cancels its statement. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearInterval(this.#timer)
    this.#connection?.release(!this.#isComplete)
    this.#release()
  }

  get #running(): StartedExport {
    if (this.#started === undefined) throw new Error('the export was not started')
    return this.#started
  }
}

function aborted(reason: string, advice = ' Narrow the filter, or read the response faster.'): Failure {
  return new Failure('deadline_exceeded', `The export was aborted. ${reason}${advice}`)
}
