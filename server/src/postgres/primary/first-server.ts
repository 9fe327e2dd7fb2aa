import pg from 'pg'
import { limits } from '../../limits/limits.ts'

export interface ServerAttempts<T> {
  /** The signal is aborted when another connection has been accepted. */
  open(url: string, signal: AbortSignal): Promise<T>
  /** Called with an open connection. Throws if the server is not acceptable, for example a standby. */
  accept(opened: T): void
  /** Called with a connection that was not accepted, or was opened after another one had been accepted. */
  discard(opened: T): void
}

/**
 * Connects to the servers one after the other, starting with the preferred one. Returns the first connection that is
 * accepted and the index of its server. If a server does not respond within `nextServerDelayMs`, the next one is tried as
 * well. Servers that failed are tried again as long as one has not responded: one of them may become the primary
 * meanwhile. Rejects when every server has failed.
 */
export function firstServer<T>(
  urls: readonly string[],
  preferred: number,
  attempts: ServerAttempts<T>,
): Promise<[T, number]> {
  const order = urls.map((_, i) => (preferred + i) % urls.length)
  const connecting = new Map<number, AbortController>()
  let tried = 0
  let isSettled = false
  let failure: unknown
  const { promise, resolve, reject } = Promise.withResolvers<[T, number]>()

  const start = (index: number) => {
    const controller = new AbortController()
    connecting.set(index, controller)
    attempts.open(urls[index] ?? '', controller.signal).then(
      (opened) => accept(opened, index),
      (error: unknown) => fail(error, index, error instanceof pg.DatabaseError),
    )
  }
  const startNext = () => {
    const index = order[tried++]
    if (index !== undefined) start(index)
  }
  const accept = (opened: T, index: number) => {
    if (isSettled) return attempts.discard(opened)
    try {
      attempts.accept(opened)
    } catch (error) {
      attempts.discard(opened)
      return fail(error, index, true)
    }
    connecting.delete(index)
    settle()
    resolve([opened, index])
  }
  const fail = (error: unknown, index: number, hasResponded: boolean) => {
    connecting.delete(index)
    // An error from a server that responded ("is a standby") is reported rather than one from an unreachable server.
    if (failure === undefined || hasResponded) failure = error
    if (isSettled) return
    if (tried < order.length) return startNext()
    if (connecting.size > 0) return
    settle()
    reject(failure)
  }
  const settle = () => {
    isSettled = true
    clearInterval(timer)
    for (const controller of connecting.values()) controller.abort()
  }
  const timer = setInterval(() => {
    if (tried < order.length) startNext()
    else for (const index of order) if (!connecting.has(index)) start(index)
  }, limits.nextServerDelayMs)
  startNext()
  return promise
}
