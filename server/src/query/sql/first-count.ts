import type { Resource } from '../../catalog/resources.ts'
import { limits } from '../../limits/limits.ts'
import type { AccountScope } from '../../scope.ts'
import { type Fragment, identifier, join, type StateStatement, sql, type Value, value } from '../../sql.ts'
import { lineageColumn, stateColumns } from '../../tally-state.ts'
import { complementOf } from '../complement.ts'
import type { Predicate } from '../predicate.ts'
import { conditionsOf, hasTrigrams, whereAmongMany, whereAmongMost } from './where.ts'

/** The number of matches of a filter in a large account. */
export interface FirstCount {
  readonly ctes: readonly Fragment[]
  /** In a statement in which the tally table has the alias `t`. */
  readonly total: Fragment
}

/**
 * If most records match, those that do not are counted instead, which are fewer: the number of all records is in the tally, in the same
 * snapshot. A sample of the records, at equal distances in the ids of each source, says which are more. It only has to be right mostly:
 * both counts are exact. `isNeeded`: whether the matches are counted at all.
 */
export function firstCount(
  table: Fragment,
  account: Value,
  predicate: Predicate,
  isNeeded: Fragment,
): FirstCount {
  const countBy = (condition: Fragment) =>
    sql`(select count(*) from ${table} where account_id = ${account}::bigint and ${condition})`
  const count = (of: Predicate) => countBy(whereAmongMany(of))
  if (conditionsOf(predicate) > limits.complementConditionsMax) return { ctes: [], total: count(predicate) }
  const byScan = hasTrigrams(predicate)
    ? sql` when (select is_many from sample) then ${countBy(whereAmongMost(predicate))}`
    : sql``
  const records = sql`${table} where account_id = ${account}::bigint`
  const own = sql`${value(limits.externalIdMax + 1)}::bigint`
  const points = value(limits.countSampleRecords)
  return {
    ctes: [
      sql`sample as materialized (
  select count(*) filter (where matches) * 2 > count(*) as is_most, count(*) filter (where matches) * 4 > count(*) as is_many from (
    select distinct on (found.id) found.matches from (values
      (0, (select id from ${records} and id < ${own} order by id desc limit 1)),
      (${own}, (select id from ${records} and id >= ${own} order by id desc limit 1))) source(first_id, last_id)
    cross join generate_series(0, ${points}::int - 1) point
    cross join lateral (select id, ${whereAmongMany(predicate)} as matches from ${records}
      and id > source.first_id + (source.last_id - source.first_id) / ${points}::int * point - 1 order by id limit 1) found
    where ${isNeeded}
  ) sampled
)`,
    ],
    total: sql`case when (select is_most from sample) then t.total - ${count(complementOf(predicate))}${byScan} else ${count(predicate)} end`,
  }
}

/** The total alone, for a count that takes longer than a request may. */
export function totalStatement(
  { accountId }: AccountScope,
  resource: Resource,
  predicate: Predicate,
): StateStatement {
  const account = value(accountId)
  const { ctes, total } = firstCount(identifier(resource.name), account, predicate, sql`true`)
  const head = ctes.length === 0 ? sql`` : sql`with ${join(ctes, ', ')} `
  return sql`${head}select ${stateColumns}, ${lineageColumn}, ${total} as total
from tally t where t.account_id = ${account}::bigint and t.resource = ${value(resource.name)}::text`.statement(
    'list',
  )
}
