import type { Resource } from '../catalog/resources.ts'
import { valueTable } from '../query/sql/value-sets.ts'
import type { AccountScope } from '../scope.ts'
import { type Statement, sql, value } from '../sql.ts'

/** With the account at the top, so that Citus finds the shard. Addresses of rows say nothing about it. */
export function deleteValuesById(
  { accountId }: AccountScope,
  { name }: Resource,
  ids: readonly string[],
): Statement {
  return sql`delete from ${valueTable(name)} where account_id = ${value(accountId)}::bigint and id = any(${value(ids)}::bigint[])`.statement(
    'fields',
  )
}
