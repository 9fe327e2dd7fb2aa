import { type Decimals, quoteDecimals, type WithDecimals } from './decimals.ts'
import { WebhookInvalid } from './errors.ts'
import { limits } from './limits.ts'
import { type Company, decimalFields, type Partner, type Product, type ProductKinds } from './wire.ts'

interface EventBase<T extends string, D> {
  readonly type: T
  /** When this attempt was made. */
  readonly timestamp: string
  readonly data: { readonly webhook: string } & D
}

/** A change as a webhook sends it. Ignore one whose version is lower than that of the record that you have. */
export type DeliveredChange<R> = { readonly id: number; readonly version: number } & (
  | { readonly change: 'created' | 'updated'; readonly record: R }
  | {
      readonly change: 'deleted' | 'removed'
      readonly erased?: true
      readonly deleted_by?: string | null
    }
)

interface Changes<R> {
  readonly changes: readonly DeliveredChange<R>[]
  /** Whether more changes were waiting when the message was sent. */
  readonly more: boolean
  /** The position after these changes in the feed: `changes({ since: cursor })` continues there, with the same filter. */
  readonly cursor: string
}

/** A message of a webhook. Its records have the fields that the webhook selects: all of them by default. */
export type WebhookEvent<D extends Decimals = 'number'> =
  | EventBase<'product.changed', Changes<Partial<WithDecimals<Product, ProductKinds, D>>>>
  | EventBase<'partner.changed', Changes<Partial<Partner>>>
  | EventBase<'company.changed', Changes<Partial<Company>>>
  | EventBase<'webhook.test', unknown>
  | EventBase<'webhook.challenge', { readonly challenge: string }>

/** The headers of a request, as fetch, Node or a function in a cloud has them. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

export interface WebhookOptions<D extends Decimals = 'number'> {
  /** How records have decimals: as numbers, or as strings with every digit. Default: `number`. */
  readonly decimals?: D | undefined
  /** The greatest difference between the clocks of service and receiver, in seconds. Default: 300. */
  readonly toleranceSeconds?: number | undefined
}

/**
 * The event of a message, if it is from Quartermaster, unchanged and recent. Otherwise throws WebhookInvalid: respond with 401. Pass
 * the body as it was received, because parsing and printing it changes its bytes. While a secret is rotated, pass both secrets.
 */
export async function verifyWebhook<const D extends Decimals = 'number'>(
  headers: WebhookHeaders,
  body: string | Uint8Array | ArrayBuffer,
  secrets: string | readonly string[],
  { decimals, toleranceSeconds = limits.webhookToleranceSeconds }: WebhookOptions<D> = {},
): Promise<WebhookEvent<D>> {
  const keys = await Promise.all((typeof secrets === 'string' ? [secrets] : secrets).map(keyOf))
  if (keys.length === 0) throw new TypeError('Pass at least one secret.')
  const [id, timestamp, signatures] = [
    headerIn(headers, 'webhook-id'),
    headerIn(headers, 'webhook-timestamp'),
    headerIn(headers, 'webhook-signature'),
  ]
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN
  if (!(Math.abs(Date.now() / 1000 - seconds) <= toleranceSeconds))
    throw invalid(`webhook-timestamp is not within ${toleranceSeconds} s of now.`)
  const bytes = bytesOf(body)
  const signed = joined([new TextEncoder().encode(`${id}.${timestamp}.`), bytes])
  if (!(await isSigned(signed, signatures, keys)))
    throw invalid("No signature in webhook-signature matches this webhook's secret.")
  return eventIn(bytes, decimals)
}

/**
 * Handles a request to a receiver, for servers that pass a `Request` and expect a `Response`, such as Deno, Bun and workers. Verifies
 * it, returns the challenge by which a webhook is activated, and calls `receive` with every other event. If `receive` throws, the
 * handler throws, and the service sends the message again.
 */
export async function handleWebhook<const D extends Decimals = 'number'>(
  request: Request,
  secrets: string | readonly string[],
  receive: (event: WebhookEvent<D>) => Promise<void> | void,
  options: WebhookOptions<D> = {},
): Promise<Response> {
  if (request.method !== 'POST') return new Response(null, { status: 405, headers: { allow: 'POST' } })
  const body = await limitedBody(request)
  if (body === undefined) return new Response(null, { status: 413 })
  const event = await verifyWebhook(request.headers, body, secrets, options).catch((error: unknown) => {
    if (error instanceof WebhookInvalid) return error
    throw error
  })
  if (event instanceof WebhookInvalid) return new Response(event.message, { status: 401 })
  if (event.type === 'webhook.challenge') return new Response(event.data.challenge)
  await receive(event)
  return new Response(null, { status: 204 })
}

/** Undefined if it is larger than any message: nothing more is kept for a sender that is not verified yet. */
async function limitedBody(request: Request): Promise<Uint8Array | undefined> {
  const reader = request.body?.getReader()
  const parts: Uint8Array[] = []
  for (let length = 0; ; ) {
    const chunk = await reader?.read()
    if (chunk?.value === undefined) return joined(parts)
    parts.push(chunk.value)
    length += chunk.value.length
    if (length <= limits.webhookBytesMax) continue
    await reader?.cancel()
    return undefined
  }
}

/** A CryptoKey, whose name not every set of types has. */
type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>

async function keyOf(secret: string): Promise<HmacKey> {
  // 24 to 64 bytes, says Standard Webhooks: a secret that was cut off would reject every message.
  const encoded = /^whsec_([A-Za-z0-9+/]{30,88}={0,2})$/.exec(secret)?.[1] ?? ''
  if (encoded.length % 4 !== 0 || encoded.length < 32)
    throw new TypeError('A secret is whsec_ and base64, as in the response that created the webhook.')
  return await crypto.subtle.importKey('raw', decoded(encoded), { name: 'HMAC', hash: 'SHA-256' }, false, [
    'verify',
  ])
}

function decoded(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

/** Names of headers may have capitals, unless fetch or Node has parsed them. */
function headerIn(headers: WebhookHeaders, name: string): string {
  const values =
    'get' in headers && typeof headers.get === 'function'
      ? [headers.get(name)]
      : Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? value : []))
  const [value] = values
  if (values.length === 1 && typeof value === 'string' && value !== '') return value
  throw invalid(`The header ${name} is missing, or repeated.`)
}

/** `crypto.subtle.verify` compares in constant time. Every secret is tried with every signature, whichever is right. */
async function isSigned(
  signed: Uint8Array<ArrayBuffer>,
  signatures: string,
  keys: readonly HmacKey[],
): Promise<boolean> {
  const all = signatures.split(' ', limits.webhookSignaturesMax + 1)
  // Signatures of other versions are by other keys, such as asymmetric ones.
  const received = all.flatMap((one) => /^v1,([A-Za-z0-9+/]{43}=)$/.exec(one)?.[1] ?? [])
  if (all.length > limits.webhookSignaturesMax)
    throw invalid(`webhook-signature has more than ${limits.webhookSignaturesMax} signatures.`)
  const results = received.flatMap((signature) =>
    keys.map((key) => crypto.subtle.verify('HMAC', key, decoded(signature), signed)),
  )
  return (await Promise.all(results)).includes(true)
}

function bytesOf(body: string | Uint8Array | ArrayBuffer): Uint8Array {
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array) return body
  if (body instanceof ArrayBuffer) return new Uint8Array(body)
  throw new TypeError('Pass the body as it was received: a text or bytes, before any JSON parser.')
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

function eventIn<D extends Decimals>(bytes: Uint8Array, decimals: D | undefined): WebhookEvent<D> {
  const text = new TextDecoder().decode(bytes)
  try {
    return JSON.parse(decimals === 'string' ? quoteDecimals(text, new Set(decimalFields)) : text)
  } catch (cause) {
    throw invalid('The body is signed, but it is not JSON.', cause)
  }
}

function invalid(message: string, cause?: unknown): WebhookInvalid {
  return new WebhookInvalid({ status: 0, code: 'webhook_invalid', message }, cause)
}
