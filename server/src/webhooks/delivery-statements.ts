import type { FeedPosition } from '../changes/cursor.ts'
import { newEntryId } from '../entry-id.ts'
import { limits } from '../limits/limits.ts'
import type { StopReason } from '../observability/events.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, placeholder, type Statement, sql, type Value, value } from '../sql.ts'
import { ofWebhook } from './endpoints.ts'

/** Times are those of the database: the clocks of processes may differ. */

export interface Endpoint extends AccountScope {
  readonly id: string
}

/** The right to send to an endpoint, until the lease ends or another process gets it. */
export interface Lease extends Endpoint {
  readonly fence: string
}

/** What was sent, for the log of the account. */
export interface LogEntry {
  readonly messageId: string
  readonly kind: 'changes' | 'challenge' | 'test'
  readonly changes: number
  readonly fromVersion: bigint
  readonly toVersion: bigint
  /** Of the response; null if there was none. */
  readonly status: number | null
  readonly error: string | null
  readonly ms: number
}

const until = (leaseMs: number) => sql`now() + make_interval(secs => ${value(leaseMs / 1000)}::float8)`
const released = sql`lease_until = '-infinity'`

/** A change of an endpoint, and the entry of the log that is written with it. */
export interface LoggedChange {
  readonly endpoint: Endpoint
  readonly change: Fragment
  readonly entry: LogEntry | undefined
}

export interface Claim {
  readonly leaseMs: number
  /** The fingerprint for an endpoint that has none yet. */
  readonly masterKey: string
}

/** `returned`: the columns to return, unless the endpoint is not due, is stopped, or another process has the lease. */
export function claimStatement(
  { accountId, id }: Endpoint,
  { leaseMs, masterKey }: Claim,
  returned: Fragment,
): Statement {
  const account = value(accountId)
  return sql`update webhook set lease_until = ${until(leaseMs)}, fence = fence + 1, master_key = coalesce(master_key, ${value(masterKey)}::text)
where ${ofWebhook(account, id)} and status = 'active' and due_at <= now() and lease_until < now()
  and exists (select from account a where a.account_id = ${account}::bigint and a.status = 'active')
returning ${returned}`.statement('webhook')
}

/** Renews the lease and stores the end of the range, before it is sent. Returns no row if the lease was lost. */
export function beginStatement(held: Lease, end: FeedPosition, leaseMs: number): Statement {
  return sql`update webhook set lease_until = ${until(leaseMs)}, sending_lineage = ${value(end.lineage)}::bigint,
  sending_version = ${value(end.version)}::bigint, sending_id = ${value(end.id)}::bigint
where ${underFence(value(held.accountId), held)} and status = 'active' returning id`.statement('webhook')
}

/** Moves the position. Returns no row if the lease was lost. */
export function delivered(held: Lease, end: FeedPosition, entry: LogEntry | undefined): LoggedChange {
  const account = value(held.accountId)
  const change = sql`update webhook set position_lineage = ${value(end.lineage)}::bigint, position_version = ${value(end.version)}::bigint,
  position_id = ${value(end.id)}::bigint, position_base = ${value(end.base)}::bigint, sending_lineage = null, sending_version = null,
  sending_id = null, failures = 0, failing_since = null, due_at = now()
where ${underFence(account, held)} returning id`
  return { endpoint: held, change, entry }
}

/**
 * Delays the next attempt, and pauses an endpoint that has failed for too long, as read when it was claimed. `case` and
 * `coalesce` have only immutable functions: some databases accept no others in an update. `least` ignores null.
 */
export function failed(
  held: Lease,
  { delaySeconds, isOverdue }: { readonly delaySeconds: number; readonly isOverdue: boolean },
  entry: LogEntry,
): LoggedChange {
  const account = value(held.accountId)
  const paused = isOverdue ? sql`status = 'paused', reason = 'failing', ` : sql``
  const change = sql`update webhook set ${paused}failures = failures + 1, failing_since = least(failing_since, now()),
  due_at = now() + make_interval(secs => ${value(delaySeconds)}::float8), ${released}
where ${underFence(account, held)} returning id, status`
  return { endpoint: held, change, entry }
}

export function stopped(held: Lease, reason: StopReason, entry: LogEntry | undefined): LoggedChange {
  const account = value(held.accountId)
  const status = value(reason === 'gone' ? 'disabled' : 'paused')
  const change = sql`update webhook set status = ${status}::text, reason = ${value(reason)}::text, ${released}
where ${underFence(account, held)} returning id, status`
  return { endpoint: held, change, entry }
}

export function releaseStatement(held: Lease): Statement {
  return sql`update webhook set ${released} where ${underFence(value(held.accountId), held)}`.statement(
    'webhook',
  )
}

/** Writes the entry in the statement of the change, or neither. */
export function changeStatement({ endpoint, change, entry }: LoggedChange): Statement {
  if (entry === undefined) return change.statement('webhook')
  return sql`with changed as (${change}),
log as (${insertLog} select ${logValues(endpoint, entry)} from changed returning id)
select * from changed`.statement('webhook')
}

export function logStatement(endpoint: Endpoint, entry: LogEntry): Statement {
  return sql`${insertLog} values (${logValues(endpoint, entry)})`.statement('webhook')
}

const insertLog = sql`insert into delivery (account_id, id, webhook_id, message_id, kind, changes, from_version, to_version, status, error, duration_ms)`

function logValues({ accountId, id }: Endpoint, entry: LogEntry): Fragment {
  return sql`${value(accountId)}::bigint, ${value(newEntryId(Date.now()))}::text, ${value(id)}::text, ${value(entry.messageId)}::text,
  ${value(entry.kind)}::text, ${value(entry.changes)}::int, ${value(entry.fromVersion)}::bigint, ${value(entry.toVersion)}::bigint,
  ${value(entry.status)}::int, ${value(entry.error)}::text, ${value(entry.ms.toFixed(1))}::numeric`
}

/** Deletes the oldest entries of an account beyond the maximum. */
export function trimLogStatement({ accountId }: AccountScope): Statement {
  const account = value(accountId)
  return sql`delete from delivery where account_id = ${account}::bigint and (at, id) <= (
  select at, id from delivery where account_id = ${account}::bigint
  order by at desc, id desc offset ${value(limits.deliveryLogRowsMax)}::int limit 1)`.statement('webhook')
}

/** Deletes the oldest challenges and test messages of an account beyond the maximum. */
function trimTestsStatement({ accountId }: AccountScope): Statement {
  const account = value(accountId)
  const isTest = sql`account_id = ${account}::bigint and kind <> 'changes'`
  return sql`delete from delivery where ${isTest} and (at, id) <= (
  select at, id from delivery where ${isTest}
  order by at desc, id desc offset ${value(limits.deliveryTestRowsMax)}::int limit 1)`.statement('webhook')
}

/** The entry of a challenge or a test message, which no delivery trims. */
export async function logTest(transaction: Transaction, endpoint: Endpoint, entry: LogEntry): Promise<void> {
  await transaction.run(logStatement(endpoint, entry))
  await transaction.run(trimTestsStatement(endpoint))
}

function underFence(account: Value, held: Lease): Fragment {
  return sql`${ofWebhook(account, held.id)} and fence = ${value(held.fence)}::bigint`
}

/** An active endpoint whose time has come, and its position. */
export interface Candidate {
  readonly account_id: string
  readonly id: string
  readonly resource: string
  readonly version: string
  readonly record_id: string
}

const [afterAccount, afterId, rows] = [placeholder(), placeholder(), placeholder()]
const accounts = placeholder()
const candidate = sql`select account_id, id, resource, position_version as version, position_id as record_id from webhook`
const isFree = sql`status = 'active' and due_at <= now() and lease_until < now()`

const sweep =
  sql`${candidate} where (account_id, id) > (${afterAccount}::bigint, ${afterId}::text) and ${isFree}
order by account_id, id limit ${rows}::int`.template([afterAccount, afterId, rows], 'webhook', 'generic')

/** One page of the endpoints of all accounts. */
export function sweepStatement(after: Pick<Candidate, 'account_id' | 'id'>): Statement {
  return sweep([after.account_id, after.id, limits.webhookSweepRows])
}

const ofAccounts = sql`${candidate} where account_id = any(${accounts}::bigint[]) and ${isFree}`.template(
  [accounts],
  'webhook',
  'generic',
)

export function candidatesOf(accountIds: readonly string[]): Statement {
  return ofAccounts([`{${accountIds.join(',')}}`])
}

const [resourceNames, versions, ids] = [placeholder(), placeholder(), placeholder()]

/** The numbers of the candidates that are not at the end of their feed. After a failover the tally may be behind. */
const behind =
  sql`select q.n from unnest(${accounts}::bigint[], ${resourceNames}::text[], ${versions}::bigint[], ${ids}::bigint[])
  with ordinality q(account_id, resource, version, id, n)
join tally t on t.account_id = q.account_id and t.resource = q.resource
where t.account_id = any(${accounts}::bigint[]) and (t.version <> q.version or q.id <> 9223372036854775807)`.template(
    [accounts, resourceNames, versions, ids],
    'webhook',
    'generic',
  )

export function behindStatement(candidates: readonly Candidate[]): Statement {
  const array = (column: keyof Candidate) => `{${candidates.map((one) => one[column]).join(',')}}`
  return behind([array('account_id'), array('resource'), array('version'), array('record_id')])
}
