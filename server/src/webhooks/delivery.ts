import type { AccountReads } from '../accounts/account-reads.ts'
import { backoff, withJitter } from '../backoff.ts'
import { resources } from '../catalog/resources.ts'
import type { FeedIdentity } from '../changes/cursor.ts'
import { Failure } from '../errors/errors.ts'
import type { Definitions } from '../fields/definitions.ts'
import { limits as constants } from '../limits/limits.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { DeliveryOutcome, EmitEvent, StopReason } from '../observability/events.ts'
import type { Database } from '../postgres/database.ts'
import { SendError } from './address-guard.ts'
import {
  beginStatement,
  delivered,
  type Endpoint,
  failed,
  type Lease,
  type LogEntry,
  releaseStatement,
  stopped,
} from './delivery-statements.ts'
import { claim, storeChange } from './delivery-store.ts'
import { type FeedRange, isAfter, queryOf, readRange } from './feed-range.ts'
import { changesMessage, messageId, secretsOf } from './messages.ts'
import type { Sender } from './sender.ts'
import { type MasterKeys, unrecordedKey } from './signature.ts'
import { deliveredVersion, positionOf, sendingOf, type Webhook } from './webhook.ts'

export interface DeliveryParts {
  readonly database: Database
  readonly definitions: Definitions
  readonly accountReads: AccountReads
  readonly sender: Sender
  readonly masterKeys: MasterKeys
  readonly emit: EmitEvent
  readonly limits: Limits
  /** Aborted when the process shuts down. */
  readonly shutdown: AbortSignal
}

interface Held {
  readonly lease: Lease
  readonly webhook: Webhook
}

/** What follows a message: the next one, the end of this run, or the loss of the lease. */
type Step = { readonly webhook: Webhook } | 'done' | 'released'

/** Sends what an endpoint has not received yet, in order, as long as this process has the lease. */
export async function deliver(parts: DeliveryParts, endpoint: Endpoint): Promise<void> {
  const claimed = await claim(parts.database, endpoint, {
    leaseMs: parts.limits.webhookLeaseMs,
    masterKey: unrecordedKey(parts.masterKeys).fingerprint,
  })
  if (claimed === undefined) return
  const lease: Lease = { ...endpoint, fence: claimed.fence }
  let webhook: Webhook = claimed
  let step: Step = 'done'
  try {
    for (let sent = 0; sent < parts.limits.webhookRunMessagesMax && !parts.shutdown.aborted; sent++) {
      step = await sendNext(parts, { lease, webhook })
      if (typeof step === 'string') break
      webhook = step.webhook
    }
  } catch (error) {
    // The sweep finds the endpoint again.
    if (!(error instanceof Failure) || !passing.has(error.code)) throw error
  } finally {
    if (step !== 'released') await parts.database.writeOne(releaseStatement(lease))
  }
}

/** Reasons that pass and are no defect: the account is busy, or the process shuts down. */
const passing: ReadonlySet<string> = new Set(['account_busy', 'overloaded', 'client_disconnected'])

async function sendNext(parts: DeliveryParts, held: Held): Promise<Step> {
  const { lease, webhook } = held
  const from = positionOf(webhook)
  const found = await nextRange(parts, held)
  if (found === undefined) return 'released'
  const [range, feed] = found
  const next = { webhook: advanced(webhook, range) }
  if (range.changes.length === 0) {
    if (!isAfter(range.end, from)) return 'done'
    // All changes of the range have been superseded, or do not match the filter.
    const rows = await storeChange(parts.database, delivered(lease, range.end, undefined))
    if (rows.length === 0) return 'released'
    return range.more ? next : 'done'
  }
  const sent = await sendRange(parts, held, range, feed)
  if (sent === undefined) return 'released'
  const { entry, outcome, retryAfterSeconds } = sent
  parts.emit({ kind: 'webhook-sent', outcome, changes: entry.changes, ms: entry.ms })
  if (outcome === 'delivered') {
    const rows = await storeChange(parts.database, delivered(lease, range.end, entry))
    if (rows.length === 0) return 'released'
    return range.more ? next : 'done'
  }
  if (outcome === 'aborted') return 'done'
  if (entry.status === 410) await stop(parts, lease, 'gone', entry)
  else await fail(parts, held, entry, retryAfterSeconds)
  return 'released'
}

/** Undefined if the endpoint had to be stopped. */
async function nextRange(
  parts: DeliveryParts,
  { lease, webhook }: Held,
): Promise<[FeedRange, FeedIdentity] | undefined> {
  const { accountReads, definitions, limits, shutdown } = parts
  const current = () => definitions.current(lease, resources[webhook.resource])
  try {
    let { resource, schema } = await current()
    for (;;) {
      const query = queryOf(lease, resource, webhook, constants.webhookChangesMax)
      const options = { until: sendingOf(webhook), limits, signal: shutdown }
      const range = await readRange(accountReads, lease, query, positionOf(webhook), options)
      // If a field was declared meanwhile, the records lack it, and would not be sent again.
      const after = range.changes.length === 0 ? undefined : await current()
      if (after === undefined || after.schema === schema) return [range, query.feed]
      ;({ resource, schema } = after)
    }
  } catch (error) {
    const reason = error instanceof Failure ? stopReasonOf[error.code] : undefined
    if (reason === undefined) throw error
    await stop(parts, lease, reason, undefined)
    return undefined
  }
}

const stopReasonOf: Readonly<Record<string, StopReason>> = {
  cursor_expired: 'cursor_expired',
  // The fields of the resource have changed since the webhook was created.
  request_invalid: 'query_invalid',
}

interface Sent {
  readonly entry: LogEntry
  readonly outcome: DeliveryOutcome
  readonly retryAfterSeconds: number | undefined
}

/** Undefined if the lease was lost, or would end before the request. */
async function sendRange(
  parts: DeliveryParts,
  { lease, webhook }: Held,
  range: FeedRange,
  feed: FeedIdentity,
): Promise<Sent | undefined> {
  const { database, limits, masterKeys, sender, shutdown } = parts
  const startedAt = performance.now()
  const renewed = await database.writeOne(beginStatement(lease, range.end, limits.webhookLeaseMs))
  if (renewed.length === 0 || performance.now() - startedAt > limits.webhookLeaseSlackMsMax) return undefined
  const from = positionOf(webhook)
  const id = messageId(lease, webhook, from, range.end)
  const message = changesMessage(id, webhook, feed, range)
  const sentAt = performance.now()
  const entryOf = (status: number | null, error: string | null): LogEntry => ({
    messageId: id,
    kind: 'changes',
    changes: range.changes.length,
    fromVersion: deliveredVersion(from),
    toVersion: range.end.version,
    status,
    error,
    ms: performance.now() - sentAt,
  })
  const secrets = secretsOf(masterKeys, lease, webhook)
  // The receiver would reject any other signature. `doctor` counts such endpoints.
  if (secrets.length === 0)
    return { entry: entryOf(null, 'secret'), outcome: 'secret', retryAfterSeconds: undefined }
  try {
    const { status, retryAfterSeconds } = await sender.send(webhook.url, message, secrets, shutdown)
    const isDelivered = status >= 200 && status < 300
    const error = isDelivered ? null : 'status'
    return { entry: entryOf(status, error), outcome: isDelivered ? 'delivered' : 'status', retryAfterSeconds }
  } catch (error) {
    if (!(error instanceof SendError)) throw error
    return { entry: entryOf(null, error.code), outcome: error.code, retryAfterSeconds: undefined }
  }
}

async function fail(
  { database, emit, limits }: DeliveryParts,
  { lease, webhook }: Held,
  entry: LogEntry,
  retryAfterSeconds: number | undefined,
): Promise<void> {
  const delaySeconds = retryDelaySeconds(Number(webhook.failures) + 1, retryAfterSeconds, limits)
  const isOverdue = webhook.isOverdue === 'true'
  const [row] = await storeChange(database, failed(lease, { delaySeconds, isOverdue }, entry))
  if (row?.status === 'paused') emit({ kind: 'webhook-stopped', reason: 'failing' })
}

async function stop(
  { database, emit }: DeliveryParts,
  lease: Lease,
  reason: StopReason,
  entry: LogEntry | undefined,
): Promise<void> {
  const rows = await storeChange(database, stopped(lease, reason, entry))
  if (rows.length > 0) emit({ kind: 'webhook-stopped', reason })
}

/** Between half and all of 5 s, 10 s, 20 s … 1 h, so that endpoints of one receiver do not return at the same time. */
export function retryDelaySeconds(
  failures: number,
  retryAfterSeconds: number | undefined,
  limits: Limits,
  random: () => number = Math.random,
): number {
  const { webhookRetrySecondsMin: min, webhookRetrySecondsMax: max, webhookRetryAfterSecondsMax } = limits
  const delay = withJitter(backoff(failures, min, max), random)
  const requested = Math.min(retryAfterSeconds ?? 0, webhookRetryAfterSecondsMax)
  return Math.max(min, delay, requested)
}

function advanced(webhook: Webhook, { end }: FeedRange): Webhook {
  return {
    ...webhook,
    lineage: String(end.lineage),
    version: String(end.version),
    recordId: String(end.id),
    base: String(end.base),
    sendingLineage: null,
    sendingVersion: null,
    sendingId: null,
    failures: '0',
    isOverdue: 'false',
  }
}
