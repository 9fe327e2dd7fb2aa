import { hash } from 'node:crypto'
import { sql } from './sql.ts'

/**
 * Identifies the content of one account's resource. Whatever a process caches, and every `ETag`, holds only while all
 * three are the same.
 */
export interface TallyState {
  /** The server that the row was read from, since its start: versions are unique only within one epoch. */
  readonly epoch: string
  readonly version: string
  /** The transaction that wrote the tally row. After a restore the version can come again, the transaction cannot. */
  readonly xid: string
}

/** The same with the number of its records, all of them. */
export interface Tally extends TallyState {
  readonly total: number
}

/**
 * The start time of the server and its timeline, as 24 hexadecimal digits. A restart, a failover and a restore of files
 * start another server, also where two servers were promoted to the same timeline number. Read per row, never as a
 * sub-select: a distributed database evaluates it where the row is. On a standby it fails with 55000.
 */
export const epoch = sql`encode(timestamptz_send(pg_postmaster_start_time()), 'hex') || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`

/** The columns of `TallyState`; the tally is `t`. */
export const stateColumns = sql`${epoch} as epoch, t.version, t.xmin::text as xid`

export function isSameState(one: TallyState, other: TallyState): boolean {
  return one.version === other.version && one.xid === other.xid && one.epoch === other.epoch
}

/** Whether `one` was overtaken by `other`: the same server has already shown a later version. */
export function isOlder(one: TallyState, other: TallyState): boolean {
  return one.epoch === other.epoch && BigInt(one.version) < BigInt(other.version)
}

/** The state as callers see it: hashed, because start times and transaction numbers are of all accounts together. */
export function stateName({ epoch: server, version, xid }: TallyState): string {
  return `${hash('sha256', `${server} ${version} ${xid}`, 'hex').slice(0, 12)}-${version}`
}
