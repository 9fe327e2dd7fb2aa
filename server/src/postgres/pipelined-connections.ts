import type pg from 'pg'
import { overloaded } from '../errors.ts'
import type { Limits } from '../limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import type { Statement } from '../sql.ts'
import { withTimeout } from '../timeout.ts'
import { destroyConnection } from './connections.ts'
import type { Primary } from './primary.ts'
import { changingOver, failureOf, isOfServer, storeAway } from './sqlstate.ts'
import { readText, type TextRow } from './text-rows.ts'

export interface PipelineOptions {
  readonly config: pg.ClientConfig
  readonly emit: EmitEvent
  readonly limits: Limits
}

/**
 * A few connections on which quick statements travel one behind the other, without waiting for each other's answers.
 * PostgreSQL finds the next statement already there.
 */
export class PipelinedConnections {
  readonly #connections: readonly [PipelinedConnection, ...PipelinedConnection[]]
  readonly #timer: NodeJS.Timeout
  readonly #statementsMax: number
  readonly #batchStatements: number
  /** The lane of this turn, and how many statements it was given. */
  #current: PipelinedConnection
  #given = 0

  constructor(primary: Primary, options: PipelineOptions) {
    const { limits } = options
    this.#statementsMax = limits.pipelinedStatementsMax
    this.#batchStatements = limits.pipelinedBatchStatements
    const lane = () => new PipelinedConnection(primary, options)
    this.#connections = [lane(), ...Array.from({ length: limits.pipelinedConnections - 1 }, lane)]
    this.#current = this.#connections[0]
    this.#timer = setInterval(() => {
      for (const one of this.#connections) one.breakIfSilent()
    }, limits.pipelinedCheckMs).unref()
    primary.onChange(() => {
      for (const one of this.#connections) one.breakUnlessCurrent()
    })
  }

  /** Every request comes through here, some twice: no promise around the lane's own. */
  read<Row extends TextRow<Row>>(statement: Statement): Promise<Row[]> {
    const lane = this.#choose()
    if (lane.underWay >= this.#statementsMax) return Promise.reject(overloaded())
    return lane.read<Row>(statement)
  }

  get underWay(): number {
    let sum = 0
    for (const lane of this.#connections) sum += lane.underWay
    return sum
  }

  /** By `performance.now()`. */
  get underWaySince(): number {
    let first = Number.POSITIVE_INFINITY
    for (const lane of this.#connections) first = Math.min(first, lane.underWaySince)
    return first
  }

  /** The first statements of an event-loop iteration share a connection, so that they wake one backend; then the emptiest. */
  #choose(): PipelinedConnection {
    if (this.#given === 0) setImmediate(() => (this.#given = 0))
    if (this.#given % this.#batchStatements === 0) {
      for (const lane of this.#connections) if (lane.underWay < this.#current.underWay) this.#current = lane
    }
    this.#given++
    return this.#current
  }

  /** What waits is what is behind another statement on its lane. */
  get state(): { max: number; open: number; idle: number; waiting: number } {
    const open = this.#connections.filter((lane) => lane.isOpen)
    const waiting = this.#connections.reduce((sum, { underWay }) => sum + Math.max(0, underWay - 1), 0)
    const idle = open.filter(({ underWay }) => underWay === 0).length
    return { max: this.#connections.length, open: open.length, idle, waiting }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#connections.map((lane) => lane.close()))
  }
}

class PipelinedConnection {
  /** When the statements under way were sent, in this order: PostgreSQL answers them in the same. */
  readonly #sent: number[] = []
  readonly #primary: Primary
  readonly #config: pg.ClientConfig
  readonly #emit: EmitEvent
  readonly #silenceMsMax: number
  readonly #reconnectMsMax: number
  #client: pg.Client | undefined
  #connecting: Promise<pg.Client> | undefined
  /** When an answer last came, by `performance.now()`. */
  #heardAt = 0
  #isSuspect = false
  /** The last connection was closed because nothing was heard on it. */
  #wasSilent = false
  /** Closed because another server is the primary: what was under way on them is read again. */
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

  get underWay(): number {
    return this.#sent.length
  }

  get underWaySince(): number {
    return this.#sent[0] ?? Number.POSITIVE_INFINITY
  }

  async read<Row extends TextRow<Row>>(statement: Statement, isSecond = false): Promise<Row[]> {
    const sent = performance.now()
    this.#sent.push(sent)
    let client = this.#client
    let rows: Row[] | undefined
    try {
      client ??= await this.#connect()
      rows = await readText<Row>(client, statement)
    } catch (error) {
      if (client === undefined || !isOfServer(error)) throw failureOf(error)
      this.#break(client)
      if (!this.#outdated.has(client)) throw failureOf(error)
    } finally {
      this.#sent.shift()
      const { operation } = statement
      const now = performance.now()
      if (rows !== undefined) this.#heardAt = now
      this.#emit({ kind: 'statement-ended', operation, ms: now - sent, failed: rows === undefined })
    }
    if (rows !== undefined && this.#primary.isCurrent(rows[0])) return rows
    return await this.#readAgain<Row>(client, statement, isSecond)
  }

  /** The row is of a server that is the primary no more, or of one that has just become it: a new connection tells. */
  async #readAgain<Row extends TextRow<Row>>(
    client: pg.Client,
    statement: Statement,
    isSecond: boolean,
  ): Promise<Row[]> {
    this.#outdated.add(client)
    this.#break(client)
    if (isSecond) throw changingOver()
    await this.#primary.check()
    return await this.read<Row>(statement, true)
  }

  /** Twice in a row: after a pause of the whole process, answers may be there that have not been read yet. */
  breakIfSilent(): void {
    const since = Math.max(this.underWaySince, this.#heardAt)
    const isSilent = this.#sent.length > 0 && performance.now() - since > this.#silenceMsMax
    if (isSilent && this.#isSuspect && this.#client !== undefined) {
      this.#wasSilent = true
      this.#break(this.#client)
    }
    this.#isSuspect = isSilent
  }

  breakUnlessCurrent(): void {
    if (this.#client === undefined || this.#primary.leadsToCurrent(this.#client)) return
    this.#outdated.add(this.#client)
    this.#break(this.#client)
  }

  /** What is under way on it fails. */
  #break(client: pg.Client): void {
    if (this.#client === client) this.#client = undefined
    destroyConnection(client)
  }

  /** The connection may take longer to open than anybody waits for it. */
  #connect(): Promise<pg.Client> {
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined
    })
    const ms = this.#wasSilent ? this.#reconnectMsMax : this.#silenceMsMax
    return withTimeout(ms, this.#connecting, () => storeAway())
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
