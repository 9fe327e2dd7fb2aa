import { deliveryErrors } from '../../api/delivery-errors.ts'
import type { Row } from '../../api/read.ts'
import { t } from '../../texts/texts.ts'
import { msText } from '../format.ts'

interface Outcome {
  readonly tone: 'ok' | 'warn' | 'bad'
  readonly title: string
  readonly lines: readonly string[]
}

/** What the receiver did, by status: the service knows only that it is not 2xx. */
function statusAdvice(status: number): string {
  if (status === 401 || status === 403) return t.webhooks.signature
  if (status === 404 || status === 405) return t.webhooks.checkUrl
  if (status === 410) return t.webhooks.gone410
  if (status === 413) return t.webhooks.tooLarge
  if (status === 429) return t.webhooks.limited
  if (status >= 300 && status < 400) return t.webhooks.redirect
  if (status >= 500) return t.webhooks.receiverFailed
  return t.webhooks.receiverRejected
}

export interface Result {
  readonly status: number | null
  readonly error: string | null
  readonly duration_ms: number
}

/** How a delivery ended, why, and what to do. */
export function outcomeOf({ status, error, duration_ms: ms }: Result): Outcome {
  if (error === null) return { tone: 'ok', title: t.webhooks.delivered(status, msText(ms)), lines: [] }
  const { cause, remedy } = t.deliveryErrors[error] ??
    deliveryErrors[error] ?? { cause: t.webhooks.failedWith(error), remedy: '' }
  if (error === 'status' && status !== null)
    return {
      tone: 'bad',
      title: t.webhooks.failedStatus(status, msText(ms)),
      lines: [statusAdvice(status)],
    }
  return {
    tone: 'bad',
    title: t.webhooks.failed(msText(ms)),
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
    `POST ${url ?? t.webhooks.itsUrl}`,
    'content-type: application/json; charset=utf-8',
    `webhook-id: ${String(row['message_id'])}`,
    `webhook-timestamp: ${Math.floor(sentAt / 1000)}`,
    'webhook-signature: v1,…',
  ].join('\n')
}
