import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { Limits } from '../limits/passed-limits.ts'
import { version } from '../version.ts'
import { type AddressGuard, hostOf, SendError } from './address-guard.ts'
import { type SignedMessage, signatureHeaders } from './signature.ts'

export interface SenderOptions {
  readonly guard: AddressGuard
  readonly limits: Pick<Limits, 'webhookRequestMsMax' | 'webhookResponseBytesMax'>
}

export interface Received {
  readonly status: number
  /** Seconds of Retry-After; undefined without one. */
  readonly retryAfterSeconds: number | undefined
  /** At most `webhookResponseBytesMax` bytes. Only the response to a challenge is looked at. */
  readonly body: string
}

/** Sends signed messages to the receivers of webhooks. Follows no redirect: a 3xx is returned like any other status. */
export class Sender {
  readonly #guard: AddressGuard
  readonly #limits: Pick<Limits, 'webhookRequestMsMax' | 'webhookResponseBytesMax'>

  constructor({ guard, limits }: SenderOptions) {
    this.#guard = guard
    this.#limits = limits
  }

  /** Rejects with a `SendError` if there is no response within the time, or when the signal is aborted. */
  async send(
    url: string,
    message: SignedMessage,
    secrets: readonly string[],
    shutdown: AbortSignal,
  ): Promise<Received> {
    const target = this.#guard.parse(url)
    const timeout = AbortSignal.timeout(this.#limits.webhookRequestMsMax)
    const signal = AbortSignal.any([timeout, shutdown])
    try {
      const response = await this.#request(target, message, secrets, signal)
      const body = await bodyOf(response, this.#limits.webhookResponseBytesMax)
      const retryAfterSeconds = secondsOf(response.headers['retry-after'])
      return { status: response.statusCode ?? 0, retryAfterSeconds, body }
    } catch (error) {
      if (shutdown.aborted) throw new SendError('aborted', 'The process is shutting down.', error)
      if (timeout.aborted) throw new SendError('timeout', 'The receiver did not respond in time.', error)
      throw sendErrorOf(error)
    }
  }

  #request(
    target: URL,
    message: SignedMessage,
    secrets: readonly string[],
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const body = Buffer.from(message.body)
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          method: 'POST',
          host: hostOf(target),
          port: target.port === '' ? 443 : Number(target.port),
          path: `${target.pathname}${target.search}`,
          headers: {
            ...signatureHeaders(message, secrets),
            'content-type': 'application/json; charset=utf-8',
            'content-length': body.length,
            'user-agent': `Quartermaster/${version} (webhook)`,
          },
          lookup: this.#guard.lookup,
          // A new connection for each message: its addresses are checked, and no idle connection breaks in between.
          agent: false,
          signal,
        },
        resolve,
      )
      outgoing.on('error', reject)
      outgoing.end(body)
    })
  }
}

/** Reads up to `bytesMax`. The status is known by now, so a response that breaks off or takes too long counts. */
async function bodyOf(response: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of response) {
      if (!Buffer.isBuffer(chunk)) continue
      chunks.push(chunk)
      length += chunk.length
      if (length >= bytesMax) break
    }
  } catch {
    // What was received is enough.
  } finally {
    response.destroy()
  }
  return Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8')
}

/** Retry-After as seconds or as a date. */
function secondsOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000))
}

function sendErrorOf(error: unknown): SendError {
  if (error instanceof SendError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (/CERT|_TLS_|_SSL_|SIGNED|ISSUER/.test(code))
    return new SendError('certificate_invalid', `The TLS certificate was not accepted (${code}).`, error)
  return new SendError('connection_failed', `The connection failed${code === '' ? '' : ` (${code})`}.`, error)
}
