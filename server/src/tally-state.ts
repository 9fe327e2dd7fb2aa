import { hash } from 'node:crypto'
import { sql } from './sql.ts'

/**
 * Identifies the content of one account's resource. Cached data and an `ETag` are valid only while all three values are
 * the same.
 */
export interface TallyState {
  /** Identifies the server from which the row was read, and its start. Versions are unique only within one epoch. */
  readonly epoch: string
  readonly version: string
  /** The transaction that wrote the tally row. After a restore a version can repeat, a transaction id cannot. */
  readonly xid: string
}

/** Also has the number of all records of the resource. */
export interface Tally extends TallyState {
  readonly total: number
}

/**
 * The start time of the server and its timeline, as 24 hexadecimal digits. A restart, a failover and a restore of the data
 * directory change it, even if two servers were promoted to the same timeline number. It is an expression per row, not a
 * sub-select, so that a distributed database evaluates it on the node of the row. On a standby it fails with SQLSTATE 55000.
 */
export const epoch = sql`encode(timestamptz_send(pg_postmaster_start_time()), 'hex') || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`

/** The columns of `TallyState`, for a statement in which the tally table has the alias `t`. */
export const stateColumns = sql`${epoch} as epoch, t.version, t.xmin::text as xid`

export function isSameState(one: TallyState, other: TallyState): boolean {
  return one.version === other.version && one.xid === other.xid && one.epoch === other.epoch
}

/** Whether `other` is a later state of the same epoch. */
export function isOlder(one: TallyState, other: TallyState): boolean {
  return one.epoch === other.epoch && BigInt(one.version) < BigInt(other.version)
}

/** The state as clients see it. Hashed, because start time and transaction ids would reveal the activity of other accounts. */
export function stateName({ epoch: server, version, xid }: TallyState): string {
  return `${hash('sha256', `${server} ${version} ${xid}`, 'hex').slice(0, 12)}-${version}`
}
