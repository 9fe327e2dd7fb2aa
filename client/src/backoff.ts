import { limits } from './limits.ts'

/**
 * How long to wait before a retry: Retry-After, plus a random time up to a bound that doubles with every attempt
 * (exponential backoff with full jitter), so that clients which failed together do not retry together.
 */
export function backoffMs(attempts: number, retryAfterMs = 0): number {
  const bound = Math.min(limits.backoffMsMax, limits.backoffFirstMs * 2 ** (attempts - 1))
  return retryAfterMs + Math.random() * bound
}

/** `Retry-After` in milliseconds: seconds, or a date. */
export function retryAfterOf(header: string | null): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** Waits. Rejects with the signal's reason if it is aborted first. */
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
