import type { Resource } from '../../catalog/resources.ts'
import { sql, type Value, value } from '../../sql.ts'
import { currentLineageState } from '../../tally-state.ts'
import { fieldsHash } from '../fields-hash.ts'

/**
 * The ETag of the record `r` without its quotes: what `recordEtag` returns for the complete record. PostgreSQL evaluates the lineage
 * of the snapshot once for each statement.
 *
 * A COPY has no form for replicas. There, its tally row was written by `tickTally`, so the epoch, which a standby has not, is not
 * evaluated.
 */
export function etagOfSnapshot(resource: Resource, account: Value) {
  const lineage = sql`(select ${currentLineageState} from tally t where t.account_id = ${account}::bigint and t.resource = ${value(resource.name)}::text)`
  return sql`r.version || '-' || lpad(to_hex(${lineage}), 16, '0') || '-' || r.id || '-' || ${value(fieldsHash(resource))}::text`
}
