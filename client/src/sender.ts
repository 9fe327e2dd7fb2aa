import { backoffMs, retryAfterOf, sleep } from './backoff.ts'
import type { Cache } from './cache.ts'
import {
  ConnectionFailed,
  errorOf,
  IdempotencyConflict,
  messageOf,
  QuartermasterError,
  QueryTooSlow,
  RateLimited,
  TemporaryFailure,
  TimedOut,
  Unavailable,
  UnexpectedResponse,
} from './errors.ts'
import { limits } from './limits.ts'
import type { Problem } from './wire.ts'

/** Options of one call. They override those of the client. */
export interface CallOptions {
  /** Aborts the call, also while it waits for a retry. The call then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Timeout of each attempt in milliseconds. */
  readonly timeoutMs?: number | undefined
}

/** A request before the API key, retries and the cache are applied. */
export interface Call extends CallOptions {
  readonly method: 'GET' | 'QUERY' | 'POST' | 'PATCH' | 'DELETE'
  /** Path and query string. */
  readonly path: string
  readonly body?: string
  readonly headers: Readonly<Record<string, string>>
  /** The decoded parameters: an error message shows the wrong part of one. */
  readonly parameters: Readonly<Record<string, string>>
  readonly cached?: boolean
  /** A write without an Idempotency-Key, which does something else the second time. Default: false. */
  readonly onceOnly?: boolean
  /** How long the service may wait before it responds, in addition to the timeout. */
  readonly waitMs?: number
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

/** Reads a response. Aborting `attempt` closes the connection. */
type Read<T> = (response: Response, attempt: AbortController) => Promise<T>

/** Sends every request: headers, timeouts, retries, errors and the response cache. */
export class Sender {
  readonly #parts: SenderParts

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  /** Sends a request and reads the complete response. */
  async send(call: Call): Promise<Reply> {
    const { cache, baseUrl } = this.#parts
    const key = `${call.method} ${baseUrl}${call.path} ${call.body ?? ''}`
    const cached = call.cached === true ? await cache?.get(key) : undefined
    const headers = cached === undefined ? call.headers : { ...call.headers, 'if-none-match': cached.etag }
    const reply = await this.#retried({ ...call, headers }, async (response) => ({
      body: response.status === 304 && cached !== undefined ? cached.body : await response.text(),
      etag: response.headers.get('etag') ?? undefined,
      requestId: response.headers.get('x-request-id') ?? undefined,
    }))
    const { etag, body } = reply
    if (call.cached === true && etag !== undefined && etag !== cached?.etag)
      await cache?.set(key, { etag, body })
    return reply
  }

  /** Sends a request and reads the response with `read`, whose errors are retried, too. */
  async read<T>(call: Call, read: Read<T>): Promise<T> {
    return await this.#retried(call, read)
  }

  /** Sends a request and streams the response. Retries until the response begins; then `timeoutMs` applies to each chunk. */
  async stream(
    call: Call,
  ): Promise<{ response: Response; chunks: AsyncGenerator<Uint8Array, void, undefined> }> {
    return await this.#retried(call, async (response, attempt) => ({
      response,
      chunks: chunksOf(response, attempt, call, this.#timeoutMs(call)),
    }))
  }

  async #retried<T>(call: Call, read: Read<T>): Promise<T> {
    const deadline = Date.now() + this.#parts.retryForMs
    for (let attempts = 1; ; attempts++) {
      call.signal?.throwIfAborted()
      try {
        return await this.#attempt(call, read)
      } catch (error) {
        call.signal?.throwIfAborted()
        const ms = backoffMs(attempts, error instanceof TemporaryFailure ? error.retryAfterMs : 0)
        if (!shouldRetry(error, call) || Date.now() + ms > deadline) throw error
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
        // The service never redirects, and fetch would resend a redirected POST as a GET.
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
    return (call.timeoutMs ?? this.#parts.timeoutMs) + (call.waitMs ?? 0)
  }
}

/**
 * Every call is safe to retry, unless it says otherwise: reads change nothing, writes have an idempotency key, or change nothing the
 * second time.
 */
function shouldRetry(error: unknown, { onceOnly }: Call): boolean {
  if (onceOnly === true) return wasRefused(error)
  // No response or an incomplete one: a restart or a network failure. An unknown host name or a bad certificate is permanent.
  if (error instanceof ConnectionFailed) return error.code === 'connection_failed'
  if (error instanceof TimedOut) return true
  // The service sheds load, or a proxy has no backend.
  if (error instanceof RateLimited || error instanceof Unavailable) return true
  // 409: an earlier attempt of this create is still running. 422: the key was used with another body, a caller's mistake.
  if (error instanceof IdempotencyConflict) return error.status === 409
  // A proxy's timeout is worth a retry, and so is a total or a summary that the service goes on counting. After the service's own timeout
  // the same query would take as long again.
  if (error instanceof QueryTooSlow) return error.code === 'proxy_timeout' || error.code === 'total_pending'
  // Invalid requests stay invalid, and a fault of the service must be reported, not retried.
  return false
}

/** Whether the service says that it has done nothing. After a broken connection or a proxy's error it may have. */
function wasRefused(error: unknown): boolean {
  if (error instanceof Unavailable)
    return error.code === 'overloaded' || error.code === 'database_unavailable'
  return error instanceof RateLimited
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
    const message = `The response has status ${status} and is not from Quartermaster but from a proxy in front of it.`
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
    // Other servers send problem documents, too; only Quartermaster's have a code.
    return typeof problem?.code === 'string' && typeof problem.detail === 'string' ? problem : undefined
  } catch {
    return undefined
  }
}

function unexpected(
  status: number,
  location: string | null,
  requestId: string | undefined,
): UnexpectedResponse {
  const description =
    status === 0 || (status >= 300 && status < 400)
      ? `The response is a redirect${location === null ? '' : ` to ${location}`}`
      : `The response has status ${status} and is not from Quartermaster`
  return new UnexpectedResponse({
    status,
    code: 'response_unexpected',
    message: `${description}. Check baseUrl.`,
    requestId,
  })
}

/** The parsed body. The caller declares its type. */
export function jsonOf({ body, requestId }: Reply): ReturnType<typeof JSON.parse> {
  try {
    return JSON.parse(body)
  } catch (cause) {
    const message = 'The response is not JSON, so it is not from Quartermaster. Check baseUrl.'
    throw new UnexpectedResponse({ status: 200, code: 'response_unexpected', message, requestId }, cause)
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
    // Also closes the connection if the caller stops reading before the end.
    controller.abort()
  }
}

function timedOut(ms: number): TimedOut {
  return new TimedOut({ status: 0, code: 'timed_out', message: `No complete response within ${ms} ms.` })
}

function connectionFailed(baseUrl: string, cause: unknown): ConnectionFailed {
  // Node's message is "fetch failed"; the reason is in its cause.
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const why = inner instanceof Error ? inner.message || inner.name : String(inner)
  const permanent = permanentFailure(inner)
  const hint = permanent === undefined ? '' : ` ${permanent.hint}`
  const message = `No response from ${baseUrl}: ${why}.${hint}`
  return new ConnectionFailed({ status: 0, code: permanent?.code ?? 'connection_failed', message }, cause)
}

/** A failure that retries cannot fix. Only Node reports the reason; on other platforms every failure is retried. */
function permanentFailure(cause: unknown): { readonly code: string; readonly hint: string } | undefined {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  // EAI_AGAIN, the other DNS failure, is temporary: the DNS server did not respond.
  if (code === 'ENOTFOUND')
    return { code: 'host_unknown', hint: 'This host name does not exist. Check baseUrl.' }
  if (/CERT|ERR_TLS|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)/.test(code))
    return { code: 'tls_failed', hint: 'The TLS certificate of this host is not trusted.' }
  return undefined
}

export const defaults = { timeoutMs: limits.attemptMs, retryForMs: limits.retryForMs } as const
