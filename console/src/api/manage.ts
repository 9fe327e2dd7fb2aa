import { currentKey } from '../session.ts'
import { t } from '../texts/texts.ts'
import { type Read, recorded } from './exchange.ts'

/** Requests that the client has no method for, or that need their exchange: mostly those of administrators. */

export interface NewKey {
  readonly name: string
  readonly scopes: readonly string[]
  readonly expires_at: string | null
}

export interface CreatedKey {
  readonly data: { readonly key: string; readonly key_id: string; readonly name: string }
}

interface Options {
  /** By default POST with a body, and GET without one. */
  readonly method?: 'POST' | 'PATCH' | 'DELETE'
  readonly parameters?: Readonly<Record<string, string | number | undefined>>
  readonly signal?: AbortSignal | undefined
  readonly body?: unknown
  readonly idempotencyKey?: string
}

/** As the client's: longer than the service's own read timeout. */
const timeoutMs = 30_000

export async function sendManage<T>(path: string, options: Options = {}): Promise<Read<T>> {
  const { parameters = {}, signal, body, idempotencyKey } = options
  const method = options.method ?? (body === undefined ? 'GET' : 'POST')
  const query = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  )
  const url = query.length === 0 ? path : `${path}?${query.join('&')}`
  return await recorded<T>(async (recording) => {
    const response = await recording(url, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${currentKey() ?? ''}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal === undefined ? [] : [signal])]),
    })
    if (!response.ok) throw new Error(t.app.statusOf(response.status))
    const parsed: T = response.status === 204 ? undefined : await response.json()
    return parsed
  })
}

export async function createKey(key: NewKey, idempotencyKey: string): Promise<CreatedKey> {
  return (await sendManage<CreatedKey>('/manage/v1/keys', { body: key, idempotencyKey })).body
}

export async function rotateKey(keyId: string, overlapSeconds: number): Promise<CreatedKey> {
  const path = `/manage/v1/keys/${encodeURIComponent(keyId)}/rotate`
  return (await sendManage<CreatedKey>(path, { body: { overlap_seconds: overlapSeconds } })).body
}

export async function revokeKey(keyId: string): Promise<void> {
  await sendManage(`/manage/v1/keys/${encodeURIComponent(keyId)}/revoke`, { method: 'POST' })
}
