import { sql } from '../sql.ts'
import { withEpoch } from '../tally-state.ts'

/**
 * The columns with the epoch, computed without a volatile function: Citus does not keep the plan of a statement that calls one. The name of any
 * WAL file begins with the timeline of the server. The position is not a constant, because then the node that plans would evaluate the name.
 */
export const stableEpoch = withEpoch(
  sql`encode(timestamptz_send(pg_postmaster_start_time()), 'hex') || substr(pg_walfile_name(case when pg_postmaster_start_time() is not null then '0/1'::pg_lsn end), 1, 8)`,
)
