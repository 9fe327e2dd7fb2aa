import type { Primary } from '../../postgres/primary/primary.ts'
import type { AccountScope } from '../../scope.ts'
import { ExportConnections, type ExportConnectionsOptions } from './export-connections.ts'
import { ExportSlots } from './export-slots.ts'
import { RunningExport } from './running-export.ts'

/** Exports have connection pools of their own, so that lists never wait for them. */
export class Exports {
  readonly #connections: ExportConnections
  readonly #options: ExportConnectionsOptions & { readonly msMax: number }
  readonly #slots: ExportSlots

  constructor(primary: Primary, options: ExportConnectionsOptions & { readonly msMax: number }) {
    this.#options = options
    this.#connections = new ExportConnections(primary, options)
    this.#slots = new ExportSlots(options.limits)
  }

  /** Acquires a slot for an export that the caller starts. The caller must end it. */
  async acquire(scope: AccountScope, signal: AbortSignal): Promise<RunningExport> {
    const slot = await this.#slots.acquire(scope.accountId, signal)
    const { msMax, limits } = this.#options
    const running = new RunningExport(this.#connections, { msMax, limits, release: () => slot.release() })
    slot.holder = running
    return running
  }

  async close(): Promise<void> {
    await this.#connections.close()
  }
}
