import type pg from 'pg'
import { Failure, overloaded } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { EmitEvent, PoolName } from '../observability/events.ts'
import { destroyConnection, type ServingConfig } from './connections.ts'

/** Counts of connections, and of callers that wait for one. */
export interface PoolState {
  readonly pool: PoolName
  readonly max: number
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

/** Adds the numbers of pools with the same name. */
export function sumOfPools(states: readonly PoolState[]): PoolState[] {
  return [...Map.groupBy(states, ({ pool }) => pool)].map(([pool, same]) => {
    const sum = { pool, max: 0, open: 0, idle: 0, waiting: 0 }
    for (const state of same)
      for (const count of ['max', 'open', 'idle', 'waiting'] as const) sum[count] += state[count]
    return sum
  })
}

export interface PoolOptions {
  readonly name: PoolName
  readonly max: number
  /** How long a caller waits while all connections are in use; then it fails with `overloaded`. */
  readonly waitMsMax: number
  readonly config: ServingConfig
  readonly emit?: EmitEvent
}

/** Opens the connections of a pool: to the primary, or to a replica. */
export interface ConnectionSource {
  open(config: ServingConfig): Promise<pg.Client>
  /** Whether the connection leads to the server to which new connections are opened. */
  isCurrentConnection(client: pg.Client): boolean
  /** The listener is called when open connections are no longer current, and must close them. */
  onChange(listener: () => void): void
}

interface Waiter {
  readonly resolve: (client: pg.Client | Promise<pg.Client>) => void
}

interface IdleConnection {
  readonly client: pg.Client
  /** By `performance.now()`. */
  readonly since: number
}

/**
 * Connections to one server, each used by one caller at a time. Unlike `pg.Pool`, it reports a timeout while waiting for
 * a connection (the service is overloaded) and a failure to open one (the database is unavailable) as different errors,
 * and closes all connections that are no longer current.
 */
export class ConnectionPool {
  readonly #source: ConnectionSource
  readonly #options: PoolOptions
  /** In use or idle. */
  readonly #open = new Set<pg.Client>()
  /** The most recently used last. */
  #idle: IdleConnection[] = []
  readonly #waiting = new Set<Waiter>()
  #opening = 0
  #isClosed = false
  readonly #timer: NodeJS.Timeout

  constructor(source: ConnectionSource, options: PoolOptions) {
    this.#source = source
    this.#options = options
    this.#timer = setInterval(() => this.#closeIdle(), limits.poolIdleMsMax / 2).unref()
    source.onChange(() => this.#closeOutdated())
  }

  get state(): PoolState {
    const { name: pool, max } = this.#options
    return { pool, max, open: this.#open.size, idle: this.#idle.length, waiting: this.#waiting.size }
  }

  /** Whether a caller would get a connection without waiting for another caller. */
  get hasFree(): boolean {
    return this.#idle.length > 0 || this.#open.size + this.#opening < this.#options.max
  }

  /** The caller must call `release`. */
  async acquire(): Promise<pg.Client> {
    const startedAt = performance.now()
    try {
      return this.#idle.pop()?.client ?? (await this.#openOrWait())
    } finally {
      const { name, emit } = this.#options
      emit?.({ kind: 'connection-acquired', pool: name, ms: performance.now() - startedAt })
    }
  }

  /** `isBroken`: the connection is closed instead of reused. */
  release(client: pg.Client, isBroken = false): void {
    if (!this.#open.has(client)) {
      this.#openForNext()
    } else if (isBroken || this.#isClosed || !this.#source.isCurrentConnection(client)) {
      this.#remove(client)
    } else {
      const [next] = this.#waiting
      if (next === undefined) this.#idle.push({ client, since: performance.now() })
      else next.resolve(client)
    }
  }

  /** Closes connections in use, too: the caller has already waited for running requests to end. */
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
        clearTimeout(timeout)
        this.#waiting.delete(waiter)
      }
      const waiter: Waiter = {
        resolve: (client) => {
          leave()
          resolve(client)
        },
      }
      const timeout = setTimeout(() => {
        leave()
        reject(allBusy())
      }, this.#options.waitMsMax)
      this.#waiting.add(waiter)
    })
  }

  async #openNew(): Promise<pg.Client> {
    this.#opening++
    try {
      const client = await this.#source.open(this.#options.config)
      this.#open.add(client)
      client.once('end', () => this.#remove(client))
      return client
    } catch (error) {
      // The next waiting caller tries to open one, too: it fails now instead of timing out later.
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
    if (next !== undefined && this.#open.size + this.#opening < this.#options.max)
      next.resolve(this.#openNew())
  }

  /** Closes connections in use, too: a result of the previous server, above all a commit, is not reliable. */
  #closeOutdated(): void {
    for (const client of this.#open) if (!this.#source.isCurrentConnection(client)) this.#remove(client)
  }

  #closeIdle(): void {
    const idleSinceMin = performance.now() - limits.poolIdleMsMax
    const expired = this.#idle.filter(({ since }) => since < idleSinceMin)
    this.#idle = this.#idle.filter(({ since }) => since >= idleSinceMin)
    for (const { client } of expired) {
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
