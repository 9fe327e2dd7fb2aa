import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { limits } from '../limits/limits.ts'
import type { Statement } from '../sql.ts'
import { localSettingsOf } from './connections.ts'

declare module 'pg' {
  interface Connection {
    readonly parsedStatements: Record<string, string>
  }
  interface ClientBase {
    readonly connection: pg.Connection
  }
}

interface PreparedStatement {
  readonly name: string
  uses: number
}

/**
 * Decides which statements are prepared, and names them: those whose best plan does not depend on their values, and whose
 * text recurs. Each uses memory of PostgreSQL on every connection, so there are at most `preparedStatementsMax`. A
 * candidate used more than twice as often as the least used statement replaces it. Names are never reused; each
 * connection closes the replaced statement when it next prepares one.
 */
export class StatementCache {
  /** By text. */
  readonly #prepared = new Map<string, PreparedStatement>()
  /** Uses of texts that are not prepared. */
  readonly #candidates = new LRUCache<string, number>({ max: limits.preparedCandidatesMax })
  #lastNumber = 0
  #usesSinceDecay = 0

  /** The statement's name, or undefined if it is not prepared. Also closes replaced statements on the connection. */
  nameFor(client: pg.ClientBase, { execution, text }: Statement): string | undefined {
    // Behind a pooler, the backend of the next transaction would not have the prepared statement.
    if (execution === undefined || localSettingsOf(client) !== undefined) return undefined
    const { connection } = client
    const name = this.nameOf(text)
    if (name !== undefined && connection.parsedStatements[name] === undefined) this.#closeReplaced(connection)
    return name
  }

  nameOf(text: string): string | undefined {
    if (++this.#usesSinceDecay >= limits.preparedDecayStatements) this.#decay()
    const statement = this.#prepared.get(text)
    if (statement !== undefined) {
      statement.uses++
      return statement.name
    }
    const uses = (this.#candidates.get(text) ?? 0) + 1
    if (uses < limits.preparedUsesMin || !this.#makeSpace(uses)) {
      this.#candidates.set(text, uses)
      return undefined
    }
    this.#candidates.delete(text)
    const name = `q${++this.#lastNumber}`
    this.#prepared.set(text, { name, uses })
    return name
  }

  /** If the cache is full, removes the least used statement. False if the candidate has not been used often enough for that. */
  #makeSpace(uses: number): boolean {
    if (this.#prepared.size < limits.preparedStatementsMax) return true
    let [least, leastUses] = ['', Number.POSITIVE_INFINITY]
    for (const [text, statement] of this.#prepared)
      if (statement.uses < leastUses) [least, leastUses] = [text, statement.uses]
    if (uses <= 2 * leastUses) return false
    this.#prepared.delete(least)
    this.#candidates.set(least, leastUses)
    return true
  }

  /** Halves all counts, so that statements that are no longer used can be replaced. */
  #decay(): void {
    this.#usesSinceDecay = 0
    for (const statement of this.#prepared.values()) statement.uses = Math.floor(statement.uses / 2)
    // Copied and set from the least to the most recently used, because setting an entry makes it the most recent.
    for (const [text, uses] of [...this.#candidates.entries()].toReversed())
      this.#candidates.set(text, Math.floor(uses / 2))
  }

  /** The Close messages are sent with the next statement and cost no round trip. */
  #closeReplaced(connection: pg.Connection): void {
    for (const [name, text] of Object.entries(connection.parsedStatements)) {
      if (this.#prepared.get(text)?.name === name) continue
      connection.close({ type: 'S', name }, true)
      delete connection.parsedStatements[name]
    }
  }
}

export const statementCache = new StatementCache()
