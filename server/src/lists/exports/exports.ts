import type pg from 'pg'
import type { ResourceName } from '../../catalog/resources.ts'
import { clientDisconnected, Failure } from '../../errors.ts'
import type { Limits } from '../../limits.ts'
import { ConnectionPool } from '../../postgres/connection-pool.ts'
import { type ServingIdentity, servingConnection } from '../../postgres/connections.ts'
import type { Primary } from '../../postgres/primary.ts'
import { failingOver, failureOf } from '../../postgres/sqlstate.ts'
import type { AccountScope } from '../../scope.ts'
import type { Statement } from '../../sql.ts'
import type { TallyState } from '../../tally-state.ts'
import { type StartedExport, startExport } from './export-copy.ts'
import { ExportSlots, type SlotHolder } from './export-slots.ts'
import { ReaderThroughput } from './reader-throughput.ts'

/**
 * An export is one COPY for as long as it takes. PostgreSQL looks every second whether we are still there.
 */
const settings = { client_connection_check_interval: '1s' }

/** Exports on connections of their own, so that no list ever waits for one. */
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

  /** A slot and a connection for an export, to be started. Who takes it ends it. */
  async take(scope: AccountScope, signal: AbortSignal): Promise<RunningExport> {
    const slot = await this.#slots.take(scope.accountId, signal)
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

/** One export, its connection, and the clock that sees to it that both come to an end. */
export class RunningExport implements TallyState, SlotHolder {
  readonly #primary: Primary
  readonly #client: pg.Client
  readonly #release: (isBroken: boolean) => void
  readonly #clock: NodeJS.Timeout
  #export: StartedExport | undefined
  readonly #reader: ReaderThroughput
  #movedAt = performance.now()
  #isWhole = false
  #isEnded = false
  #late: Failure | undefined

  constructor(primary: Primary, client: pg.Client, { msMax, limits, release }: RunningOptions) {
    this.#primary = primary
    this.#client = client
    this.#release = release
    this.#reader = new ReaderThroughput(limits)
    const endAt = performance.now() + msMax
    this.#clock = setInterval(
      () => {
        const now = performance.now()
        const stalled = now - this.#movedAt > limits.exportStallMsMax
        if (now < endAt && !stalled) return
        this.#late = stalled ? tooSlow('Nothing moved for too long.') : tooSlow('It took longer than it may.')
        this.end()
      },
      Math.min(1000, msMax),
    )
    this.#clock.unref()
  }

  /** Returns when the first records are at hand. */
  async start(scope: AccountScope, resource: ResourceName, copy: Statement): Promise<void> {
    try {
      const started = await startExport(this.#client, scope, resource, copy)
      if (!this.#primary.isCurrentRow(started)) throw failingOver()
      this.#export = started
    } catch (error) {
      throw this.#reasonOf(error)
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

  get total(): number {
    return this.#running.total
  }

  get pieces(): AsyncIterable<Buffer> {
    return this.#watched()
  }

  async finish(): Promise<number> {
    try {
      const count = await this.#running.finish()
      this.#isWhole = true
      return count
    } catch (error) {
      throw this.#reasonOf(error)
    } finally {
      this.end()
    }
  }

  async *#watched(): AsyncGenerator<Buffer> {
    try {
      for await (const piece of this.#running.pieces) {
        this.#reader.waits()
        yield piece
        this.#reader.took(piece.length)
        this.#movedAt = performance.now()
      }
    } catch (error) {
      throw this.#reasonOf(error)
    }
  }

  isReaderSlow(): boolean {
    return this.#reader.isSlow()
  }

  giveUp(): void {
    this.#late = tooSlow('Another account waited for an export, and this one was read too slowly.')
    this.end()
  }

  /** Why it could not go on: its time was up, its reader went, or the database says so. */
  #reasonOf(error: unknown): Failure {
    if (this.#late !== undefined) return this.#late
    if (this.#isEnded) return clientDisconnected(error)
    this.end()
    return failureOf(error)
  }

  /** At any moment, also twice. What is not whole by now is given up: its connection goes, and its statement with it. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearInterval(this.#clock)
    this.#release(!this.#isWhole)
  }

  get #running(): StartedExport {
    if (this.#export === undefined) throw new Error('the export was not started')
    return this.#export
  }
}

function tooSlow(how: string): Failure {
  return new Failure(
    'deadline_exceeded',
    `The export was ended. ${how} Narrow the filter, or read it faster.`,
  )
}
