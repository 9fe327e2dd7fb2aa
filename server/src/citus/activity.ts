import type { GroupsOf } from '../activity/batch-writer.ts'
import { insertRows, type QueuedRequest, requestColumns, rowOf } from '../activity/request-log.ts'
import { join, type Statement, sql, value } from '../sql.ts'

/** Each batch has the rows of one account. While its worker is away, rows of other accounts are written. */
export const groupsByAccount: GroupsOf = (rows, accountOf) => [...Map.groupBy(rows, accountOf)]

/** Citus inserts them at a fifth of the cost: without a select, it has nothing to plan. */
export function insertRequestValues(requests: readonly QueuedRequest[]): Statement {
  const rows = requests.map((request) => {
    const row = rowOf(request)
    const values = requestColumns.map(([name, type]) => sql`${value(row[name])}::${type}`)
    return sql`(${join(values, ', ')})`
  })
  return insertRows(sql`values ${join(rows, ', ')}`).statement('activity')
}
