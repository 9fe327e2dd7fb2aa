import { readStoredKey } from '../lib/keys/stored-key.ts'
import { firstListOf, requestUrlOf } from '../lib/records/first-list.ts'
import { newRequestId } from './request-id.ts'

/**
 * Requests the list of the page's address while the application is still being loaded. The first equal request of the
 * application gets the response.
 */

/** The client sends longer URLs with another method. */
const urlLengthMax = 2_000

interface FirstRequest {
  readonly url: string
  readonly authorization: string
  readonly controller: AbortController
  readonly response: Promise<Response>
}

let pending: FirstRequest | undefined

export function sendFirstRequest(): void {
  pending = send()
}

function send(): FirstRequest | undefined {
  const key = readStoredKey()
  const list = firstListOf(location)
  if (key === undefined || list === undefined) return undefined
  const { href: url } = new URL(requestUrlOf(list), location.origin)
  if (url.length > urlLengthMax) return undefined
  const authorization = `Bearer ${key}`
  const controller = new AbortController()
  const headers = { accept: 'application/json', authorization, 'x-request-id': newRequestId() }
  const response = fetch(url, { headers, redirect: 'manual', signal: controller.signal })
  // A failure is reported to the request that takes this response, if there is one.
  response.catch(() => {})
  return { url, authorization, controller, response }
}

/** The response to the early request, once, if it is the same request. Aborting one aborts the other. */
export function takeFirstResponse(
  input: Parameters<typeof fetch>[0],
  { method = 'GET', headers, signal }: RequestInit = {},
): Promise<Response> | undefined {
  if (pending === undefined || typeof input !== 'string' || method !== 'GET') return undefined
  const { url, authorization, controller, response } = pending
  const isSame =
    new URL(input, location.origin).href === url &&
    new Headers(headers).get('authorization') === authorization
  if (!isSame) return undefined
  pending = undefined
  signal?.addEventListener('abort', () => controller.abort(signal.reason), { once: true })
  return response
}

/** Milliseconds until its body was received. The application takes the response later. */
export function firstResponseMs(url: string): number | undefined {
  const [entry] = performance.getEntriesByName(url, 'resource')
  return entry === undefined ? undefined : entry.duration
}
