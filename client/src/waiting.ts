import { limits } from './limits.ts'

/**
 * How long to wait before another try: at random up to a bound that doubles, so that clients which failed together do
 * not come back together; what the service asked for comes before that.
 */
export function waitMs(triesSoFar: number, retryAfterMs = 0): number {
  const bound = Math.min(limits.waitMsMax, limits.firstWaitMs * 2 ** (triesSoFar - 1))
  return retryAfterMs + Math.random() * bound
}

/** `Retry-After` in milliseconds: seconds, or a date. */
export function retryAfterOf(header: string | null): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** Waits, unless the caller gives up first. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
