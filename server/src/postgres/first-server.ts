import pg from 'pg'
import { limits } from '../limits.ts'

/** How a connection to one of several servers is opened, and closed when it is not the one that is used. */
export interface ServerAttempts<T> {
  open(url: string): Promise<T>
  /** Called for the connection that would be used. Throws if this server will not do. */
  accept(opened: T): void
  /** Called for one that was not accepted, or was opened after another one had been. */
  discard(opened: T): void
}

/**
 * Tries servers in turn, from the preferred one on, and returns the first connection that is accepted, with the place of its
 * server. A server that does not answer does not keep the others from being tried, again and again while it is awaited: one
 * of them may become the primary in the meantime. Fails when every server has failed.
 */
export function firstServer<T>(
  urls: readonly string[],
  preferred: number,
  attempts: ServerAttempts<T>,
): Promise<[T, number]> {
  const places = urls.map((_, i) => (preferred + i) % urls.length)
  const awaited = new Set<number>()
  let tried = 0
  let isOver = false
  let failure: unknown
  const { promise, resolve, reject } = Promise.withResolvers<[T, number]>()

  const start = (place: number) => {
    awaited.add(place)
    attempts.open(urls[place] ?? '').then(
      (opened) => accept(opened, place),
      (error: unknown) => fail(error, place, error instanceof pg.DatabaseError),
    )
  }
  const startNext = () => {
    const place = places[tried++]
    if (place !== undefined) start(place)
  }
  const accept = (opened: T, place: number) => {
    if (isOver) return attempts.discard(opened)
    try {
      attempts.accept(opened)
    } catch (error) {
      attempts.discard(opened)
      return fail(error, place, true)
    }
    end()
    resolve([opened, place])
  }
  const fail = (error: unknown, place: number, hasAnswered: boolean) => {
    awaited.delete(place)
    // A server that cannot be reached says less than one that answers, if only that it is a standby.
    if (failure === undefined || hasAnswered) failure = error
    if (isOver) return
    if (tried < places.length) return startNext()
    if (awaited.size > 0) return
    end()
    reject(failure)
  }
  const end = () => {
    isOver = true
    clearInterval(timer)
  }
  const timer = setInterval(() => {
    if (tried < places.length) startNext()
    else for (const place of places) if (!awaited.has(place)) start(place)
  }, limits.nextServerDelayMs)
  startNext()
  return promise
}
