import type pg from 'pg'
import { overloaded } from '../errors/errors.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { Statement } from '../sql.ts'
import { withTimeout } from '../timeout.ts'
import { destroyConnection } from './connections.ts'
import type { Primary } from './primary/primary.ts'
import { databaseUnavailable, failingOver, failureOf, isConnectionError } from './sqlstate.ts'
import { readText, type TextRow } from './text-rows.ts'

export interface PipelineOptions {
  readonly config: pg.ClientConfig
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
  readonly #config: pg.ClientConfig
  readonly #emit: EmitEvent
  readonly #silenceMsMax: number
  readonly #reconnectMsMax: number
  #client: pg.Client | undefined
  #connecting: Promise<pg.Client> | undefined
  /** When the last result arrived, by `performance.now()`. */
  #lastResultAt = 0
  /** The previous check found the connection silent. */
  #isSuspect = false
  /** The last connection was closed because the server did not respond on it. */
  #wasSilent = false
  /** Connections closed because another server is the primary. Their statements in flight are sent again. */
  readonly #outdated = new WeakSet<pg.Client>()

  constructor(primary: Primary, { config, emit, limits }: PipelineOptions) {
    this.#primary = primary
    this.#silenceMsMax = limits.pipelinedSilenceMsMax
    this.#reconnectMsMax = limits.reconnectSilentMsMax
    this.#config = { ...config, pipeline: true }
    this.#emit = emit
  }

  get isOpen(): boolean {
    return this.#client !== undefined
  }

  get inFlight(): number {
    return this.#sentAt.length
  }

  get inFlightSince(): number {
    return this.#sentAt[0] ?? Number.POSITIVE_INFINITY
  }

  async connect(): Promise<void> {
    try {
      if (this.#client === undefined) await this.#connect()
    } catch (error) {
      throw failureOf(error)
    }
  }

  async read<Row extends TextRow<Row>>(statement: Statement, isRetry = false): Promise<Row[]> {
    const sentAt = performance.now()
    this.#sentAt.push(sentAt)
    let client = this.#client
    let rows: Row[] | undefined
    try {
      client ??= await this.#connect()
      rows = await readText<Row>(client, statement)
    } catch (error) {
      if (client === undefined || !isConnectionError(error, client)) throw failureOf(error, client)
      this.#destroy(client)
      if (!this.#outdated.has(client)) throw failureOf(error)
    } finally {
      this.#sentAt.shift()
      const { operation } = statement
      const now = performance.now()
      if (rows !== undefined) {
        this.#lastResultAt = now
        this.#primary.responded()
      }
      this.#emit({ kind: 'statement-ended', operation, ms: now - sentAt, failed: rows === undefined })
    }
    if (rows !== undefined && this.#primary.isCurrentRow(rows[0])) return rows
    return await this.#retry<Row>(client, statement, isRetry)
  }

  /** The row came from a server that is not the known primary. A new connection finds out which server is. */
  async #retry<Row extends TextRow<Row>>(
    client: pg.Client,
    statement: Statement,
    isRetry: boolean,
  ): Promise<Row[]> {
    this.#outdated.add(client)
    this.#destroy(client)
    if (isRetry) throw failingOver()
    await this.#primary.check()
    return await this.read<Row>(statement, true)
  }

  /**
   * Closes the connection if two checks in a row find it silent. One is not enough: after a pause of the process, results
   * may be in the socket that have not been read yet.
   */
  closeIfSilent(): void {
    const since = Math.max(this.inFlightSince, this.#lastResultAt)
    const isSilent = this.#sentAt.length > 0 && performance.now() - since > this.#silenceMsMax
    if (isSilent && this.#isSuspect && this.#client !== undefined) {
      this.#wasSilent = true
      this.#destroy(this.#client)
    }
    this.#isSuspect = isSilent
  }

  closeUnlessCurrent(): void {
    if (this.#client === undefined || this.#primary.isCurrentConnection(this.#client)) return
    this.#outdated.add(this.#client)
    this.#destroy(this.#client)
  }

  /** Statements in flight on the connection fail. */
  #destroy(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined
    destroyConnection(client)
  }

  /** With a timeout: to open a connection may take longer than a request may wait. */
  #connect(): Promise<pg.Client> {
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined
    })
    const ms = this.#wasSilent ? this.#reconnectMsMax : this.#silenceMsMax
    return withTimeout(ms, this.#connecting, () => databaseUnavailable())
  }

  async #open(): Promise<pg.Client> {
    const client = await this.#primary.open(this.#config)
    client.once('end', () => {
      if (this.#client === client) this.#client = undefined
    })
    this.#client = client
    this.#wasSilent = false
    return client
  }

  async close(): Promise<void> {
    await this.#client?.end()
  }
}
