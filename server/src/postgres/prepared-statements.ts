import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { limits } from '../limits/limits.ts'

declare module 'pg' {
  interface Connection {
    readonly parsedStatements: Record<string, string>
  }
}

/**
 * The statements that a connection has prepared: those whose text recurs. Each uses memory of PostgreSQL, so there are at most
 * `preparedStatementsMax`, and the least recently used one is closed.
 *
 * A name always stands for the same text. If a pooler exchanges the backend, PostgreSQL either does not know the name, or runs
 * exactly this text: never the statement that another connection has prepared under the name.
 */
export class PreparedStatements {
  readonly #connection: pg.Connection
  /** By text. */
  readonly #names = new LRUCache<string, string>({ max: limits.preparedStatementsMax })
  /** Uses of texts that are not prepared. */
  readonly #uses = new LRUCache<string, number>({ max: limits.preparedCandidatesMax })

  constructor(connection: pg.Connection) {
    this.#connection = connection
  }

  /** The name under which the caller must run the statement; undefined if it is not prepared. */
  nameOf(text: string): string | undefined {
    const name = this.#names.get(text)
    if (name !== undefined) return name
    const uses = (this.#uses.get(text) ?? 0) + 1
    if (uses >= limits.preparedUsesMin) return this.#prepare(text)
    this.#uses.set(text, uses)
    return undefined
  }

  #prepare(text: string): string {
    const name = `q${hash('sha256', text, 'base64url').slice(0, 22)}`
    this.#uses.delete(text)
    this.#names.set(text, name)
    this.#closeReplaced()
    return name
  }

  /** The Close messages are sent with the next statement and cost no round trip. */
  #closeReplaced(): void {
    const { parsedStatements } = this.#connection
    for (const [name, text] of Object.entries(parsedStatements)) {
      if (this.#names.peek(text) === name) continue
      this.#connection.close({ type: 'S', name }, true)
      delete parsedStatements[name]
    }
  }
}
