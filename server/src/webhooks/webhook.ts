import { randomBytes } from 'node:crypto'
import type { ResourceName } from '../catalog/resources.ts'
import { type FeedPosition, idMax } from '../changes/cursor.ts'
import { Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import type { StopReason } from '../observability/events.ts'
import { type Fragment, sql, value } from '../sql.ts'

/** pending: not verified yet. paused: by its administrator, or after failures. disabled: the receiver responded with 410. */
export type WebhookStatus = 'pending' | 'active' | 'paused' | 'disabled'

/** An endpoint that receives the changes of a resource, as it is stored. */
export interface Webhook {
  readonly id: string
  readonly resource: ResourceName
  readonly url: string
  readonly filter: string | null
  /** Separated by commas. */
  readonly fields: string | null
  readonly status: WebhookStatus
  readonly reason: StopReason | null
  readonly createdAt: string
  readonly generation: string
  readonly rotatedAt: string | null
  /** The fingerprint of the master key of its secret, and of the secret before; null if an earlier version wrote it. */
  readonly masterKey: string | null
  readonly masterKeyBefore: string | null
  /** Whether the previous secret still signs, too. */
  readonly isRotating: 'true' | 'false'
  readonly lineage: string
  readonly version: string
  readonly recordId: string
  readonly base: string
  readonly sendingLineage: string | null
  readonly sendingVersion: string | null
  readonly sendingId: string | null
  readonly series: string
  readonly failures: string
  readonly failingSince: string | null
  /** Whether it has failed for so long that the next failure pauses it. */
  readonly isOverdue: 'true' | 'false'
  readonly dueAt: string
}

const instant = (column: Fragment) =>
  sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const rotationHours = value(limits.webhookRotationHours)
const failingDays = value(limits.webhookFailingDaysMax)

/** The columns of `Webhook`, all as texts. */
export const webhookColumns = sql`id, resource, url, filter, fields, status, reason,
  ${instant(sql`created_at`)} as "createdAt", generation::text as generation, ${instant(sql`rotated_at`)} as "rotatedAt",
  master_key as "masterKey", master_key_before as "masterKeyBefore",
  coalesce(rotated_at > now() - make_interval(hours => ${rotationHours}::int), false)::text as "isRotating",
  position_lineage::text as lineage, position_version::text as version, position_id::text as "recordId",
  position_base::text as base, sending_lineage::text as "sendingLineage", sending_version::text as "sendingVersion",
  sending_id::text as "sendingId", series::text as series, failures::text as failures,
  ${instant(sql`failing_since`)} as "failingSince",
  coalesce(failing_since < now() - make_interval(days => ${failingDays}::int), false)::text as "isOverdue", ${instant(sql`due_at`)} as "dueAt"`

export function positionOf({ lineage, version, recordId, base }: Webhook): FeedPosition {
  return { lineage: BigInt(lineage), version: BigInt(version), id: BigInt(recordId), base: BigInt(base) }
}

/** The end of the range that was sent last and is not delivered yet. */
export function sendingOf(webhook: Webhook): FeedPosition | undefined {
  const { sendingLineage, sendingVersion, sendingId, base } = webhook
  if (sendingLineage === null || sendingVersion === null || sendingId === null) return undefined
  return {
    lineage: BigInt(sendingLineage),
    version: BigInt(sendingVersion),
    id: BigInt(sendingId),
    base: BigInt(base),
  }
}

/** The error for a webhook that is pending. */
export function unverified(why: string): Failure {
  return new Failure(
    'webhook_unverified',
    `The receiver has not confirmed this URL yet. ${why} Activate the webhook first: the receiver must return the challenge.`,
  )
}

const idPrefix = 'wh_'
const idPattern = /^wh_[0-9a-f]{24}$/

export function newWebhookId(): string {
  return idPrefix + randomBytes(12).toString('hex')
}

/** If not, no webhook can have it, and no statement is needed. */
export function isWebhookId(text: string): boolean {
  return idPattern.test(text)
}

/** The last version of which everything was delivered. */
export function deliveredVersion({ version, id }: FeedPosition): bigint {
  return id === idMax || version === 0n ? version : version - 1n
}

/** The JSON of a webhook in the API and on the command line. */
export function webhookJson(webhook: Webhook) {
  return {
    id: webhook.id,
    resource: webhook.resource,
    url: webhook.url,
    filter: webhook.filter,
    fields: webhook.fields === null ? null : webhook.fields.split(','),
    status: webhook.status,
    reason: webhook.reason,
    created_at: webhook.createdAt,
    rotated_at: webhook.rotatedAt,
    delivered_version: Number(deliveredVersion(positionOf(webhook))),
    failures: Number(webhook.failures),
    failing_since: webhook.failingSince,
    due_at: webhook.dueAt,
  }
}
