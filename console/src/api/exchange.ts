import type { Fault } from '@quartermaster/client'
import { isOffline } from '../lib/online.ts'
import { t } from '../texts/texts.ts'
import { firstResponseMs, takeFirstResponse } from './first-request.ts'
import { newRequestId } from './request-id.ts'

/** A problem document (RFC 9457), as the service sends it. */
export interface Problem {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly detail: string
  readonly request_id?: string | undefined
  readonly errors?: readonly Fault[] | undefined
}

/** One request and its response, without the key. */
export interface Exchange {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly status: number
  /** Milliseconds until the complete body was received. */
  readonly ms: number
  readonly bytes: number
  readonly headers: Readonly<Record<string, string>>
  readonly problem: Problem | undefined
}

export interface Read<T> {
  readonly body: T
  readonly exchange: Exchange | undefined
}

/** A request that the service rejected, or that got no response. */
export class RequestFailed extends Error {
  readonly problem: Problem
  readonly exchange: Exchange | undefined

  constructor(problem: Problem, exchange?: Exchange, cause?: unknown) {
    super(problem.detail, { cause })
    this.problem = problem
    this.exchange = exchange
  }
}

/** A fetch that reads each response completely and reports it. */
function recordingFetch(onExchange: (exchange: Exchange) => void): typeof fetch {
  return async (input, init) => {
    const startedAt = performance.now()
    const first = takeFirstResponse(input, init)
    const response = await (first ?? fetch(input, marked(init)))
    const body = await response.arrayBuffer()
    const { status, statusText, headers } = response
    const url = new URL(response.url)
    onExchange({
      method: init?.method ?? 'GET',
      url: url.pathname + url.search,
      status,
      ms: (first && firstResponseMs(response.url)) ?? performance.now() - startedAt,
      bytes: body.byteLength,
      headers: Object.fromEntries(headers),
      problem: problemOf(headers, body),
    })
    return new Response(status === 304 || status === 204 ? null : body, { status, statusText, headers })
  }
}

function marked(init: RequestInit | undefined): RequestInit {
  const headers = new Headers(init?.headers)
  headers.set('x-request-id', newRequestId())
  return { ...init, headers }
}

/** Makes a call of one request, and returns its result with the request. Anything but an abort is thrown as `RequestFailed`. */
export async function recorded<T>(call: (recording: typeof fetch) => Promise<T>): Promise<Read<T>> {
  let exchange: Exchange | undefined
  const recording = recordingFetch((one) => (exchange = one))
  try {
    return { body: await call(recording), exchange }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new RequestFailed(exchange?.problem ?? problemFrom(error), exchange, error)
  }
}

function problemOf(headers: Headers, body: ArrayBuffer): Problem | undefined {
  if (!headers.get('content-type')?.startsWith('application/problem+json')) return undefined
  try {
    const problem: Problem = JSON.parse(new TextDecoder().decode(body))
    return problem
  } catch {
    return undefined
  }
}

/** The problem to show for anything that was thrown. */
export function problemFrom(error: unknown): Problem {
  if (error instanceof RequestFailed) return error.problem
  const detail = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no_response'
  const title = isOffline() ? t.list.offline : t.app.noResponse
  return { status: 0, code, title, detail }
}

/** Failures that end by themselves: the rows that are shown are kept. */
export function isTemporary({ status, code }: Problem): boolean {
  return (status === 0 && code !== 'parameter_unknown') || status === 429 || status >= 500
}
