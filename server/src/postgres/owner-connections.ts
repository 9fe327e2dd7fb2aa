import { Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { connectToPrimary } from './client.ts'
import type { Connection } from './connection.ts'
import { connectFailureOf, failureOf } from './sqlstate.ts'

/**
 * A few connections as the owner of the tables, for a process that serves operators. A connection that had an error is closed: after a
 * failover its server may no longer be the primary.
 */
export class OwnerConnections {
  readonly #url: string
  readonly #idle: Connection[] = []
  readonly #waiting: (() => void)[] = []
  #open = 0
  #isClosed = false

  constructor(url: string) {
    this.#url = url
  }

  async run<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#acquire()
    try {
      const result = await work(connection)
      await this.#release(connection)
      return result
    } catch (error) {
      // Thrown by the work itself, after its transaction was rolled back.
      if (error instanceof Failure) await this.#release(connection)
      else connection.destroy()
      throw failureOf(error, connection)
    } finally {
      this.#open--
      this.#waiting.shift()?.()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#idle.splice(0).map((connection) => connection.end()))
  }

  async #release(connection: Connection): Promise<void> {
    connection.idleSince = performance.now()
    if (this.#isClosed) await connection.end()
    else this.#idle.push(connection)
  }

  async #acquire(): Promise<Connection> {
    while (this.#open >= limits.ownerConnections) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve)
      })
    }
    this.#open++
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (performance.now() - idle.idleSince < limits.ownerConnectionIdleMs) return idle
      idle.destroy()
    }
    try {
      return await connectToPrimary(this.#url)
    } catch (error) {
      this.#open--
      this.#waiting.shift()?.()
      throw connectFailureOf(error)
    }
  }
}
