import { overloaded } from '../errors/errors.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { Statement } from '../sql.ts'
import { withTimeout } from '../timeout.ts'
import type { Connection } from './connection.ts'
import type { Primary } from './primary/primary.ts'
import type { ServingConfig } from './settings.ts'
import { SilenceDetector } from './silence-detector.ts'
import { databaseUnavailable, failingOver, failureOf, isConnectionError } from './sqlstate.ts'
import type { TextRow } from './text-rows.ts'

export interface PipelineOptions {
  readonly config: ServingConfig
  readonly emit: EmitEvent
  readonly limits: Limits
}

/**
 * Connections in pipeline mode: statements of class `pipelined` are sent without waiting for the results of the ones
 * before, so that PostgreSQL starts the next statement without a network round trip in between.
 */
export class PipelinedConnections {
  readonly #connections: readonly [PipelinedConnection, ...PipelinedConnection[]]
  readonly #timer: NodeJS.Timeout
  readonly #statementsMax: number
  readonly #batchStatements: number
  /** The connection in use in this event-loop iteration, and the statements sent in this iteration. */
  #current: PipelinedConnection
  #sentInIteration = 0

  constructor(primary: Primary, options: PipelineOptions) {
    const { limits } = options
    this.#statementsMax = limits.pipelinedStatementsMax
    this.#batchStatements = limits.pipelinedBatchStatements
    const connection = () => new PipelinedConnection(primary, options)
    this.#connections = [connection(), ...Array.from({ length: limits.pipelinedConnections - 1 }, connection)]
    this.#current = this.#connections[0]
    this.#timer = setInterval(() => {
      for (const each of this.#connections) each.closeIfSilent()
    }, limits.pipelinedCheckMs).unref()
    primary.onChange(() => {
      for (const each of this.#connections) each.closeUnlessCurrent()
    })
  }

  /** Not async: every request calls this once or twice, and a second promise would cost time. */
  read<Row extends TextRow<Row>>(statement: Statement): Promise<Row[]> {
    const connection = this.#choose()
    if (connection.inFlight >= this.#statementsMax) return Promise.reject(overloaded())
    return connection.read<Row>(statement)
  }

  /** Opens a connection, unless one is open. */
  async connect(): Promise<void> {
    await this.#connections[0].connect()
  }

  /** Statements without a result yet. */
  get inFlight(): number {
    let sum = 0
    for (const connection of this.#connections) sum += connection.inFlight
    return sum
  }

  /** When the oldest of them was sent, by `performance.now()`. Infinity if there is none. */
  get inFlightSince(): number {
    let oldest = Number.POSITIVE_INFINITY
    for (const connection of this.#connections) oldest = Math.min(oldest, connection.inFlightSince)
    return oldest
  }

  /**
   * The first `pipelinedBatchStatements` of an event-loop iteration share a connection, so that they wake one backend. The
   * next batch takes the connection with the fewest statements in flight.
   */
  #choose(): PipelinedConnection {
    if (this.#sentInIteration === 0) setImmediate(() => (this.#sentInIteration = 0))
    if (this.#sentInIteration % this.#batchStatements === 0) {
      for (const connection of this.#connections)
        if (connection.inFlight < this.#current.inFlight) this.#current = connection
    }
    this.#sentInIteration++
    return this.#current
  }

  /** `waiting` counts the statements queued behind another one on their connection. */
  get state(): { max: number; open: number; idle: number; waiting: number } {
    const open = this.#connections.filter((connection) => connection.isOpen)
    const waiting = this.#connections.reduce((sum, { inFlight }) => sum + Math.max(0, inFlight - 1), 0)
    const idle = open.filter(({ inFlight }) => inFlight === 0).length
    return { max: this.#connections.length, open: open.length, idle, waiting }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#connections.map((connection) => connection.close()))
  }
}

class PipelinedConnection {
  /** When each statement in flight was sent, oldest first: PostgreSQL returns results in the same order. */
  readonly #sentAt: number[] = []
  readonly #primary: Primary
  readonly #config: ServingConfig
  readonly #emit: EmitEvent
  readonly #silenceMsMax: number
  readonly #reconnectMsMax: number
  readonly #silence: SilenceDetector
  #connection: Connection | undefined
  #connecting: Promise<Connection> | undefined
  /** The last connection was closed because the server did not respond on it. */
  #wasSilent = false

  constructor(primary: Primary, { config, emit, limits }: PipelineOptions) {
    this.#primary = primary
    this.#silenceMsMax = limits.pipelinedSilenceMsMax
    this.#reconnectMsMax = limits.reconnectSilentMsMax
    this.#silence = new SilenceDetector(limits.pipelinedSilenceMsMax / limits.pipelinedCheckMs)
    this.#config = { ...config, pipeline: true }
    this.#emit = emit
  }

  get isOpen(): boolean {
    return this.#connection !== undefined
  }

  get inFlight(): number {
    return this.#sentAt.length
  }

  get inFlightSince(): number {
    return this.#sentAt[0] ?? Number.POSITIVE_INFINITY
  }

  async connect(): Promise<void> {
    try {
      if (this.#connection === undefined) await this.#connect()
    } catch (error) {
      throw failureOf(error)
    }
  }

  async read<Row extends TextRow<Row>>(statement: Statement, isRetry = false): Promise<Row[]> {
    const sentAt = performance.now()
    this.#sentAt.push(sentAt)
    let connection = this.#connection
    let rows: Row[] | undefined
    try {
      connection ??= await this.#connect()
      rows = await connection.read<Row>(statement)
    } catch (error) {
      if (connection === undefined || !isConnectionError(error, connection))
        throw failureOf(error, connection)
      this.#destroy(connection)
      // If it was closed because another server is the primary, the statement is sent again.
      if (connection.server === this.#primary.server) throw failureOf(error)
    } finally {
      this.#sentAt.shift()
      const { operation } = statement
      if (rows !== undefined) {
        this.#silence.responded()
        this.#primary.responded()
      }
      const ms = performance.now() - sentAt
      this.#emit({ kind: 'statement-ended', operation, ms, failed: rows === undefined })
    }
    if (rows !== undefined && this.#primary.isSourceOf(statement, rows)) return rows
    return await this.#retry<Row>(connection, statement, isRetry)
  }

  /** The row came from a server that is not the known primary. A new connection finds out which server is. */
  async #retry<Row extends TextRow<Row>>(
    connection: Connection,
    statement: Statement,
    isRetry: boolean,
  ): Promise<Row[]> {
    // The other statements in flight on it are sent again, too.
    connection.server = undefined
    this.#destroy(connection)
    if (isRetry) throw failingOver()
    await this.#primary.check()
    return await this.read<Row>(statement, true)
  }

  /** Called at an interval. */
  closeIfSilent(): void {
    if (this.#sentAt.length === 0 || this.#connection === undefined) {
      this.#silence.responded()
    } else if (this.#silence.check()) {
      this.#wasSilent = true
      this.#destroy(this.#connection)
    }
  }

  closeUnlessCurrent(): void {
    if (this.#connection?.server !== this.#primary.server) this.#destroy(this.#connection)
  }

  /** Statements in flight on the connection fail. */
  #destroy(connection: Connection | undefined): void {
    if (this.#connection === connection) this.#connection = undefined
    connection?.destroy()
  }

  /** With a timeout: to open a connection may take longer than a request may wait. */
  #connect(): Promise<Connection> {
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined
    })
    const ms = this.#wasSilent ? this.#reconnectMsMax : this.#silenceMsMax
    return withTimeout(ms, this.#connecting, () => databaseUnavailable())
  }

  async #open(): Promise<Connection> {
    const connection = await this.#primary.open(this.#config)
    connection.once('end', () => {
      if (this.#connection === connection) this.#connection = undefined
    })
    this.#connection = connection
    this.#silence.responded()
    this.#wasSilent = false
    return connection
  }

  async close(): Promise<void> {
    await this.#connection?.end()
  }
}
