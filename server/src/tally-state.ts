import { sql } from './sql.ts'

/** The state of an account's resource, by which whatever is remembered of it holds or not. */
export interface TallyState {
  /** Versions are unique only within one history of the database: a failover or a restore begins another. */
  readonly history: string
  readonly version: string
}

/** The same with the number of its records, all of them. */
export interface Tally extends TallyState {
  readonly total: number
}

/** The history in SQL, the same wherever a version is read: the timeline of PostgreSQL. */
export const history = sql`substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`

export function isSameState(one: TallyState, other: TallyState): boolean {
  return one.version === other.version && one.history === other.history
}
