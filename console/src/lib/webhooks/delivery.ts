import { deliveryErrors } from '../../api/delivery-errors.ts'
import type { Row } from '../../api/read.ts'
import { msText } from '../format.ts'

interface Outcome {
  readonly tone: 'ok' | 'warn' | 'bad'
  readonly title: string
  readonly lines: readonly string[]
}

/** What the receiver did, by status: the service knows only that it is not 2xx. */
function statusAdvice(status: number): string {
  if (status === 401 || status === 403)
    return 'The receiver does not accept the signature. Check its secret and its clock, and that it verifies the body as it was received, before a framework parses it.'
  if (status === 404 || status === 405) return 'Check the URL, and that the receiver accepts POST there.'
  if (status === 410) return 'With 410 the receiver asks for no more messages, so the webhook is disabled.'
  if (status === 413) return 'A message is up to about 256 KB. Allow larger bodies in the receiver.'
  if (status === 429) return 'The receiver has a rate limit. Its Retry-After is respected.'
  if (status >= 300 && status < 400) return 'Redirects are not followed. Use the URL to which it redirects.'
  if (status >= 500) return 'The receiver failed. Its own log says why.'
  return 'The receiver rejected the message. Its own log says why.'
}

export interface Result {
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number
}

/** How a delivery ended, why, and what to do. */
export function outcomeOf({ status, error, duration_ms: ms }: Result): Outcome {
  if (error === null) return { tone: 'ok', title: `Delivered with ${status} in ${msText(ms)}`, lines: [] }
  const { cause, remedy } = deliveryErrors[error] ?? { cause: `It failed with ${error}.`, remedy: '' }
  if (error === 'status' && status !== null)
    return {
      tone: 'bad',
      title: `Failed: the receiver responded with ${status} after ${msText(ms)}`,
      lines: [statusAdvice(status)],
    }
  return {
    tone: 'bad',
    title: `Failed after ${msText(ms)}`,
    lines: [cause, remedy].filter((line) => line !== ''),
  }
}

export function resultOf(row: Row): Result {
  const { status, error, duration_ms: ms } = row
  return {
    status: typeof status === 'number' ? status : null,
    error: typeof error === 'string' ? error : null,
    duration_ms: Number(ms),
  }
}

/** The request line and headers of an attempt. Its signature is not stored. */
export function requestLines(row: Row, url: string | undefined): string {
  const sentAt = Date.parse(String(row['at'])) - Number(row['duration_ms'])
  return [
    `POST ${url ?? "the webhook's URL"}`,
    'content-type: application/json; charset=utf-8',
    `webhook-id: ${String(row['message_id'])}`,
    `webhook-timestamp: ${Math.floor(sentAt / 1000)}`,
    'webhook-signature: v1,…',
  ].join('\n')
}
