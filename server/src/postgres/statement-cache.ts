import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { limits } from '../limits.ts'
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

interface Named {
  readonly name: string
  uses: number
}

/**
 * Names for statements worth keeping prepared: those whose best plan does not depend on their values, and whose text
 * comes again. Each costs PostgreSQL memory on every connection, so there are only so many. A text that comes twice as
 * often as the least used one takes its place; its name never comes again, and each connection closes it in its time.
 */
export class PreparedNames {
  readonly #named = new Map<string, Named>()
  readonly #seen = new LRUCache<string, number>({ max: limits.preparedCandidatesMax })
  #given = 0
  #counted = 0

  /** The name to send this statement by. What the connection has prepared in vain is closed on the way to it. */
  nameFor(client: pg.ClientBase, { execution, text }: Statement): string | undefined {
    // The backend of the next transaction would not know the name.
    if (execution === undefined || localSettingsOf(client) !== undefined) return undefined
    const { connection } = client
    const name = this.nameOf(text)
    if (name !== undefined && connection.parsedStatements[name] === undefined) this.#closeOld(connection)
    return name
  }

  nameOf(text: string): string | undefined {
    if (++this.#counted >= limits.preparedDecayStatements) this.#forgetHalf()
    const named = this.#named.get(text)
    if (named !== undefined) {
      named.uses++
      return named.name
    }
    const uses = (this.#seen.get(text) ?? 0) + 1
    if (uses < limits.preparedUsesMin || !this.#hasRoomFor(uses)) {
      this.#seen.set(text, uses)
      return undefined
    }
    this.#seen.delete(text)
    const name = `q${++this.#given}`
    this.#named.set(text, { name, uses })
    return name
  }

  #hasRoomFor(uses: number): boolean {
    if (this.#named.size < limits.preparedStatementsMax) return true
    let [least, leastUses] = ['', Number.POSITIVE_INFINITY]
    for (const [text, named] of this.#named)
      if (named.uses < leastUses) [least, leastUses] = [text, named.uses]
    if (uses <= 2 * leastUses) return false
    this.#named.delete(least)
    this.#seen.set(least, leastUses)
    return true
  }

  /** So that what was asked for often, and no longer is, makes room. */
  #forgetHalf(): void {
    this.#counted = 0
    for (const named of this.#named.values()) named.uses = Math.floor(named.uses / 2)
    // All of them first, the longest unseen first: setting one makes it the newest.
    for (const [text, uses] of [...this.#seen.entries()].toReversed())
      this.#seen.set(text, Math.floor(uses / 2))
  }

  /** Goes out with the next statement, and asks for no answer of its own. */
  #closeOld(connection: pg.Connection): void {
    for (const [name, text] of Object.entries(connection.parsedStatements)) {
      if (this.#named.get(text)?.name === name) continue
      connection.close({ type: 'S', name }, true)
      delete connection.parsedStatements[name]
    }
  }
}

/** Those of this process. */
export const prepared = new PreparedNames()
