import { LRUCache } from 'lru-cache'
import { BatchQueue } from '../batch-queue.ts'
import { limits } from '../limits/limits.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { Database } from '../postgres/database.ts'
import { placeholder, sql } from '../sql.ts'

/** Whether an account allows an origin. */
export interface OriginQuestion {
  readonly accountName: string
  readonly origin: string
}

interface Lookup extends OriginQuestion {
  readonly resolve: (answer: boolean | undefined) => void
}

/**
 * Looks up which origins the accounts allow. Only "yes" is cached, for `corsCachedMs`: the response itself says so to everyone. Any
 * other origin takes the same statement every time, whether or not the account exists, allows others, or was used lately, so
 * that the time of a response reveals nothing. As one such statement is in flight at a time, a flood of them costs little.
 */
export class AllowedOrigins {
  readonly #database: Database
  readonly #cachedMs: number
  /** When it was looked up last, by `performance.now()`. */
  readonly #allowed = new LRUCache<string, number>({ max: limits.corsOriginsCached })
  readonly #queue = new BatchQueue<Lookup>({
    inFlightMax: 1,
    take: (waiting) => waiting.splice(0, limits.corsBatchMax),
    run: (batch) => this.#run(batch),
  })

  constructor(database: Database, { corsCachedMs }: Limits) {
    this.#database = database
    this.#cachedMs = corsCachedMs
  }

  /** A promise if it must be looked up. If that fails, what was known last applies. */
  isAllowed(question: OriginQuestion): boolean | Promise<boolean> {
    const at = this.#allowed.get(nameOf(question))
    if (at !== undefined && performance.now() - at <= this.#cachedMs) return true
    if (this.#queue.size >= limits.corsLookupsWaitingMax) return at !== undefined
    return this.#lookUp(question)
  }

  /** Whether it was allowed when it was looked up last, for a response that must not wait. */
  wasAllowed(question: OriginQuestion): boolean {
    return this.#allowed.has(nameOf(question))
  }

  async #lookUp(question: OriginQuestion): Promise<boolean> {
    const found = new Promise<boolean | undefined>((resolve) => this.#queue.add({ ...question, resolve }))
    const answer = await found
    const name = nameOf(question)
    if (answer === undefined) return this.#allowed.has(name)
    if (answer) this.#allowed.set(name, performance.now())
    else this.#allowed.delete(name)
    return answer
  }

  async #run(batch: readonly Lookup[]): Promise<void> {
    let answers: readonly (boolean | undefined)[] = []
    try {
      const find = await this.#database.form(findAllowed)
      answers = await find(this.#database, batch)
    } catch {
      // Not reported: every request of the batch fails for the same reason, or works without it.
    }
    for (const [i, { resolve }] of batch.entries()) resolve(answers[i])
  }
}

/** An origin has no space. */
function nameOf({ accountName, origin }: OriginQuestion): string {
  return `${accountName} ${origin}`
}

/** The answers, in order. Undefined if it is not known. */
export async function findAllowed(
  database: Database,
  questions: readonly OriginQuestion[],
): Promise<readonly (boolean | undefined)[]> {
  const rows = await database.read<{ allowed: string }>(
    allowedStatement([
      questions.map(({ accountName }) => accountName),
      questions.map(({ origin }) => origin),
    ]),
  )
  return rows.map(({ allowed }) => allowed === 'true')
}

const names = placeholder()
const origins = placeholder()
/** One row for each question, whatever the answer is. */
export const allowedStatement = sql`select coalesce(q.origin = any(c.origins), false)::text as allowed
from unnest(${names}::text[], ${origins}::text[]) with ordinality q(name, origin, n)
left join account a on a.name = q.name
left join cors_origins c on c.account_id = a.account_id
order by q.n`.template([names, origins], 'account', 'pipelined')
