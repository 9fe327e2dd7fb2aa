import type { Event } from '../load/messages.ts'
import { isAnswered, isFailed } from './statistics.ts'

const bucketMs = 500
/** A bucket with fewer requests says nothing. */
const requestsMin = 4

export interface WrongReadiness {
  /** The longest time in which `/readyz` was 200 while over half of the requests failed. */
  readyMs: number
  /** The longest time in which it was not 200 while over half of the requests were served. */
  unreadyMs: number
  when: string
}

interface Bucket {
  ready?: boolean
  failed: number
  answered: number
}

/** Compares `/readyz` of each server with the requests that were sent to it at the same time. */
export function wrongReadiness(events: readonly Event[]): WrongReadiness {
  const result: WrongReadiness = { readyMs: 0, unreadyMs: 0, when: '' }
  for (const server of new Set(events.map((event) => event.server))) {
    const buckets = bucketsOf(events.filter((event) => event.server === server))
    const readyMs = longestSpan(buckets, ({ ready, failed, answered }) => ready === true && failed > answered)
    const unreadyMs = longestSpan(
      buckets,
      ({ ready, failed, answered }) => ready === false && answered > failed,
    )
    if (readyMs.ms > result.readyMs || unreadyMs.ms > result.unreadyMs)
      result.when = [readyMs, unreadyMs]
        .map(({ at }) => new Date(at).toISOString().slice(11, 19))
        .join(' and ')
    result.readyMs = Math.max(result.readyMs, readyMs.ms)
    result.unreadyMs = Math.max(result.unreadyMs, unreadyMs.ms)
  }
  return result
}

function bucketsOf(events: readonly Event[]): Map<number, Bucket> {
  const buckets = new Map<number, Bucket>()
  for (const event of events) {
    const at = Math.floor(event.at / bucketMs)
    const bucket = buckets.get(at) ?? { failed: 0, answered: 0 }
    buckets.set(at, bucket)
    if (event.kind === 'ready') bucket.ready = event.status === 200
    else if (isFailed(event)) bucket.failed += 1
    else if (isAnswered(event)) bucket.answered += 1
  }
  return buckets
}

function longestSpan(
  buckets: Map<number, Bucket>,
  isWrong: (bucket: Bucket) => boolean,
): { ms: number; at: number } {
  let longest = { ms: 0, at: 0 }
  let since: number | undefined
  for (const [at, bucket] of [...buckets].toSorted(([a], [b]) => a - b)) {
    if (bucket.ready === undefined || bucket.failed + bucket.answered < requestsMin) continue
    if (!isWrong(bucket)) since = undefined
    else {
      since ??= at
      const ms = (at - since + 1) * bucketMs
      if (ms > longest.ms) longest = { ms, at: since * bucketMs }
    }
  }
  return longest
}
