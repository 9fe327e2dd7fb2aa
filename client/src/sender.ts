import type { Cache } from './cache.ts'
import {
  ConnectionFailed,
  errorOf,
  IdempotencyConflict,
  messageOf,
  QuartermasterError,
  QueryTooSlow,
  RateLimited,
  TimedOut,
  Unavailable,
  UnexpectedAnswer,
} from './errors.ts'
import { limits } from './limits.ts'
import { retryAfterOf, sleep, waitMs } from './waiting.ts'
import type { Problem } from './wire.ts'

/** How one call is sent; what is left out is as the client was made. */
export interface CallOptions {
  /** Ends the call, its waiting included; the call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds for each attempt. */
  readonly timeoutMs?: number | undefined
}

/** A call, as the resources make it. */
export interface Call extends CallOptions {
  readonly method: 'GET' | 'QUERY' | 'POST'
  /** With the query string. */
  readonly path: string
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
  /** The parameters as they were given, to point into when the service refuses one. */
  readonly parameters: Readonly<Record<string, string>>
  readonly cached?: boolean
}

export interface Reply {
  readonly body: string
  readonly etag: string | undefined
  readonly requestId: string | undefined
}

export interface SenderParts {
  readonly baseUrl: string
  readonly apiKey: string
  readonly fetch: typeof fetch
  readonly timeoutMs: number
  readonly retryForMs: number
  readonly cache: Cache | undefined
}

/** What is made of an answer; `attempt` ends its transfer. */
type Read<T> = (response: Response, attempt: AbortController) => Promise<T>

/** The one place from which requests go out: headers, attempts, errors, and answers that are kept. */
export class Sender {
  readonly #parts: SenderParts

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  /** The whole answer, as text. */
  async send(call: Call): Promise<Reply> {
    const { cache, baseUrl } = this.#parts
    const key = `${call.method} ${baseUrl}${call.path} ${call.body ?? ''}`
    const kept = call.cached === true ? await cache?.get(key) : undefined
    const headers = kept === undefined ? call.headers : { ...call.headers, 'if-none-match': kept.etag }
    const reply = await this.#retried({ ...call, headers }, async (response) => ({
      body: response.status === 304 && kept !== undefined ? kept.body : await response.text(),
      etag: response.headers.get('etag') ?? undefined,
      requestId: response.headers.get('x-request-id') ?? undefined,
    }))
    const { etag, body } = reply
    if (call.cached === true && etag !== undefined && etag !== kept?.etag)
      await cache?.set(key, { etag, body })
    return reply
  }

  /** The answer as it comes in. Tried again until it begins; `timeoutMs` then bounds each silence. */
  async stream(
    call: Call,
  ): Promise<{ response: Response; chunks: AsyncGenerator<Uint8Array, void, undefined> }> {
    return await this.#retried(call, async (response, attempt) => ({
      response,
      chunks: chunksOf(response, attempt, call, this.#timeoutMs(call)),
    }))
  }

  async #retried<T>(call: Call, read: Read<T>): Promise<T> {
    const until = Date.now() + this.#parts.retryForMs
    for (let tries = 1; ; tries++) {
      call.signal?.throwIfAborted()
      try {
        return await this.#attempt(call, read)
      } catch (error) {
        call.signal?.throwIfAborted()
        const ms = waitMs(
          tries,
          error instanceof RateLimited || error instanceof Unavailable ? error.retryAfterMs : 0,
        )
        if (!shouldRetry(error) || Date.now() + ms > until) throw error
        await sleep(ms, call.signal)
      }
    }
  }

  async #attempt<T>(call: Call, read: Read<T>): Promise<T> {
    const attempt = new AbortController()
    const timeoutMs = this.#timeoutMs(call)
    const stop = () => attempt.abort(call.signal?.reason)
    const timer = setTimeout(() => attempt.abort(timedOut(timeoutMs)), timeoutMs)
    call.signal?.addEventListener('abort', stop, { once: true })
    try {
      const response = await this.#parts.fetch(this.#parts.baseUrl + call.path, {
        method: call.method,
        headers: { ...call.headers, authorization: `Bearer ${this.#parts.apiKey}` },
        body: call.body ?? null,
        signal: attempt.signal,
        // The service sends nobody elsewhere, and a create that is redirected would become a GET.
        redirect: 'manual',
      })
      if (!response.ok && response.status !== 304) throw await failureOf(response, call)
      return await read(response, attempt)
    } catch (error) {
      if (error instanceof QuartermasterError) throw error
      throw attempt.signal.aborted ? attempt.signal.reason : connectionFailed(this.#parts.baseUrl, error)
    } finally {
      clearTimeout(timer)
      call.signal?.removeEventListener('abort', stop)
    }
  }

  #timeoutMs(call: Call): number {
    return call.timeoutMs ?? this.#parts.timeoutMs
  }
}

/** Every call may be sent again without harm: reads change nothing, and a create carries its idempotency key. */
function shouldRetry(error: unknown): boolean {
  // Nothing came back, or not all of it: a restart, a broken network. A name that does not exist is no such thing.
  if (error instanceof ConnectionFailed) return error.code === 'connection_failed'
  if (error instanceof TimedOut) return true
  // The service, or a proxy that finds none behind it, asks to come back later.
  if (error instanceof RateLimited || error instanceof Unavailable) return true
  // Our own first try of this create still runs. With another body (422) the key was used twice: a mistake.
  if (error instanceof IdempotencyConflict) return error.status === 409
  // A proxy gave up waiting. The service's own deadline has a code: the same query would run as long again.
  if (error instanceof QueryTooSlow) return error.code === 'proxy_timeout'
  // Wrong requests stay wrong, and a fault of the service is to be reported, not repeated.
  return false
}

async function failureOf(response: Response, call: Call): Promise<QuartermasterError> {
  const { status, headers } = response
  const text = await response.text()
  const requestId = headers.get('x-request-id') ?? undefined
  const retryAfterMs = retryAfterOf(headers.get('retry-after'))
  const problem = problemOf(headers, text)
  if (problem !== undefined) {
    const message = messageOf(problem, call.parameters)
    return errorOf({
      status,
      code: problem.code,
      message,
      requestId: problem.request_id,
      faults: problem.errors ?? [],
      retryAfterMs,
    })
  }
  if (status === 429 || status === 502 || status === 503 || status === 504) {
    const message = `The answer is ${status}, not from the service but from something in between.`
    return errorOf({
      status,
      code: status === 504 ? 'proxy_timeout' : 'proxy_unavailable',
      message,
      requestId,
      retryAfterMs,
    })
  }
  return unexpected(status, headers.get('location'), requestId)
}

function problemOf(headers: Headers, text: string): Problem | undefined {
  if (!headers.get('content-type')?.startsWith('application/problem+json')) return undefined
  try {
    const problem: Problem | null = JSON.parse(text)
    // Other services have problem documents, too; the code and the request id are ours.
    return typeof problem?.code === 'string' && typeof problem.detail === 'string' ? problem : undefined
  } catch {
    return undefined
  }
}

function unexpected(
  status: number,
  location: string | null,
  requestId: string | undefined,
): UnexpectedAnswer {
  const what =
    status === 0 || (status >= 300 && status < 400)
      ? `The answer is a redirect${location === null ? '' : ` to ${location}`}`
      : `The answer has the status ${status} and is not one of the service`
  return new UnexpectedAnswer({
    status,
    code: 'answer_unexpected',
    message: `${what}. Check baseUrl.`,
    requestId,
  })
}

/** An answer of the service, parsed; the caller says what it is. */
export function jsonOf({ body, requestId }: Reply): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(body)
  } catch (cause) {
    const message = 'The answer is not JSON, so not one of the service. Check baseUrl.'
    throw new UnexpectedAnswer({ status: 200, code: 'answer_unexpected', message, requestId }, cause)
  }
}

async function* chunksOf(
  response: Response,
  controller: AbortController,
  { signal }: Call,
  timeoutMs: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const stop = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', stop, { once: true })
  const reader = response.body?.getReader()
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    for (;;) {
      timer = setTimeout(() => controller.abort(timedOut(timeoutMs)), timeoutMs)
      const chunk = await reader?.read()
      clearTimeout(timer)
      if (chunk?.value === undefined) return
      yield chunk.value
    }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
    // Whoever stops reading half-way ends the transfer, too.
    controller.abort()
  }
}

function timedOut(ms: number): TimedOut {
  return new TimedOut({ status: 0, code: 'timed_out', message: `No whole answer within ${ms} ms.` })
}

function connectionFailed(baseUrl: string, cause: unknown): ConnectionFailed {
  // Node says "fetch failed", and why in the cause of that.
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const why = inner instanceof Error ? inner.message || inner.name : String(inner)
  const fixed = permanent(inner)
  const hint = fixed === undefined ? '' : ` ${fixed.hint}`
  const message = `There was no answer from ${baseUrl}: ${why}.${hint}`
  return new ConnectionFailed({ status: 0, code: fixed?.code ?? 'connection_failed', message }, cause)
}

/** What stays wrong for longer than a client tries again. Only Node names the reason; elsewhere nothing is permanent. */
function permanent(cause: unknown): { readonly code: string; readonly hint: string } | undefined {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  // EAI_AGAIN is the other failure of DNS: its server did not answer, and may do so in a second.
  if (code === 'ENOTFOUND') return { code: 'host_unknown', hint: 'No host has this name. Check baseUrl.' }
  if (/CERT|ERR_TLS|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/.test(code))
    return { code: 'tls_failed', hint: 'The certificate of this host is not accepted.' }
  return undefined
}

export const defaults = { timeoutMs: limits.attemptMs, retryForMs: limits.retryForMs } as const
