import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** What a process of its own sends, so that its work does not delay what is measured, nor the other way round. */
export interface Load {
  readonly ports: readonly number[]
  /** Requests a second, sent when they are due whether or not others were answered; 0: as fast as answers come. */
  readonly rate: number
  readonly seconds: number
  readonly connectionsMax: number
  /** Opened before the first request, as a proxy in front has them: Node takes one new connection in a turn of its loop. */
  readonly connectionsReady?: number
  /** Sent in turn. */
  readonly requests: readonly LoadRequest[]
  /** Where `{n}` begins. */
  readonly start?: number
}

/** A GET, or with a body a POST. `{n}` in the texts is the number of the request, so that none comes twice. */
export interface LoadRequest {
  readonly host: string
  readonly key: string
  readonly path: string
  readonly body?: string
  readonly idempotencyKey?: string
}

export interface Answered {
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export interface LoadResult {
  readonly seconds: number
  readonly sent: number
  /** Due, but every connection was taken. */
  readonly unsent: number
  /** Connections that ended without an answer. */
  readonly broken: number
  readonly byStatus: Readonly<Record<string, Answered>>
  /** Answers that came before the time was up: what rates are made of. */
  readonly inTime: Readonly<Record<string, number>>
}

const program = fileURLToPath(new URL('load-process.ts', import.meta.url))

export async function runLoad(load: Load): Promise<LoadResult> {
  const child = fork(program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const ended = once(child, 'exit')
  child.send(load)
  const [result]: LoadResult[] = await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`the load ended with ${code}`))),
  ])
  await ended
  if (result === undefined) throw new Error('the load gave no result')
  return result
}

export const none: Answered = { count: 0, p50Ms: 0, p99Ms: 0, maxMs: 0 }

export function answered({ byStatus }: LoadResult, status: number): Answered {
  return byStatus[String(status)] ?? none
}

/** All but what is expected, for a sentence: `503: 12, broken: 1`. */
export function others(result: LoadResult, ...expected: readonly number[]): string {
  const statuses = Object.entries(result.byStatus)
    .filter(([status]) => !expected.includes(Number(status)))
    .map(([status, { count }]) => `${status}: ${count}`)
  if (result.broken > 0) statuses.push(`broken: ${result.broken}`)
  if (result.unsent > 0) statuses.push(`unsent: ${result.unsent}`)
  return statuses.join(', ')
}
