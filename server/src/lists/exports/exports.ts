import type pg from 'pg'
import type { ResourceName } from '../../catalog/resources.ts'
import { clientDisconnected, Failure } from '../../errors.ts'
import type { Limits } from '../../limits.ts'
import { ConnectionPool } from '../../postgres/connection-pool.ts'
import { type ServingIdentity, servingConnection } from '../../postgres/connections.ts'
import type { Primary } from '../../postgres/primary/primary.ts'
import { failingOver, failureOf } from '../../postgres/sqlstate.ts'
import type { AccountScope } from '../../scope.ts'
import type { Statement } from '../../sql.ts'
import type { TallyState } from '../../tally-state.ts'
import { type StartedExport, startExport } from './export-copy.ts'
import { ExportSlots, type SlotHolder } from './export-slots.ts'
import { ReaderThroughput } from './reader-throughput.ts'

/** PostgreSQL checks every second that the service is still connected, and otherwise cancels the COPY. */
const settings = { client_connection_check_interval: '1s' }

/** Exports have a connection pool of their own, so that lists never wait for them. */
export class Exports {
  readonly #primary: Primary
  readonly #pool: ConnectionPool
  readonly #msMax: number
  readonly #limits: Limits
  readonly #slots: ExportSlots

  constructor(
    primary: Primary,
    options: ServingIdentity & { readonly msMax: number; readonly limits: Limits },
  ) {
    this.#primary = primary
    this.#msMax = options.msMax
    this.#limits = options.limits
    this.#slots = new ExportSlots(options.limits)
    this.#pool = new ConnectionPool(primary, {
      name: 'exports',
      max: options.limits.exportsInFlightMax,
      waitMsMax: options.limits.readWaitMsMax,
      config: servingConnection(options, { application_name: 'quartermaster export', settings }),
    })
  }

  /** Acquires a slot and a connection for an export that the caller starts. The caller must end it. */
  async acquire(scope: AccountScope, signal: AbortSignal): Promise<RunningExport> {
    const slot = await this.#slots.acquire(scope.accountId, signal)
    try {
      const client = await this.#pool.acquire()
      const release = (isBroken: boolean) => {
        this.#pool.release(client, isBroken)
        slot.release()
      }
      const running = new RunningExport(this.#primary, client, {
        msMax: this.#msMax,
        limits: this.#limits,
        release,
      })
      slot.holder = running
      return running
    } catch (error) {
      slot.release()
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }
}

interface RunningOptions {
  readonly msMax: number
  readonly limits: Limits
  readonly release: (isBroken: boolean) => void
}

/** One export with its connection. A timer ends it if it takes too long or makes no progress. */
export class RunningExport implements TallyState, SlotHolder {
  readonly #primary: Primary
  readonly #client: pg.Client
  readonly #release: (isBroken: boolean) => void
  readonly #timer: NodeJS.Timeout
  #started: StartedExport | undefined
  readonly #reader: ReaderThroughput
  #progressAt = performance.now()
  #isComplete = false
  #isEnded = false
  /** Why the service aborted it. */
  #abortReason: Failure | undefined

  constructor(primary: Primary, client: pg.Client, { msMax, limits, release }: RunningOptions) {
    this.#primary = primary
    this.#client = client
    this.#release = release
    this.#reader = new ReaderThroughput(limits)
    const endAt = performance.now() + msMax
    this.#timer = setInterval(
      () => {
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

  /** Resolves when the first records are available. */
  async start(scope: AccountScope, resource: ResourceName, copy: Statement): Promise<void> {
    try {
      const started = await startExport(this.#client, scope, resource, copy)
      if (!this.#primary.isCurrentRow(started)) throw failingOver()
      this.#started = started
    } catch (error) {
      throw this.#failureOf(error)
    }
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
        this.#reader.chunkTaken(chunk.length)
        this.#progressAt = performance.now()
      }
    } catch (error) {
      throw this.#failureOf(error)
    }
  }

  isReaderSlow(): boolean {
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
    this.#release(!this.#isComplete)
  }

  get #running(): StartedExport {
    if (this.#started === undefined) throw new Error('the export was not started')
    return this.#started
  }
}

function aborted(reason: string): Failure {
  return new Failure(
    'deadline_exceeded',
    `The export was aborted. ${reason} Narrow the filter, or read the response faster.`,
  )
}
