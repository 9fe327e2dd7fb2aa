import type { ChangedRow } from '../changes/check-statements.ts'
import type { Database } from '../postgres/database.ts'
import { placeholder, sql } from '../sql.ts'
import { epochColumn } from '../tally-state.ts'

const [accounts, resourceNames] = [placeholder(), placeholder()]
const [versions, xids] = [placeholder(), placeholder()]

/** Citus aggregates where it plans the statement, which has another epoch than the worker with the row: so one row for each. */
const changedRows =
  sql`select q.n, t.version, t.xmin::text as xid, ${epochColumn}, t.schema from unnest(${accounts}::bigint[], ${resourceNames}::text[],
  ${versions}::bigint[], ${xids}::text[]) with ordinality q(account_id, resource, version, xid, n)
join tally t on t.account_id = q.account_id and t.resource = q.resource
where t.account_id = any(${accounts}::bigint[]) and (t.version <> q.version or t.xmin::text <> q.xid)`.template(
    [accounts, resourceNames, versions, xids],
    'changes_check',
    'generic',
  )

export async function readChangedRows(database: Database, values: readonly string[]): Promise<ChangedRow[]> {
  return await database.read<ChangedRow>(changedRows(values))
}
