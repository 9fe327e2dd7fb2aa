import { Socket } from 'node:net'
import pg from 'pg'
import { overloaded } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Statement } from '../sql.ts'
import type { Tell } from '../telemetry/events.ts'
import { failureOf, failureToConnect } from './sqlstate.ts'
import { readText, type TextRow } from './text-rows.ts'

/**
 * A few connections on which quick statements travel one behind the other, without waiting for each other's answers.
 * What one turn of the event loop sends is one write, and PostgreSQL finds the next statement already there.
 */
export class Lanes {
  readonly #lanes: readonly [Lane, ...Lane[]]
  /** The lane of this turn, and how many statements it was given. */
  #current: Lane
  #given = 0

  constructor(config: pg.ClientConfig, tell: Tell) {
    const lane = () => new Lane(config, tell)
    this.#lanes = [lane(), ...Array.from({ length: limits.lanes - 1 }, lane)]
    this.#current = this.#lanes[0]
  }

  /** Every request comes through here, some twice: no promise around the lane's own. */
  read<Row extends TextRow<Row>>(statement: Statement): Promise<Row[]> {
    const lane = this.#choose()
    if (lane.underWay >= limits.laneStatementsMax) return Promise.reject(overloaded())
    return lane.read<Row>(statement)
  }

  get underWay(): number {
    let sum = 0
    for (const lane of this.#lanes) sum += lane.underWay
    return sum
  }

  /** By `performance.now()`. */
  get underWaySince(): number {
    let first = Number.POSITIVE_INFINITY
    for (const lane of this.#lanes) first = Math.min(first, lane.underWaySince)
    return first
  }

  /** One lane for some statements of a turn, so that they are one write; then the emptiest. */
  #choose(): Lane {
    if (this.#given === 0) setImmediate(() => (this.#given = 0))
    if (this.#given % limits.laneTurnStatements === 0) {
      for (const lane of this.#lanes) if (lane.underWay < this.#current.underWay) this.#current = lane
    }
    this.#given++
    return this.#current
  }

  /** What waits is what is behind another statement on its lane. */
  get state(): { max: number; open: number; idle: number; waiting: number } {
    const open = this.#lanes.filter((lane) => lane.isOpen)
    const waiting = this.#lanes.reduce((sum, { underWay }) => sum + Math.max(0, underWay - 1), 0)
    const idle = open.filter(({ underWay }) => underWay === 0).length
    return { max: this.#lanes.length, open: open.length, idle, waiting }
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()))
  }
}

class Lane {
  /** When the statements under way were sent, in this order: PostgreSQL answers them in the same. */
  readonly #sent: number[] = []
  readonly #config: pg.ClientConfig
  readonly #tell: Tell
  #client: pg.Client | undefined
  #connecting: Promise<pg.Client> | undefined

  constructor(config: pg.ClientConfig, tell: Tell) {
    this.#config = config
    this.#tell = tell
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

  async read<Row extends TextRow<Row>>(statement: Statement): Promise<Row[]> {
    const sent = performance.now()
    this.#sent.push(sent)
    let failed = true
    try {
      const rows = await readText<Row>(this.#client ?? (await this.#connect()), statement)
      failed = false
      return rows
    } catch (error) {
      throw failureOf(error)
    } finally {
      this.#sent.shift()
      const { operation } = statement
      this.#tell({ kind: 'statement-ended', operation, ms: performance.now() - sent, failed })
    }
  }

  async #connect(): Promise<pg.Client> {
    this.#connecting ??= this.#open().finally(() => {
      this.#connecting = undefined
    })
    return this.#connecting
  }

  async #open(): Promise<pg.Client> {
    const client = new pg.Client({ ...this.#config, pipeline: true, stream: () => new TurnSocket() })
    client.on('error', (error) => {
      if (this.#client === client) this.#client = undefined
      this.#tell({ kind: 'connection-broken', error })
    })
    client.on('end', () => {
      if (this.#client === client) this.#client = undefined
    })
    try {
      await client.connect()
    } catch (error) {
      throw failureToConnect(error)
    }
    this.#client = client
    return client
  }

  async close(): Promise<void> {
    await this.#client?.end()
  }
}

/** Sends what was written in one turn of the event loop together: `pg` corks and uncorks for every statement. */
class TurnSocket extends Socket {
  #gathering = false

  override cork(): void {
    if (!this.#gathering) super.cork()
  }

  override uncork(): void {
    if (this.#gathering) return
    this.#gathering = true
    setImmediate(() => {
      this.#gathering = false
      super.uncork()
    })
  }
}
