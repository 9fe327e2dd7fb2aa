import { clientDisconnected } from '../../errors/errors.ts'
import type { Limits } from '../../limits/passed-limits.ts'
import type { FallbackReason } from '../../observability/events.ts'
import type { Connection } from '../../postgres/connection.ts'
import { ConnectionPool } from '../../postgres/connection-pool.ts'
import type { Primary } from '../../postgres/primary/primary.ts'
import type { Replica } from '../../postgres/replicas/replica.ts'
import type { Replicas } from '../../postgres/replicas/replicas.ts'
import { type ServingIdentity, servingConnection } from '../../postgres/settings.ts'
import { failingOver, failureOf } from '../../postgres/sqlstate.ts'
import { sql } from '../../sql.ts'
import { type ReplicaState, replicaColumns, storedLineageColumns, type Tally } from '../../tally-state.ts'
import {
  type ExportRequest,
  type ExportRow,
  primaryTally,
  type StartedExport,
  startExport,
} from './export-copy.ts'

export interface ExportConnectionsOptions extends ServingIdentity {
  readonly limits: Limits
  readonly replicas?: Replicas | undefined
}

/** PostgreSQL checks every second that the service is still connected, and otherwise cancels the COPY. */
const settings = { client_connection_check_interval: '1s' }

/** Without `nextLineage`, which cannot be evaluated on a replica: if the last write was not our own, the row is not accepted. */
const onReplica = sql`${replicaColumns}, ${storedLineageColumns}`

/** A connection that runs one export. */
export class ExportConnection {
  readonly connection: Connection
  readonly #pool: ConnectionPool
  #isReleased = false

  constructor(connection: Connection, pool: ConnectionPool) {
    this.connection = connection
    this.#pool = pool
  }

  /** Can be called twice. `isBroken`: the connection is closed, which cancels its statement. */
  release(isBroken: boolean): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.#pool.release(this.connection, isBroken)
  }
}

/** The export for which connections are opened. */
export interface ExportHolder {
  /** Whether it ended, for example because the client has disconnected. */
  readonly isEnded: boolean
  /** Called with each connection before it is used. The holder must release the last one. */
  use(connection: ExportConnection): void
}

class NotAccepted extends Error {
  readonly reason: FallbackReason

  constructor(reason: FallbackReason) {
    super(`The replica cannot run the export: ${reason}.`)
    this.reason = reason
  }
}

/** Starts exports on a replica, if one has the verified state, otherwise on the primary. */
export class ExportConnections {
  readonly #primary: Primary
  readonly #replicas: Replicas | undefined
  readonly #pool: ConnectionPool

  constructor(primary: Primary, options: ExportConnectionsOptions) {
    this.#primary = primary
    this.#replicas = options.replicas
    this.#pool = new ConnectionPool(primary, {
      name: 'exports',
      max: options.limits.exportsInFlightMax,
      waitMsMax: options.limits.readWaitMsMax,
      config: servingConnection(options, { application_name: 'quartermaster export', settings }),
    })
  }

  async start(request: ExportRequest, tally: Tally, holder: ExportHolder): Promise<StartedExport> {
    const started = await this.#replicas?.roundRobin('export', (replica) =>
      this.#startOnReplica(replica, request, tally, holder),
    )
    return started ?? (await this.#startOnPrimary(request, holder))
  }

  async close(): Promise<void> {
    await this.#pool.close()
  }

  async #startOnPrimary(request: ExportRequest, holder: ExportHolder): Promise<StartedExport> {
    const { connection } = await connect(this.#pool, holder)
    const started = await startExport(connection, request, primaryTally).catch((error: unknown) => {
      throw failureOf(error, connection)
    })
    if (!this.#primary.hasEpoch(started.epoch)) throw failingOver()
    return started
  }

  async #startOnReplica(
    replica: Replica,
    request: ExportRequest,
    tally: Tally,
    holder: ExportHolder,
  ): Promise<StartedExport | FallbackReason> {
    if (!replica.allowsExports) return 'no_feedback'
    if (!replica.exports.hasFree) return 'busy'
    const held = await connect(replica.exports, holder)
    const verified = { accountId: request.scope.accountId, resource: request.resource, tally }
    try {
      return await startExport<ExportRow & ReplicaState>(held.connection, request, {
        columns: onReplica,
        accept: async (row) => {
          const state = await this.#replicas?.accept(row, verified)
          if (typeof state !== 'object') throw new NotAccepted(state ?? 'unavailable')
          return state
        },
      })
    } catch (error) {
      if (holder.isEnded) throw clientDisconnected(error)
      if (!(error instanceof NotAccepted)) {
        held.release(true)
        throw error
      }
      await held.connection.query('rollback')
      held.release(false)
      return error.reason
    }
  }
}

async function connect(pool: ConnectionPool, holder: ExportHolder): Promise<ExportConnection> {
  const held = new ExportConnection(await pool.acquire(), pool)
  holder.use(held)
  return held
}
