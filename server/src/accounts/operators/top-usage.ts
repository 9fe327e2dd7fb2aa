import { limits } from '../../limits/limits.ts'
import { type Statement, sql, value } from '../../sql.ts'

/** What accounts use, the highest first. */

export const usageOrders = ['requests', 'errors', 'ms'] as const
export type UsageOrder = (typeof usageOrders)[number]

export interface AccountUsage {
  readonly account: string
  readonly requests: number
  readonly errors: number
  /** The time of all requests, from their latency classes: up to a tenth too high. */
  readonly ms: number
}

const orders = { requests: sql`requests`, errors: sql`errors`, ms: sql`ms` } as const

/** Of the last `days` days in UTC, today included. Reads the days of all accounts. */
export function topUsage(top: UsageOrder, days: number, limit: number): Statement {
  const first = value(limits.latencyBucketFirstMs)
  const ratio = value(limits.latencyBucketRatio)
  return sql`select a.name as account, sum(u.requests)::float8 as requests, sum(u.errors)::float8 as errors,
  coalesce(sum((select sum(c.count * ${first}::float8 * power(${ratio}::float8, c.class))
    from unnest(u.classes, u.counts) c(class, count))), 0)::float8 as ms
from usage u join account a using (account_id)
where u.per = 'day' and u.at > now() - make_interval(days => ${value(days)}::int)
group by a.account_id, a.name order by ${orders[top]} desc, a.name limit ${value(limit)}::int`.statement(
    'account',
  )
}
