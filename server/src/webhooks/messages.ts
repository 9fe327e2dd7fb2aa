import { hash, randomBytes } from 'node:crypto'
import type { FeedIdentity, FeedPosition } from '../changes/cursor.ts'
import { encodeCursor } from '../changes/cursor.ts'
import type { AccountScope } from '../scope.ts'
import type { FeedRange } from './feed-range.ts'
import {
  type MasterKey,
  type MasterKeys,
  type SignedMessage,
  unrecordedKey,
  webhookSecret,
} from './signature.ts'
import type { Webhook } from './webhook.ts'

/**
 * The secrets that sign, the current one first. If that is derived from the previous master key, so is one from the current master key;
 * while a rotation lasts, the secret before it signs, too. Empty if no known master key has the fingerprint of the webhook: its
 * receiver does not know any other secret.
 */
export function secretsOf(keys: MasterKeys, { accountId }: AccountScope, webhook: Webhook): string[] {
  const { id: webhookId, isRotating } = webhook
  const generation = Number(webhook.generation)
  const keyWith = (fingerprint: string | null) =>
    fingerprint === null
      ? unrecordedKey(keys)
      : [keys.current, keys.previous].find((key) => key?.fingerprint === fingerprint)
  const own = keyWith(webhook.masterKey)
  if (own === undefined) return []
  const before = isRotating === 'true' ? keyWith(webhook.masterKeyBefore) : undefined
  const derive = ({ key }: MasterKey, of: number) =>
    webhookSecret(key, { accountId, webhookId, generation: of })
  return [
    derive(own, generation),
    ...(own === keys.current ? [] : [derive(keys.current, generation)]),
    ...(before === undefined ? [] : [derive(before, generation - 1)]),
  ]
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
