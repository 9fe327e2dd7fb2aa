import type { Resource } from '../catalog/resources.ts'
import { limits } from '../limits/limits.ts'
import { identifier, type Statement, sql, value } from '../sql.ts'
import { expired } from '../writes/journal-sweep.ts'

/** Citus has no recursion over all shards. Each worker groups its images. */
export function accountsWithImagesGrouped(resource: Resource, after: string): Statement {
  return sql`select account_id, min(at) < ${expired} as expired from ${identifier(`${resource.name}_before`)}
where account_id > ${value(after)}::bigint
group by account_id order by account_id limit ${value(limits.journalSweepAccounts)}::int`.statement(
    'activity',
  )
}
