import { Failure, overloaded } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { EmitEvent, PoolName } from '../observability/events.ts'
import type { Connection } from './connection.ts'
import type { ServingConfig } from './settings.ts'

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
  open(config: ServingConfig): Promise<Connection>
  /** That of connections which lead to the server to which new ones are opened. */
  readonly server: object | undefined
  /** The listener is called when open connections are no longer current, and must close them. */
  onChange(listener: () => void): void
}

interface Waiter {
  readonly resolve: (connection: Connection | Promise<Connection>) => void
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
  readonly #open = new Set<Connection>()
  /** The most recently used last. */
  #idle: Connection[] = []
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
  async acquire(): Promise<Connection> {
    const startedAt = performance.now()
    try {
      return this.#idle.pop() ?? (await this.#openOrWait())
    } finally {
      const { name, emit } = this.#options
      emit?.({ kind: 'connection-acquired', pool: name, ms: performance.now() - startedAt })
    }
  }

  /** `isBroken`: the connection is closed instead of reused. */
  release(connection: Connection, isBroken = false): void {
    if (!this.#open.has(connection)) {
      this.#openForNext()
    } else if (isBroken || connection.isDestroyed || this.#isClosed || !this.#isCurrent(connection)) {
      this.#remove(connection)
    } else {
      const [next] = this.#waiting
      connection.idleSince = performance.now()
      if (next === undefined) this.#idle.push(connection)
      else next.resolve(connection)
    }
  }

  /** Closes connections in use, too: the caller has already waited for running requests to end. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    const idle = this.#idle.splice(0)
    for (const connection of this.#open) if (!idle.includes(connection)) connection.destroy()
    await Promise.all(idle.map((connection) => connection.end().catch(() => {})))
  }

  #openOrWait(): Promise<Connection> {
    if (this.#open.size + this.#opening < this.#options.max) return this.#openNew()
    if (this.#waiting.size >= limits.poolWaitingMax) throw overloaded()
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timeout)
        this.#waiting.delete(waiter)
      }
      const waiter: Waiter = {
        resolve: (connection) => {
          leave()
          resolve(connection)
        },
      }
      const timeout = setTimeout(() => {
        leave()
        reject(allBusy())
      }, this.#options.waitMsMax)
      this.#waiting.add(waiter)
    })
  }

  async #openNew(): Promise<Connection> {
    this.#opening++
    try {
      const connection = await this.#source.open(this.#options.config)
      this.#open.add(connection)
      connection.once('end', () => this.#remove(connection))
      return connection
    } catch (error) {
      // The next waiting caller tries to open one, too: it fails now instead of timing out later.
      queueMicrotask(() => this.#openForNext())
      throw error
    } finally {
      this.#opening--
    }
  }

  #remove(connection: Connection): void {
    if (!this.#open.delete(connection)) return
    this.#idle = this.#idle.filter((one) => one !== connection)
    connection.destroy()
    this.#openForNext()
  }

  #openForNext(): void {
    const [next] = this.#waiting
    if (next !== undefined && this.#open.size + this.#opening < this.#options.max)
      next.resolve(this.#openNew())
  }

  /** Closes connections in use, too: a result of the previous server, above all a commit, is not reliable. */
  #closeOutdated(): void {
    for (const connection of this.#open) if (!this.#isCurrent(connection)) this.#remove(connection)
  }

  #isCurrent(connection: Connection): boolean {
    return connection.server === this.#source.server
  }

  #closeIdle(): void {
    const idleSinceMin = performance.now() - limits.poolIdleMsMax
    const expired = this.#idle.filter(({ idleSince }) => idleSince < idleSinceMin)
    this.#idle = this.#idle.filter(({ idleSince }) => idleSince >= idleSinceMin)
    for (const connection of expired) {
      this.#open.delete(connection)
      connection.end().catch(() => {})
    }
  }
}

function allBusy(): Failure {
  return new Failure(
    'overloaded',
    'All connections to the database are busy with other requests. Try again shortly.',
  )
}
