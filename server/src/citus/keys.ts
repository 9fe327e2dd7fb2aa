import type { KeyField } from '../catalog/own-fields.ts'
import type { Resource } from '../catalog/resources.ts'
import type { AccountScope } from '../scope.ts'
import { type Statement, sql, value } from '../sql.ts'
import { keyTable } from '../writes/record-keys.ts'

/** With the account at the top, so that Citus finds the shard. Addresses of rows say nothing about it. */
export function deleteKeysByValue(
  { accountId }: AccountScope,
  resource: Resource,
  { key }: KeyField,
  values: readonly string[],
): Statement {
  return sql`delete from ${keyTable(resource)} where account_id = ${value(accountId)}::bigint and field = ${value(key.number)}::bigint
  and value = any(${value(values)}::text[])`.statement('update')
}
