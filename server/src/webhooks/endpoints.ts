import { type Actor, auditStatement, type Change, requireAuditQuota } from '../accounts/audit.ts'
import type { ResourceName } from '../catalog/resources.ts'
import type { ChangesQuery } from '../changes/changes-query.ts'
import { decodeCursor, type FeedIdentity, type FeedPosition, idMax } from '../changes/cursor.ts'
import { cursorExpired, validPosition } from '../changes/feed-page.ts'
import { Failure, type Fault, internalError } from '../errors/errors.ts'
import { excerpt } from '../errors/faults.ts'
import { readDefinitions } from '../fields/definitions.ts'
import { limits } from '../limits/limits.ts'
import type { Transaction } from '../postgres/transaction.ts'
import type { AccountScope } from '../scope.ts'
import { type Fragment, join, type Statement, sql, type Value, value } from '../sql.ts'
import { currentLineage, type Lineages, lineageColumns } from '../tally-state.ts'
import { queryOf } from './feed-range.ts'
import { type MasterKeys, unrecordedKey } from './signature.ts'
import { isWebhookId, newWebhookId, unverified, type Webhook, webhookColumns } from './webhook.ts'

/** Where the changes of a webhook begin: with every record, with the next change, after a version, or at a cursor of the feed. */
export type Start = 'beginning' | 'now' | { readonly version: number } | { readonly cursor: string }

export interface NewWebhook {
  readonly resource: ResourceName
  readonly url: string
  readonly filter: string | null
  readonly fields: string | null
  readonly start: Start
}

/** Undefined: unchanged. */
export interface WebhookChange {
  readonly url?: string | undefined
  readonly filter?: string | null | undefined
  readonly fields?: string | null | undefined
}

/** Creates a webhook, which sends nothing before it is activated. */
export async function createWebhook(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  created: NewWebhook,
  { current }: MasterKeys,
): Promise<Webhook> {
  const { feed } = await validQuery(transaction, scope, created)
  await requireAuditQuota(transaction, scope, actor)
  await transaction.run(lockStatement(scope))
  const [count] = await transaction.run<{ count: number }>(
    sql`select count(*)::int as count from webhook where account_id = ${value(scope.accountId)}::bigint`.statement(
      'webhook',
    ),
  )
  if (count === undefined || count.count >= limits.webhooksMax) {
    throw new Failure(
      'webhooks_exhausted',
      `The account has ${limits.webhooksMax} webhooks, the maximum. Delete one that is no longer used.`,
    )
  }
  const position = await startPosition(transaction, scope, feed, created.start)
  const id = newWebhookId()
  await transaction.run(insertStatement(scope, id, created, position, current.fingerprint))
  const webhook = await getWebhook(transaction, scope, id)
  await audit(transaction, scope, actor, webhook, 'webhook.create', descriptionOf(webhook))
  return webhook
}

export async function getWebhook(
  transaction: Transaction,
  scope: AccountScope,
  id: string,
): Promise<Webhook> {
  if (!isWebhookId(id)) throw unknownWebhook(id)
  const [webhook] = await transaction.run<Webhook>(
    sql`select ${webhookColumns} from webhook where ${ofWebhook(value(scope.accountId), id)}`.statement(
      'webhook',
    ),
  )
  return webhook ?? unknown(id)
}

/** Oldest first. */
export function listWebhooks(transaction: Transaction, { accountId }: AccountScope): Promise<Webhook[]> {
  return transaction.run<Webhook>(
    sql`select ${webhookColumns} from webhook where account_id = ${value(accountId)}::bigint
order by webhook.created_at, webhook.id limit ${value(limits.webhooksMax)}::int`.statement('webhook'),
  )
}

/** A new URL must be verified again. What was not delivered yet is sent as a new message, because its content may differ. */
export async function changeWebhook(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  id: string,
  change: WebhookChange,
): Promise<Webhook> {
  const before = await getWebhook(transaction, scope, id)
  await requireAuditQuota(transaction, scope, actor)
  const { url = before.url, filter = before.filter, fields = before.fields } = change
  await validQuery(transaction, scope, { resource: before.resource, filter, fields })
  const assignments = [
    sql`url = ${value(url)}::text`,
    sql`filter = ${value(filter)}::text`,
    sql`fields = ${value(fields)}::text`,
    ...newSeries,
  ]
  if (url !== before.url) assignments.push(sql`status = 'pending'`, sql`reason = null`)
  const webhook = await update(transaction, scope, id, assignments)
  await audit(transaction, scope, actor, webhook, 'webhook.change', descriptionOf(webhook))
  return webhook
}

/** A pending webhook stays pending, so that `pending` always means a URL that is not verified. */
export async function pauseWebhook(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  id: string,
): Promise<Webhook> {
  const before = await getWebhook(transaction, scope, id)
  if (before.status === 'pending') throw unverified('It sends nothing, so it cannot be paused.')
  if (before.status === 'paused' && before.reason === 'requested') return before
  const webhook = await update(transaction, scope, id, [sql`status = 'paused'`, sql`reason = 'requested'`])
  await audit(transaction, scope, actor, webhook, 'webhook.pause', null)
  return webhook
}

/** Called after the receiver has echoed a challenge at `url`. */
export async function activateWebhook(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  { id, url }: Webhook,
  keys: MasterKeys,
): Promise<Webhook> {
  await requireAuditQuota(transaction, scope, actor)
  const webhook = await update(transaction, scope, id, [
    sql`status = case when url = ${value(url)}::text then 'active' else status end`,
    sql`reason = null`,
    sql`master_key = coalesce(master_key, ${value(unrecordedKey(keys).fingerprint)}::text)`,
    sql`failures = 0`,
    sql`failing_since = null`,
    sql`due_at = now()`,
  ])
  await audit(transaction, scope, actor, webhook, 'webhook.activate', descriptionOf(webhook))
  return webhook
}

/** Both secrets sign for `webhookRotationHours`. The one before the last rotation ends at once. The new one is derived from the current master key. */
export async function rotateWebhook(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  id: string,
  keys: MasterKeys,
): Promise<Webhook> {
  await requireAuditQuota(transaction, scope, actor)
  const webhook = await update(transaction, scope, id, [
    sql`generation = generation + 1`,
    sql`rotated_at = now()`,
    sql`master_key_before = coalesce(master_key, ${value(unrecordedKey(keys).fingerprint)}::text)`,
    sql`master_key = ${value(keys.current.fingerprint)}::text`,
  ])
  await audit(transaction, scope, actor, webhook, 'webhook.rotate', `secret ${webhook.generation}`)
  return webhook
}

/** Sends the changes after another position, again or not at all. */
export async function replayWebhook(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  id: string,
  start: Start,
): Promise<Webhook> {
  const before = await getWebhook(transaction, scope, id)
  await requireAuditQuota(transaction, scope, actor)
  const { feed } = await validQuery(transaction, scope, before)
  const { lineage, version, id: recordId, base } = await startPosition(transaction, scope, feed, start)
  const webhook = await update(transaction, scope, id, [
    sql`position_lineage = ${value(lineage)}::bigint`,
    sql`position_version = ${value(version)}::bigint`,
    sql`position_id = ${value(recordId)}::bigint`,
    sql`position_base = ${value(base)}::bigint`,
    sql`due_at = now()`,
    ...newSeries,
  ])
  const from = typeof start === 'string' ? start : `version ${version}`
  await audit(transaction, scope, actor, webhook, 'webhook.replay', `from ${from}`)
  return webhook
}

export async function deleteWebhook(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  id: string,
): Promise<void> {
  const webhook = await getWebhook(transaction, scope, id)
  await transaction.run(
    sql`delete from webhook where ${ofWebhook(value(scope.accountId), id)}`.statement('webhook'),
  )
  await audit(transaction, scope, actor, webhook, 'webhook.delete', descriptionOf(webhook))
}

/**
 * The next message has another id, and a process that is sending cannot store its result. Its lease remains, so that the
 * next message is sent after that one.
 */
const newSeries: readonly Fragment[] = [
  sql`series = series + 1`,
  sql`sending_lineage = null`,
  sql`sending_version = null`,
  sql`sending_id = null`,
  sql`fence = fence + 1`,
]

async function update(
  transaction: Transaction,
  scope: AccountScope,
  id: string,
  assignments: readonly Fragment[],
): Promise<Webhook> {
  if (!isWebhookId(id)) throw unknownWebhook(id)
  const change = sql`update webhook set ${join(assignments, ', ')} where ${ofWebhook(value(scope.accountId), id)}`
  await transaction.run(change.statement('webhook'))
  return await getWebhook(transaction, scope, id)
}

/** Filter and fields are checked as in a list; a fault refers to the member of the body. */
async function validQuery(
  transaction: Transaction,
  scope: AccountScope,
  webhook: Pick<Webhook, 'resource' | 'filter' | 'fields'>,
): Promise<ChangesQuery> {
  const { resource } = await readDefinitions(
    (statement) => transaction.run(statement),
    scope,
    webhook.resource,
  )
  try {
    return queryOf(scope, resource, webhook, limits.webhookChangesMax)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'request_invalid') throw error
    const faults = error.faults.map(
      ({ parameter, ...fault }): Fault => ({ pointer: `/${parameter}`, ...fault }),
    )
    throw new Failure('body_invalid', error.message, faults)
  }
}

async function startPosition(
  transaction: Transaction,
  scope: AccountScope,
  feed: FeedIdentity,
  start: Start,
): Promise<FeedPosition> {
  const [row] = await transaction.run<Lineages>(
    sql`select t.version::text as version, ${lineageColumns} from tally t
where t.account_id = ${value(scope.accountId)}::bigint and t.resource = ${value(feed.resource)}::text`.statement(
      'webhook',
    ),
  )
  if (row === undefined) throw internalError()
  const lineage = BigInt(currentLineage(row))
  const now = BigInt(row.version)
  if (start === 'now') return { lineage, version: now, id: idMax, base: now }
  if (start === 'beginning') return { lineage, version: 0n, id: 0n, base: now }
  if ('cursor' in start) {
    const decoded = decodeCursor(feed, start.cursor)
    if ('code' in decoded) throw startInvalid(`The cursor ${decoded.message}`)
    return validPosition(row, decoded)
  }
  const version = BigInt(start.version)
  if (version > now) throw startInvalid(`The version ${version} does not exist yet; the last one is ${now}.`)
  if (version < BigInt(row.changes_from)) throw cursorExpired()
  return { lineage, version, id: idMax, base: version }
}

function startInvalid(message: string): Failure {
  const expected = ['now', 'beginning', 'a version', 'a cursor of the change feed']
  return new Failure('body_invalid', message, [
    { pointer: '/since', code: 'member_invalid', message, expected },
  ])
}

function insertStatement(
  { accountId }: AccountScope,
  webhookId: string,
  { resource, url, filter, fields }: NewWebhook,
  { lineage, version, id, base }: FeedPosition,
  masterKey: string,
): Statement {
  return sql`insert into webhook (account_id, id, resource, url, filter, fields, master_key, position_lineage, position_version, position_id, position_base)
values (${value(accountId)}::bigint, ${value(webhookId)}::text, ${value(resource)}::text, ${value(url)}::text, ${value(filter)}::text,
  ${value(fields)}::text, ${value(masterKey)}::text, ${value(lineage)}::bigint, ${value(version)}::bigint, ${value(id)}::bigint, ${value(base)}::bigint)`.statement(
    'webhook',
  )
}

/**
 * Webhooks of an account are created one after the other, so that their number cannot exceed the limit. The lock is taken on the
 * server with the account, because the statement reads its tally.
 */
function lockStatement({ accountId }: AccountScope): Statement {
  const account = value(accountId)
  return sql`select pg_advisory_xact_lock(hashtextextended('webhook', ${account}::bigint)) from tally
where account_id = ${account}::bigint and resource = 'product'`.statement('webhook')
}

export function ofWebhook(account: Value, id: string): Fragment {
  return sql`account_id = ${account}::bigint and id = ${value(id)}::text`
}

async function audit(
  transaction: Transaction,
  scope: AccountScope,
  actor: Actor,
  { id }: Webhook,
  action: Change['action'],
  details: string | null,
): Promise<void> {
  await transaction.run(auditStatement(scope, actor, { action, subject: id, details }))
}

/** Without path and query of the URL, which may contain a secret of the receiver. */
function descriptionOf({ resource, url, filter, status }: Webhook): string {
  const { host } = new URL(url)
  return `${resource} to ${host}; ${status}${filter === null ? '' : `; filter ${filter}`}`
}

function unknown(id: string): never {
  throw unknownWebhook(id)
}

function unknownWebhook(id: string): Failure {
  return new Failure('record_unknown', `The account has no webhook ${JSON.stringify(excerpt(id))}.`)
}
