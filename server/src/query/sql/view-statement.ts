import type { View, ViewName } from '../../catalog/views.ts'
import { keyState } from '../../key-state.ts'
import { limits } from '../../limits/limits.ts'
import type { AccountScope } from '../../scope.ts'
import { type Fragment, identifier, join, type Statement, sql, type Value, value } from '../../sql.ts'
import type { ListPlan } from '../plan.ts'
import { recordJson } from './record-json.ts'
import { where } from './where.ts'

/** The columns of the one row that a view's statement returns. */
export interface ViewRow {
  readonly total: string
  readonly count: string
  /** The records as JSON objects, separated by commas. */
  readonly records: string
}

/** Total and page in one statement, so from one snapshot. Views have no tally: the rows of an account are limited. */
export function viewStatement(
  scope: AccountScope,
  plan: ListPlan<View>,
  page: number,
  chosen: Chosen = {},
): Statement {
  const account = value(scope.accountId)
  const { resource: view, fields, limit } = plan
  const source = sources[view.name](account, chosen)
  const condition = plan.where === undefined ? sql`` : sql` where ${where(plan.where)}`
  const columns = new Set([...view.order, ...fields.map((field) => field.name)])
  return sql`select (select count(*) from (${source}) s${condition}) as total, p.count, p.records
from (
  select count(*) as count, coalesce(string_agg(${recordJson(fields)}, ',' order by ${newestFirst(view, 'r')}), '') as records
  from (
    select ${join([...columns].map(identifier), ', ')} from (${source}) s${condition}
    order by ${newestFirst(view, 's')} limit ${value(limit)}::int offset ${value((page - 1) * limit)}::bigint
  ) r
) p`.statement('view')
}

function newestFirst({ order }: View, alias: 'r' | 's'): Fragment {
  return join(
    order.map((column) => sql`${identifier(alias)}.${identifier(column)} desc`),
    ', ',
  )
}

/** Values of the parameters that only this view has. */
type Chosen = Readonly<Record<string, string>>

/** The rows of one account, with a column for each field. Text is compared by bytes, as in records. */
const sources: Record<ViewName, (account: Value, chosen: Chosen) => Fragment> = {
  key: (account) => sql`select key_id, name collate "C" as name, array_to_string(scopes, ',') as scopes,
    (${keyState}) collate "C" as state, created_at, expires_at, revoked_at, rotated_to,
    last_used_on::timestamp at time zone 'UTC' as last_used_on
    from api_key where account_id = ${account}::bigint`,
  audit: (account) => sql`select id, at, action, subject, details, actor, actor_id, application, address
    from audit where account_id = ${account}::bigint`,
  request: (
    account,
  ) => sql`select id, at, request_id, key_id, method, path, query, filter, status, error_code,
    error_detail, duration_ms, records, bytes, cached
    from request where account_id = ${account}::bigint and ${since(limits.requestLogDays)}`,
  webhook: (account) => sql`select id, resource, url, filter, fields, status, reason, created_at, rotated_at,
    case when position_id = 9223372036854775807 or position_version = 0 then position_version else position_version - 1 end as delivered_version,
    failures, failing_since, due_at
    from webhook where account_id = ${account}::bigint`,
  field: (account) => sql`select (resource || '.' || name) collate "C" as id, resource, name, type, label,
    unique_state is not null as "unique", (case unique_state when 'waiting' then 'building' else coalesce(unique_state, 'ready') end) collate "C" as state, created_at
    from field where account_id = ${account}::bigint and state = 'stored'`,
  delivery: (
    account,
  ) => sql`select id, at, webhook_id, message_id, kind, changes, from_version, to_version, status, error, duration_ms
    from delivery where account_id = ${account}::bigint and ${since(limits.deliveryLogDays)}`,
  usage: (account, { per = 'day' }) => sql`select at, key_id, route, requests, errors, unlogged,
    ${percentile(50)}, ${percentile(95)}, ${percentile(99)}
    from usage where account_id = ${account}::bigint and per = ${value(per)}::text
    and ${since(per === 'day' ? limits.usageDayDays : limits.usageMinuteDays)}`,
}

/** Older rows exist until the next sweep of their account. */
function since(days: number): Fragment {
  return sql`at >= now() - make_interval(days => ${value(days)}::int)`
}

/** The midpoint of the latency class that contains the percentile. */
function percentile(share: number): Fragment {
  return sql`(select trim_scale(round((${value(limits.latencyBucketFirstMs)}::float8
      * power(${value(limits.latencyBucketRatio)}::float8, greatest(b.class - 0.5, 0)))::numeric, 3))
    from (select class, sum(count) over (order by class) as upto from unnest(classes, counts) c(class, count)) b
    where b.upto >= requests * ${value(share)}::numeric / 100 order by b.class limit 1) as ${identifier(`p${share}_ms`)}`
}
