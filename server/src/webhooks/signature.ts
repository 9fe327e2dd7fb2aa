import { createHmac, hkdfSync } from 'node:crypto'
import type { AccountScope } from '../scope.ts'

/** A webhook and one of its secrets: each rotation begins a new generation. */
export interface SecretOf extends AccountScope {
  readonly webhookId: string
  readonly generation: number
}

export interface MasterKey {
  readonly key: string
  /** Stored with each webhook: which master key its secret is derived from. */
  readonly fingerprint: string
}

/** While the operator changes the master key, the previous one is known, too. */
export interface MasterKeys {
  readonly current: MasterKey
  readonly previous: MasterKey | undefined
}

/** Undefined if webhooks are not configured. */
export function masterKeysOf(
  current: string | undefined,
  previous: string | undefined,
): MasterKeys | undefined {
  if (current === undefined) return undefined
  return {
    current: masterKeyOf(current),
    previous: previous === undefined ? undefined : masterKeyOf(previous),
  }
}

function masterKeyOf(key: string): MasterKey {
  const bytes = hkdfSync('sha256', key, '', 'quartermaster webhook master key', fingerprintBytes)
  return { key, fingerprint: Buffer.from(bytes).toString('hex') }
}

/** The master key of webhooks that were last written before fingerprints were stored: the change of the key comes after the upgrade. */
export function unrecordedKey({ current, previous }: MasterKeys): MasterKey {
  return previous ?? current
}

const fingerprintBytes = 8
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
