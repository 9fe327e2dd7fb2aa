import { LRUCache } from 'lru-cache'
import { limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import { type Statement, sql, value } from '../sql.ts'

/**
 * Deletes log rows of accounts beyond the limits on their number and age. The number is checked after every
 * `logTrimRows` rows that this process adds to an account. The age is checked in a sweep over all accounts,
 * `logSweepAccounts` at a time; each process starts at a random account.
 */
export class Retention {
  readonly #database: Database
  /** Rows added by this process since the last trim, by account. */
  readonly #added = new LRUCache<string, number>({ max: limits.logTrimAccounts })
  readonly #due = new Set<string>()
  #after = ''
  #sweptAt = performance.now()

  constructor(database: Database) {
    this.#database = database
  }

  countAdded(accountIds: Iterable<string>): void {
    for (const accountId of accountIds) {
      const added = (this.#added.get(accountId) ?? 0) + 1
      this.#added.set(accountId, added)
      if (added >= limits.logTrimRows) this.#due.add(accountId)
    }
  }

  /** Trims one account that is due, and continues the sweep every `logSweepMs`. */
  async run(): Promise<void> {
    const [accountId] = this.#due
    if (accountId !== undefined) {
      this.#due.delete(accountId)
      this.#added.delete(accountId)
      for (const statement of trimStatements(accountId)) await this.#database.writeOne(statement)
    }
    if (performance.now() - this.#sweptAt < limits.logSweepMs) return
    this.#sweptAt = performance.now()
    await this.#sweep()
  }

  async #sweep(): Promise<void> {
    if (this.#after === '') {
      const [last] = await this.#database.read<{ id: string }>(
        sql`select account_id as id from account order by account_id desc limit 1`.statement('activity'),
      )
      this.#after = String(Math.floor(Math.random() * Number(last?.id ?? 0)))
    }
    const accounts = await this.#database.read<{ id: string }>(
      sql`select account_id as id from account where account_id > ${value(this.#after)}::bigint
order by account_id limit ${value(limits.logSweepAccounts)}::int`.statement('activity'),
    )
    this.#after = accounts.length < limits.logSweepAccounts ? '0' : (accounts.at(-1)?.id ?? '0')
    for (const statement of sweepStatements(accounts.map(({ id }) => id)))
      await this.#database.writeOne(statement)
  }
}

/** Deletes the oldest rows of an account beyond the maximum number. */
export function trimStatements(accountId: string): readonly Statement[] {
  const account = value(accountId)
  const usage = (per: 'minute' | 'day') => {
    const kind = value(per)
    return sql`delete from usage where account_id = ${account}::bigint and per = ${kind}::text and (at, key_id, route) <= (
  select at, key_id, route from usage where account_id = ${account}::bigint and per = ${kind}::text
  order by at desc, key_id desc, route desc offset ${value(limits.usageRowsMax)}::int limit 1)`.statement(
      'activity',
    )
  }
  return [
    sql`delete from request where account_id = ${account}::bigint and (at, id) <= (
  select at, id from request where account_id = ${account}::bigint
  order by at desc, id desc offset ${value(limits.requestLogRowsMax)}::int limit 1)`.statement('activity'),
    usage('minute'),
    usage('day'),
  ]
}

/** Deletes rows beyond the maximum age. */
export function sweepStatements(accountIds: readonly string[]): readonly Statement[] {
  const accounts = value(accountIds)
  const before = (days: number) => sql`at < now() - make_interval(days => ${value(days)}::int)`
  return [
    sql`delete from request where account_id = any(${accounts}::bigint[]) and ${before(limits.requestLogDays)}`.statement(
      'activity',
    ),
    sql`delete from usage where account_id = any(${accounts}::bigint[]) and per = 'minute'
  and ${before(limits.usageMinuteDays)}`.statement('activity'),
    sql`delete from usage where account_id = any(${accounts}::bigint[]) and per = 'day'
  and ${before(limits.usageDayDays)}`.statement('activity'),
    sql`delete from idempotency where account_id = any(${accounts}::bigint[])
  and created_at <= now() - make_interval(hours => ${value(limits.idempotencyHours)}::int)`.statement(
      'activity',
    ),
    sql`delete from delivery where account_id = any(${accounts}::bigint[]) and ${before(limits.deliveryLogDays)}`.statement(
      'activity',
    ),
  ]
}
