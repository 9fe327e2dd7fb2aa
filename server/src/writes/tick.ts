import type { Resource } from '../catalog/resources.ts'
import type { IdColumns } from '../id-source.ts'
import { limits } from '../limits/limits.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, prepared, type Statement, sql, type Value, value } from '../sql.ts'
import { type EpochColumns, isOwnWrite, type Lineages, lineageColumns, plainEpoch } from '../tally-state.ts'

/** What one write does to the tally, besides incrementing the version. */
export interface Tick {
  /** Records inserted minus records deleted. */
  readonly added: Fragment
  readonly lastId: Fragment
  /** Set by a write that journals no before-images: cached totals from before it cannot be carried across it. */
  readonly withoutImages?: boolean
  readonly ownLastId?: Fragment
  /** Further assignments, each with a comma behind it. */
  readonly more?: Fragment
}

/**
 * The date of a write: never before that of the previous write, even if the clock was set back or a failover led to a server whose
 * clock is behind. PostgreSQL evaluates it again if another writer changed the row while this statement waited for its lock. So
 * dates are in the order of versions, which is the order of commits: a client that has read a date has not missed an earlier one.
 */
const dateOfWrite = (clock: Fragment) => sql`greatest(${clock}, t.written_at)`
const clock = sql`clock_timestamp()`

const max = sql`${value(limits.lineagesMax)}::int`

/** The columns that identify the server and the transaction of a write, by which the next write detects an interruption. */
export interface Series {
  readonly lineages: Fragment
  readonly lineage_starts: Fragment
  readonly changes_from: Fragment
  readonly images_from: Fragment
  readonly writer_epoch: Fragment
  readonly writer_xid: Fragment
}

/** Evaluated by the server that has the row. */
export function seriesOf({ nextLineage, writerEpoch }: EpochColumns): Series {
  const isSameLineage = sql`(${isOwnWrite} and t.writer_epoch = ${writerEpoch})`
  return {
    lineages: sql`case when ${isSameLineage} then t.lineages when ${isOwnWrite} then (${nextLineage} || t.lineages)[1:${max}]
    else array[${nextLineage}] end`,
    lineage_starts: sql`case when ${isSameLineage} then t.lineage_starts when ${isOwnWrite} then (t.version || t.lineage_starts)[1:${max}]
    else array[t.version] end`,
    changes_from: sql`case when ${isOwnWrite} then t.changes_from else t.version end`,
    images_from: sql`case when ${isOwnWrite} then t.images_from else t.version end`,
    writer_epoch: writerEpoch,
    writer_xid: sql`pg_current_xact_id()::xid`,
  }
}

const series = seriesOf(plainEpoch)

/**
 * The only way to increment the version of a tally. If the last write was made before a restart or failover, a new lineage begins
 * at the version of the row. If it was made by something else than this statement, nothing is known about the time before.
 * `locked`: the tally, if an earlier statement of the transaction has locked it.
 */
export function tickTally(account: Value, resource: Resource, tick: Tick, locked?: LockedTally): Fragment {
  const next = locked?.series ?? series
  const writtenAt = locked === undefined ? dateOfWrite(clock) : dateOf(locked)
  return sql`${updateTally(tick, next, writtenAt)}
where t.account_id = ${account}::bigint and t.resource = ${value(resource.name)}::text`
}

/** Of several accounts, whose ids are in the column `account_id` of `accounts`. */
export function tickTallies(accounts: Fragment, resource: Resource, tick: Tick): Fragment {
  return sql`${updateTally(tick, series, dateOfWrite(clock))}
from ${accounts} where t.account_id = ${accounts}.account_id and t.resource = ${value(resource.name)}::text`
}

function updateTally(tick: Tick, next: Series, writtenAt: Fragment): Fragment {
  return sql`update tally t set version = t.version + 1, total = t.total + ${tick.added}, last_id = ${tick.lastId},
  lineages = ${next.lineages},
  lineage_starts = ${next.lineage_starts},
  changes_from = ${next.changes_from},
  images_from = ${tick.withoutImages === true ? sql`t.version + 1` : next.images_from},
  ${tick.ownLastId === undefined ? sql`` : sql`own_last_id = ${tick.ownLastId}, `}${tick.more ?? sql``}written_at = ${writtenAt}, writer_epoch = ${next.writer_epoch}, writer_xid = ${next.writer_xid}`
}

/** Its `version` is the one that this write will have. */
export interface LockedTally extends Lineages, IdColumns {
  readonly total: string
  /** The date of this write, in milliseconds. */
  readonly written_at: string
  /** The version of the account's fields. Not read for an account that had none when the request was verified. */
  readonly schema?: string
  /** With the newest lineage, if the statement that locked the row has evaluated them. Otherwise the tick does. */
  readonly series?: Series & { readonly lineage: string }
}

/** The date of the write that has locked the tally. */
export function dateOf({ written_at: writtenAt }: LockedTally): Fragment {
  return sql`${value(writtenAt)}::timestamptz`
}

/**
 * Excludes other writers of the account's resource until the transaction ends. The statements after it have snapshots that are
 * newer than the lock, so they see everything that the previous writer has committed.
 */
export async function lockTally(
  { run }: Pick<Transaction, 'run'>,
  scope: AccountScope,
  resource: Resource,
): Promise<LockedTally | undefined> {
  const [tally] = await run<LockedTally>(
    prepared(lockStatement(scope, resource, { time: clock, columns: lineageColumns })),
  )
  return tally
}

/** `columns`: those of the lineages, and any others. */
export function lockStatement(
  { accountId }: AccountScope,
  { name, schema }: Resource,
  { time, columns }: { readonly time: Fragment; readonly columns: Fragment },
): Statement {
  const schemaColumn = schema === undefined ? sql`` : sql`t.schema::text as schema, `
  return sql`select (t.version + 1)::text as version, t.last_id::text as last_id, t.total::text as total, t.own_last_id::text as own_last_id,
  t.sender_ids_from::text as sender_ids_from, t.service_ids, ${schemaColumn}${columns},
  to_char(${dateOfWrite(time)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as written_at
from tally t where t.account_id = ${value(accountId)}::bigint and t.resource = ${value(name)}
for update`.statement()
}
