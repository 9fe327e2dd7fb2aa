import { type Statement, sql, state } from '../sql.ts'
import { epoch, replicaColumns } from '../tally-state.ts'

/**
 * The same value as `epoch` without a volatile function: Citus does not keep the plan of a statement that calls one. The name of any
 * WAL file begins with the timeline of the server. The position is not a constant, because then the node that plans would evaluate the name.
 */
const stableEpoch = sql`encode(timestamptz_send(pg_postmaster_start_time()), 'hex') || substr(pg_walfile_name(case when pg_postmaster_start_time() is not null then '0/1'::pg_lsn end), 1, 8)`

/** `stateColumns` for statements on one table. */
export const stableStateColumns = state(
  sql`${stableEpoch} as epoch, t.version, t.xmin::text as xid`,
  replicaColumns,
)

const epochText = epoch.statement().text
const stableEpochText = stableEpoch.statement().text

/** The same statement, which Citus plans once for each connection, if it is on one table. */
export function withStableEpoch(statement: Statement): Statement {
  return { ...statement, text: statement.text.replaceAll(epochText, stableEpochText) }
}
