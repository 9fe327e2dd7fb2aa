import { hash, randomBytes } from 'node:crypto'
import type { FeedIdentity, FeedPosition } from '../changes/cursor.ts'
import { encodeCursor } from '../changes/cursor.ts'
import type { AccountScope } from '../scope.ts'
import type { FeedRange } from './feed-range.ts'
import { type SignedMessage, webhookSecret } from './signature.ts'
import type { Webhook } from './webhook.ts'

/** The secrets that sign: the current one first, and the previous one while a rotation lasts. */
export function secretsOf(masterKey: string, { accountId }: AccountScope, webhook: Webhook): string[] {
  const { id: webhookId, isRotating } = webhook
  const generation = Number(webhook.generation)
  const generations = isRotating === 'true' ? [generation, generation - 1] : [generation]
  return generations.map((one) => webhookSecret(masterKey, { accountId, webhookId, generation: one }))
}

/** Identifies a range of changes: every retry has the same id, a replay has another one. */
export function messageId(
  scope: AccountScope,
  webhook: Webhook,
  from: FeedPosition,
  end: FeedPosition,
): string {
  const { id, series } = webhook
  const range = `${from.lineage} ${from.version} ${from.id} ${end.version} ${end.id}`
  return `msg_${hash('sha256', `${scope.accountId} ${id} ${series} ${range}`, 'hex').slice(0, 32)}`
}

export function changesMessage(
  id: string,
  webhook: Webhook,
  feed: FeedIdentity,
  { changes, end, more }: FeedRange,
): SignedMessage {
  // The changes are JSON texts from PostgreSQL, which are not parsed.
  const data = `{"webhook":"${webhook.id}","changes":[${changes.join(',')}],"more":${more},"cursor":"${encodeCursor(feed, end)}"}`
  return messageOf(id, `${webhook.resource}.changed`, data)
}

export function testMessage(webhook: Webhook): SignedMessage {
  return messageOf(newMessageId(), 'webhook.test', JSON.stringify({ webhook: webhook.id }))
}

export function challengeMessage(webhook: Webhook, challenge: string): SignedMessage {
  return messageOf(newMessageId(), 'webhook.challenge', JSON.stringify({ webhook: webhook.id, challenge }))
}

export function newChallenge(): string {
  return randomBytes(24).toString('base64url')
}

/** Whether the response has the challenge: as its text, or as `{"challenge": …}`. */
export function echoes(body: string, challenge: string): boolean {
  if (body.trim() === challenge) return true
  try {
    const parsed: unknown = JSON.parse(body)
    return (
      typeof parsed === 'object' && parsed !== null && 'challenge' in parsed && parsed.challenge === challenge
    )
  } catch {
    return false
  }
}

function newMessageId(): string {
  return `msg_${randomBytes(16).toString('hex')}`
}

/** `timestamp` is the time of this attempt. */
function messageOf(id: string, type: string, data: string): SignedMessage {
  const now = new Date()
  const body = `{"type":"${type}","timestamp":"${now.toISOString()}","data":${data}}`
  return { id, timestamp: Math.floor(now.getTime() / 1000), body }
}
