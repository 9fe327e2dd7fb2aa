import type pg from 'pg'
import { Failure, overloaded } from '../errors.ts'
import { limits } from '../limits.ts'
import type { EmitEvent, PoolName } from '../observability/events.ts'
import { destroyConnection } from './connections.ts'
import type { Primary } from './primary.ts'

/** Connections of one kind: how many there may be, are, and are free; and what waits for one. */
export interface PoolState {
  readonly pool: PoolName
  readonly max: number
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

export interface PoolOptions {
  readonly name: PoolName
  readonly max: number
  /** How long to wait for a connection that others use; then the service is overloaded. */
  readonly waitMsMax: number
  readonly config: pg.ClientConfig
  readonly emit?: EmitEvent
}

interface Waiter {
  readonly give: (client: pg.Client | Promise<pg.Client>) => void
}

interface Idle {
  readonly client: pg.Client
  readonly since: number
}

/**
 * Connections to the primary, each used by one at a time. Unlike `pg.Pool` it tells waiting for a connection (the
 * service is overloaded) from failing to open one (the database is away), and closes all connections to a server that
 * is the primary no more.
 */
export class ConnectionPool {
  readonly #primary: Primary
  readonly #options: PoolOptions
  /** All that are open, in use or idle. */
  readonly #open = new Set<pg.Client>()
  /** The most recently used last. */
  #idle: Idle[] = []
  readonly #waiting = new Set<Waiter>()
  #opening = 0
  #isClosed = false
  readonly #timer: NodeJS.Timeout

  constructor(primary: Primary, options: PoolOptions) {
    this.#primary = primary
    this.#options = options
    this.#timer = setInterval(() => this.#closeIdle(), limits.poolIdleMsMax / 2).unref()
    primary.onChange(() => this.#closeOthers())
  }

  get state(): PoolState {
    const { name: pool, max } = this.#options
    return { pool, max, open: this.#open.size, idle: this.#idle.length, waiting: this.#waiting.size }
  }

  /** To be given back by `release`. */
  async acquire(): Promise<pg.Client> {
    const asked = performance.now()
    try {
      return this.#idle.pop()?.client ?? (await this.#openOrWait())
    } finally {
      const { name, emit } = this.#options
      emit?.({ kind: 'connection-acquired', pool: name, ms: performance.now() - asked })
    }
  }

  /** `isBroken`: it is not to be used again. */
  release(client: pg.Client, isBroken = false): void {
    if (!this.#open.has(client)) {
      this.#openForNext()
    } else if (isBroken || this.#isClosed || !this.#primary.leadsToCurrent(client)) {
      this.#remove(client)
    } else {
      const [next] = this.#waiting
      if (next === undefined) this.#idle.push({ client, since: performance.now() })
      else next.give(client)
    }
  }

  /** Connections that are in use are cut: whoever closes a pool has waited for its users. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    const idle = this.#idle.splice(0)
    for (const client of this.#open) if (!idle.some((one) => one.client === client)) destroyConnection(client)
    await Promise.all(idle.map(({ client }) => client.end().catch(() => {})))
  }

  #openOrWait(): Promise<pg.Client> {
    if (this.#open.size + this.#opening < this.#options.max) return this.#openNew()
    if (this.#waiting.size >= limits.poolWaitingMax) throw overloaded()
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(late)
        this.#waiting.delete(waiter)
      }
      const waiter: Waiter = {
        give: (client) => {
          leave()
          resolve(client)
        },
      }
      const late = setTimeout(() => {
        leave()
        reject(allBusy())
      }, this.#options.waitMsMax)
      this.#waiting.add(waiter)
    })
  }

  async #openNew(): Promise<pg.Client> {
    this.#opening++
    try {
      const client = await this.#primary.open(this.#options.config)
      this.#open.add(client)
      client.once('end', () => this.#remove(client))
      return client
    } catch (error) {
      // Whoever waits may meet the same failure now instead of a timeout later.
      queueMicrotask(() => this.#openForNext())
      throw error
    } finally {
      this.#opening--
    }
  }

  #remove(client: pg.Client): void {
    if (!this.#open.delete(client)) return
    this.#idle = this.#idle.filter((one) => one.client !== client)
    destroyConnection(client)
    this.#openForNext()
  }

  #openForNext(): void {
    const [next] = this.#waiting
    if (next !== undefined && this.#open.size + this.#opening < this.#options.max) next.give(this.#openNew())
  }

  /** Those in use, too: what they still say is not to be believed, a commit least of all. */
  #closeOthers(): void {
    for (const client of this.#open) if (!this.#primary.leadsToCurrent(client)) this.#remove(client)
  }

  #closeIdle(): void {
    const before = performance.now() - limits.poolIdleMsMax
    const old = this.#idle.filter(({ since }) => since < before)
    this.#idle = this.#idle.filter(({ since }) => since >= before)
    for (const { client } of old) {
      this.#open.delete(client)
      client.end().catch(() => {})
    }
  }
}

function allBusy(): Failure {
  return new Failure(
    'overloaded',
    'All connections to the database are busy with other requests. Try again shortly.',
  )
}
