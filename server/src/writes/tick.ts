import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, type Statement, sql, type Value, value } from '../sql.ts'
import { isOwnWrite, type Lineages, lineageColumns, nextLineage, writerEpoch } from '../tally-state.ts'

/** What one write does to the tally, besides incrementing the version. */
export interface Tick {
  /** Records inserted minus records deleted. */
  readonly added: Fragment
  readonly lastId: Fragment
  /** Set by a write that journals no before-images: cached totals from before it cannot be carried across it. */
  readonly withoutImages?: boolean
  readonly ownLastId?: Fragment
}

const isSameLineage = sql`(${isOwnWrite} and t.writer_epoch = ${writerEpoch})`
const max = sql`${value(limits.lineagesMax)}::int`

/**
 * The only way to increment the version of a tally. If the last write was made before a restart or failover, a new lineage begins
 * at the version of the row. If it was made by something else than this statement, nothing is known about the time before.
 */
export function tickTally(account: Value, resource: Resource, tick: Tick): Fragment {
  return sql`${updateTally(tick)}
where t.account_id = ${account}::bigint and t.resource = ${value(resource.name)}::text`
}

/** Of several accounts, whose ids are in the column `account_id` of `accounts`. */
export function tickTallies(accounts: Fragment, resource: Resource, tick: Tick): Fragment {
  return sql`${updateTally(tick)}
from ${accounts} where t.account_id = ${accounts}.account_id and t.resource = ${value(resource.name)}::text`
}

function updateTally(tick: Tick): Fragment {
  const imagesFrom = sql`case when ${isOwnWrite} then t.images_from else t.version end`
  return sql`update tally t set version = t.version + 1, total = t.total + ${tick.added}, last_id = ${tick.lastId},
  lineages = case when ${isSameLineage} then t.lineages when ${isOwnWrite} then (${nextLineage} || t.lineages)[1:${max}]
    else array[${nextLineage}] end,
  lineage_starts = case when ${isSameLineage} then t.lineage_starts when ${isOwnWrite} then (t.version || t.lineage_starts)[1:${max}]
    else array[t.version] end,
  changes_from = case when ${isOwnWrite} then t.changes_from else t.version end,
  images_from = ${tick.withoutImages === true ? sql`t.version + 1` : imagesFrom},
  ${tick.ownLastId === undefined ? sql`` : sql`own_last_id = ${tick.ownLastId}, `}writer_epoch = ${writerEpoch}, writer_xid = pg_current_xact_id()::xid`
}

/** Its `version` is the one that this write will have. */
export interface LockedTally extends Lineages {
  readonly last_id: string
  /** Null if this service assigns all ids. */
  readonly own_last_id: string | null
  readonly written_at: string
}

/**
 * Excludes other writers of the account's resource until the transaction ends. The statements after it have snapshots that are
 * newer than the lock, so they see everything that the previous writer has committed.
 */
export function lockTally(scope: AccountScope, resource: Resource): Statement {
  return sql`select (t.version + 1)::text as version, t.last_id::text as last_id, t.own_last_id::text as own_last_id, ${lineageColumns},
  to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as written_at
from tally t where t.account_id = ${value(scope.accountId)}::bigint and t.resource = ${value(resource.name)}
for update`.statement()
}
