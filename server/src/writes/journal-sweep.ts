import { type Resource, resources } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { Database } from '../postgres/database.ts'
import type { AccountScope } from '../scope.ts'
import { identifier, type Statement, sql, value } from '../sql.ts'
import { hasExpired, trimExpired } from './journal.ts'
import { lockTally, tickTally } from './tick.ts'

/**
 * Deletes expired before-images and tombstones of accounts that write nothing more: writes trim the journal, so these would keep the
 * data of deleted records. A sweep visits `journalSweepAccounts` accounts of each resource: the next ones with images, because
 * images expire after minutes, and the next ones at all, because tombstones have a month. Every process sweeps.
 */
export class JournalSweep {
  readonly #database: Database
  readonly #sweepMs: number
  /** The last account of each search. */
  readonly #after = new Map<string, string>()
  #sweptAt = performance.now()

  constructor(database: Database, { journalSweepMs }: Pick<Limits, 'journalSweepMs'>) {
    this.#database = database
    this.#sweepMs = journalSweepMs
  }

  /** Does nothing until the next sweep is due. */
  async run(): Promise<void> {
    if (performance.now() - this.#sweptAt < this.#sweepMs) return
    this.#sweptAt = performance.now()
    const search = await this.#database.form(accountsWithImages)
    for (const resource of Object.values(resources)) {
      await this.#sweep(resource, 'images', search)
      await this.#sweep(resource, 'tombstones', accountsWithTombstones)
    }
  }

  async #sweep(resource: Resource, kind: string, search: Search): Promise<void> {
    const position = `${resource.name} ${kind}`
    const found = await this.#database.read<{ account_id: string; expired: string | null }>(
      search(resource, this.#after.get(position) ?? '0'),
    )
    const isLast = found.length < limits.journalSweepAccounts
    this.#after.set(position, isLast ? '0' : (found.at(-1)?.account_id ?? '0'))
    for (const { account_id: accountId, expired } of found)
      if (expired === 't') await trim(this.#database, { accountId }, resource)
  }
}

/**
 * The tally names the version from which on each journal is complete, so the deletion is a write of its own, with a version and no records.
 * Another process may have been faster.
 */
async function trim(database: Database, scope: AccountScope, resource: Resource): Promise<void> {
  await database.writeTo(scope, async (transaction) => {
    const tally = await transaction.form(lockTally)(transaction, scope, resource)
    if (tally === undefined) return
    const [journal] = await transaction.run<{ expired: boolean }>(hasExpired(scope, resource))
    if (journal?.expired !== true) return
    const tick = { added: sql`0`, lastId: sql`t.last_id` }
    await transaction.run(tickTally(value(scope.accountId), resource, tick, tally).statement('update'))
    for (const statement of trimExpired(scope, resource)) await transaction.run(statement)
  })
}

/** The next accounts after one, and whether their oldest row has expired. */
type Search = (resource: Resource, after: string) => Statement

export const expired = sql`now() - make_interval(mins => ${value(limits.imageMinutes)}::int)`

/** One index probe for each account, however many images it has. */
export function accountsWithImages(resource: Resource, after: string): Statement {
  const table = identifier(`${resource.name}_before`)
  return sql`with recursive a as (
  (select account_id from ${table} where account_id > ${value(after)}::bigint order by account_id limit 1)
  union all
  select (select b.account_id from ${table} b where b.account_id > a.account_id order by b.account_id limit 1) from a
  where a.account_id is not null
)
select a.account_id, (select b.at < ${expired} from ${table} b where b.account_id = a.account_id order by b.version limit 1) as expired
from a where a.account_id is not null limit ${value(limits.journalSweepAccounts)}::int`.statement('activity')
}

/** All accounts, because most have no tombstone: one index probe for each. */
const accountsWithTombstones: Search = ({ name }, after) => {
  const resource = sql`${value(name)}::text`
  return sql`select t.account_id, (select b.at < now() - make_interval(days => ${value(limits.tombstoneDays)}::int)
  from tombstone b where b.account_id = t.account_id and b.resource = ${resource} order by b.version limit 1) as expired
from tally t where t.account_id > ${value(after)}::bigint and t.resource = ${resource}
order by t.account_id limit ${value(limits.journalSweepAccounts)}::int`.statement('activity')
}
