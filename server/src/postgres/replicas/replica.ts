import { backoff } from '../../backoff.ts'
import type { Limits } from '../../limits/passed-limits.ts'
import type { EmitEvent } from '../../observability/events.ts'
import { withTimeout } from '../../timeout.ts'
import { Connection } from '../connection.ts'
import { ConnectionPool, type ConnectionSource } from '../connection-pool.ts'
import { singleServer } from '../layout.ts'
import { PooledReads } from '../pooled-reads.ts'
import { connectMs } from '../primary/database-url.ts'
import {
  checkConnection,
  longReads,
  type ServingConfig,
  type ServingIdentity,
  servingConnection,
} from '../settings.ts'
import { connectFailureOf, databaseUnavailable } from '../sqlstate.ts'

export interface ReplicaOptions extends ServingIdentity {
  readonly connectionsMax: number
  readonly readMsMax: number
  readonly emit: EmitEvent
  readonly limits: Limits
  /** The system identifier of the primary. Undefined before the first connection to it. */
  readonly primarySystem: () => string | undefined
}

interface ProbeRow {
  readonly recovering: boolean
  readonly feedback: boolean
  readonly system: string
}

const probe = `select pg_is_in_recovery() as recovering, current_setting('hot_standby_feedback')::boolean as feedback,
  (pg_control_system()).system_identifier::text as system`

/**
 * PostgreSQL checks every second that the service is still connected: a connection is closed without a message if its
 * server does not respond, and then its statement should end, too.
 */
const settings = { client_connection_check_interval: '1s' }

/**
 * One replica and the connections to it. A connection of its own checks once a second that it responds and is in recovery.
 * If not, all connections are closed, including those in use: the primary then answers their requests.
 */
export class Replica implements ConnectionSource {
  /** Host and port, for the log. */
  readonly address: string
  readonly reads: PooledReads
  readonly exports: ConnectionPool
  readonly #url: string
  readonly #options: ReplicaOptions
  readonly #timer: NodeJS.Timeout
  readonly #onChange = new Set<() => void>()
  /** Another object each time that all connections are closed. */
  #server = {}
  #checking: Promise<void> | undefined
  #probe: Connection | undefined
  /** Undefined before the first check. */
  #isAvailable: boolean | undefined
  #hasFeedback = false
  #failures = 0
  #pausedUntil = 0
  #isClosed = false

  constructor(url: string, options: ReplicaOptions) {
    const { limits, readMsMax, emit } = options
    this.#url = url
    this.#options = options
    this.address = addressOf(url)
    const pool = { waitMsMax: limits.readWaitMsMax }
    const reads = new ConnectionPool(this, {
      ...pool,
      name: 'replicas',
      max: options.connectionsMax,
      config: {
        ...servingConnection(options, {
          statement_timeout: readMsMax,
          settings: { ...settings, ...longReads },
        }),
        keepsLongRows: true,
      },
      emit,
    })
    this.reads = new PooledReads(reads, {
      readMsMax,
      limits,
      terminate: (connection) => connection.destroy(),
    })
    this.exports = new ConnectionPool(this, {
      ...pool,
      name: 'exports',
      max: limits.exportsInFlightMax,
      config: servingConnection(options, { application_name: 'quartermaster export', settings }),
    })
    this.#timer = setInterval(() => void this.check(), limits.replicaCheckMs).unref()
    void this.check()
  }

  /** Whether it responds, and has not failed just now. */
  get isAvailable(): boolean {
    return this.#isAvailable === true && performance.now() >= this.#pausedUntil
  }

  /** Without hot_standby_feedback, VACUUM on the primary would cancel long exports here. */
  get allowsExports(): boolean {
    return this.#hasFeedback
  }

  get server(): object {
    return this.#server
  }

  async open(config: ServingConfig): Promise<Connection> {
    const server = this.#server
    const connection = await this.#connect(config)
    connection.server = server
    if (server === this.#server && !this.#isClosed) return connection
    connection.destroy()
    throw databaseUnavailable()
  }

  onChange(listener: () => void): void {
    this.#onChange.add(listener)
  }

  /** A request was served. */
  succeeded(): void {
    this.#failures = 0
  }

  /** A request failed here. No others are sent for a time that doubles with every failure in a row. */
  failed(): void {
    // Several reads that were running fail for the same cause.
    if (performance.now() < this.#pausedUntil) return
    const { replicaPauseMsMin, replicaPauseMsMax } = this.#options.limits
    this.#pausedUntil = performance.now() + backoff(++this.#failures, replicaPauseMsMin, replicaPauseMsMax)
    void this.check()
  }

  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#probe?.destroy()
    await Promise.all([this.reads.pool.close(), this.exports.close()])
  }

  async #check(): Promise<void> {
    try {
      const { recovering, feedback, system } = await this.#runProbe()
      const primarySystem = this.#options.primarySystem()
      if (!recovering) throw new Error('It is not in recovery: it is a primary.')
      if (primarySystem !== undefined && system !== primarySystem)
        throw new Error('It is not a replica of this primary: its system identifier is another one.')
      this.#hasFeedback = feedback
      if (this.#isClosed) throw new Error('It is closed.')
      if (this.#isAvailable !== true) this.#options.emit({ kind: 'replica-available', address: this.address })
      this.#isAvailable = true
    } catch (error) {
      this.#closeAll(error)
    }
  }

  async #runProbe(): Promise<ProbeRow> {
    this.#probe ??= await this.#connect(checkConnection(this.#options))
    const running = this.#probe.query<ProbeRow>(probe)
    const ms = connectMs(this.#url, this.#options.limits.replicaSilenceMsMax)
    const { rows } = await withTimeout(ms, running, () => new Error(`It has not responded for ${ms} ms.`))
    const [row] = rows
    if (row === undefined) throw new Error('It did not return its state.')
    return row
  }

  #closeAll(cause: unknown): void {
    this.#probe?.destroy()
    this.#probe = undefined
    const wasAvailable = this.#isAvailable
    this.#isAvailable = false
    this.#server = {}
    for (const listener of this.#onChange) listener()
    if (wasAvailable !== false && !this.#isClosed)
      this.#options.emit({ kind: 'replica-unavailable', address: this.address, error: cause })
  }

  async #connect(config: ServingConfig): Promise<Connection> {
    const ms = connectMs(this.#url, this.#options.limits.replicaSilenceMsMax)
    const connection = new Connection({ ...config, connectionString: this.#url }, this.#options.emit)
    try {
      await connection.open(ms, () => connection.prepareToServe(config, singleServer))
      return connection
    } catch (error) {
      throw connectFailureOf(error)
    }
  }
}

function addressOf(url: string): string {
  // Node's URL requires a host after the @.
  const { host, searchParams } = new URL(url.replace('@/', '@localhost/'))
  return searchParams.get('host') ?? host
}
