import { type Resource, resources } from '../catalog/resources.ts'
import { type Limits, limits } from '../limits/limits.ts'
import type { Database } from '../postgres/database.ts'
import type { AccountScope } from '../scope.ts'
import { identifier, type Statement, sql, value } from '../sql.ts'
import type { Topology } from '../topology.ts'
import { areImagesExpired, trimExpired } from './journal.ts'
import { type LockedTally, lockTally, tickTally } from './tick.ts'

/**
 * Deletes expired before-images of accounts that write nothing more: writes trim the journal, so these would keep the data of
 * deleted records. Only accounts with images are visited, `journalSweepAccounts` of each resource in a sweep. Every process sweeps.
 */
export class JournalSweep {
  readonly #database: Database
  readonly #sweepMs: number
  readonly #after = new Map<Resource, string>()
  #sweptAt = performance.now()

  constructor(database: Database, { journalSweepMs }: Pick<Limits, 'journalSweepMs'>) {
    this.#database = database
    this.#sweepMs = journalSweepMs
  }

  /** Does nothing until the next sweep is due. */
  async run(): Promise<void> {
    if (performance.now() - this.#sweptAt < this.#sweepMs) return
    this.#sweptAt = performance.now()
    for (const resource of Object.values(resources)) await this.#sweep(resource)
  }

  async #sweep(resource: Resource): Promise<void> {
    const statement = accountsWithImages[await this.#database.topology()]
    const found = await this.#database.read<{ account_id: string; expired: string }>(
      statement(resource, this.#after.get(resource) ?? '0'),
    )
    const isLast = found.length < limits.journalSweepAccounts
    this.#after.set(resource, isLast ? '0' : (found.at(-1)?.account_id ?? '0'))
    for (const { account_id: accountId, expired } of found)
      if (expired === 't') await trim(this.#database, { accountId }, resource)
  }
}

/**
 * The tally names the version from which on images are complete, so the deletion is a write of its own, with a version and no records.
 * Another process may have been faster.
 */
async function trim(database: Database, scope: AccountScope, resource: Resource): Promise<void> {
  await database.writeTo(scope, async (transaction) => {
    const [tally] = await transaction.run<LockedTally>(lockTally(scope, resource, transaction.topology))
    if (tally === undefined) return
    const [images] = await transaction.run<{ expired: boolean | null }>(areImagesExpired(scope, resource))
    if (images?.expired !== true) return
    const tick = { added: sql`0`, lastId: sql`t.last_id` }
    await transaction.run(tickTally(value(scope.accountId), resource, tick, tally).statement('update'))
    for (const statement of trimExpired(scope, resource)) await transaction.run(statement)
  })
}

const expired = sql`now() - make_interval(mins => ${value(limits.imageMinutes)}::int)`

/** The next accounts with images, and whether the oldest image has expired. */
const accountsWithImages: Record<Topology, (resource: Resource, after: string) => Statement> = {
  // One index probe for each account, however many images it has.
  single(resource, after) {
    const table = identifier(`${resource.name}_before`)
    return sql`with recursive a as (
  (select account_id from ${table} where account_id > ${value(after)}::bigint order by account_id limit 1)
  union all
  select (select b.account_id from ${table} b where b.account_id > a.account_id order by b.account_id limit 1) from a
  where a.account_id is not null
)
select a.account_id, (select b.at < ${expired} from ${table} b where b.account_id = a.account_id order by b.version limit 1) as expired
from a where a.account_id is not null limit ${value(limits.journalSweepAccounts)}::int`.statement('activity')
  },
  // Citus has no recursion over all shards. Each worker groups its images.
  distributed: (resource, after) =>
    sql`select account_id, min(at) < ${expired} as expired from ${identifier(`${resource.name}_before`)}
where account_id > ${value(after)}::bigint
group by account_id order by account_id limit ${value(limits.journalSweepAccounts)}::int`.statement(
      'activity',
    ),
}
