import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A load that a separate process sends, so that it does not share an event loop with the benchmark. */
export interface Load {
  readonly ports: readonly number[]
  /** Requests per second, sent without waiting for earlier responses. 0: each connection sends the next request after a response. */
  readonly rate: number
  readonly seconds: number
  readonly connectionsMax: number
  /** Connections that are opened before the first request, as by a proxy: Node accepts one connection per iteration of its event loop. */
  readonly connectionsReady?: number
  /** Sent in rotation. */
  readonly requests: readonly LoadRequest[]
  /** The first value of `{n}`. */
  readonly start?: number
}

/** A GET, or with a body a POST. `{n}` is replaced by the number of the request, so that none is repeated. */
export interface LoadRequest {
  readonly host: string
  readonly key: string
  readonly path: string
  readonly body?: string
  readonly idempotencyKey?: string
}

export interface StatusSummary {
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export interface LoadResult {
  readonly seconds: number
  readonly sent: number
  /** Requests that were due while all connections were in use. */
  readonly unsent: number
  /** Requests without a response. */
  readonly broken: number
  readonly byStatus: Readonly<Record<string, StatusSummary>>
  /** Responses by status that arrived within `seconds`, for rates. */
  readonly inTime: Readonly<Record<string, number>>
}

const program = fileURLToPath(new URL('load-process.ts', import.meta.url))

export async function runLoad(load: Load): Promise<LoadResult> {
  const child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ended = once(child, 'exit')
  child.send(load)
  const [result]: LoadResult[] = await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`the load process exited with ${code}`))),
  ])
  await ended
  if (result === undefined) throw new Error('the load process sent no result')
  return result
}

export const none: StatusSummary = { count: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 }

export function withStatus({ byStatus }: LoadResult, status: number): StatusSummary {
  return byStatus[String(status)] ?? none
}

/** Counts of all but the expected statuses, as text: `503: 12, broken: 1`. */
export function otherStatuses(result: LoadResult, ...expected: readonly number[]): string {
  const statuses = Object.entries(result.byStatus)
    .filter(([status]) => !expected.includes(Number(status)))
    .map(([status, { count }]) => `${status}: ${count}`)
  if (result.broken > 0) statuses.push(`broken: ${result.broken}`)
  if (result.unsent > 0) statuses.push(`unsent: ${result.unsent}`)
  return statuses.join(', ')
}
