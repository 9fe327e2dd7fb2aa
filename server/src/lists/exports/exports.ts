import { Failure } from '../../errors/errors.ts'
import type { Primary } from '../../postgres/primary/primary.ts'
import { FairScheduler } from '../../scheduler/fair-scheduler.ts'
import type { AccountScope } from '../../scope.ts'
import { ExportConnections, type ExportConnectionsOptions } from './export-connections.ts'
import { RunningExport, type RunningOptions } from './running-export.ts'

export interface ExportsOptions
  extends ExportConnectionsOptions,
    Pick<RunningOptions, 'msMax' | 'isErased'> {}

/** Exports have connection pools of their own, so that lists never wait for them. */
export class Exports {
  readonly #connections: ExportConnections
  readonly #options: ExportsOptions
  readonly #scheduler: FairScheduler

  constructor(primary: Primary, options: ExportsOptions) {
    this.#options = options
    this.#connections = new ExportConnections(primary, options)
    const { limits } = options
    this.#scheduler = new FairScheduler({
      seats: limits.exportsInFlightMax,
      accountSeats: limits.accountExportsMax,
      spareSeats: 1,
      waitingMax: limits.exportsWaitingMax,
      accountWaitingMax: 1,
      waitMsMax: limits.exportWaitMsMax,
      waitsForOwn: false,
      givesWay: { slowCheckMs: limits.slowClientCheckMs },
      busy: (_, running) => exportLimit(running, limits.accountExportsMax),
    })
  }

  /** Waits for a seat for an export that the caller starts. The caller must end it. */
  async acquire(scope: AccountScope, signal: AbortSignal): Promise<RunningExport> {
    const seat = await this.#scheduler.acquire(scope, signal)
    const { msMax, limits, isErased } = this.#options
    const release = () => seat.release()
    const running = new RunningExport(this.#connections, { msMax, limits, isErased, release })
    seat.holder = running
    return running
  }

  async close(): Promise<void> {
    await this.#connections.close()
  }
}

function exportLimit(running: number, accountMax: number): Failure {
  const detail =
    running >= accountMax
      ? `This account has ${running} exports running, the maximum for an account. Wait for one to finish.`
      : 'This account has an export running or waiting, and the last free slot is reserved for other accounts. ' +
        'Wait for it to finish.'
  return new Failure('export_limit', detail)
}
