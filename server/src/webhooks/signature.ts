import { createHmac, hkdfSync } from 'node:crypto'
import type { AccountScope } from '../scope.ts'

/** A webhook and one of its secrets: each rotation begins a new generation. */
export interface SecretOf extends AccountScope {
  readonly webhookId: string
  readonly generation: number
}

const secretBytes = 32
const prefix = 'whsec_'

/**
 * The secret of a webhook, in the format of Standard Webhooks. It is derived from the master key whenever it is needed, so that a
 * copy of the database contains none.
 */
export function webhookSecret(masterKey: string, { accountId, webhookId, generation }: SecretOf): string {
  const info = `quartermaster webhook ${accountId} ${webhookId} ${generation}`
  return prefix + Buffer.from(hkdfSync('sha256', masterKey, '', info, secretBytes)).toString('base64')
}

export interface SignedMessage {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

/** The headers of Standard Webhooks, with a signature by each secret: two while a rotation lasts. */
export function signatureHeaders(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const signed = `${id}.${timestamp}.${body}`
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(prefix.length), 'base64')
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
