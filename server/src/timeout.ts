/**
 * Resolves or rejects as `running` does. If that takes longer than `ms`, rejects with the error that `onTimeout` returns;
 * `running` is not cancelled. `ms` is negative if a deadline has passed.
 */
export async function withTimeout<T>(ms: number, running: Promise<T>, onTimeout: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    // If the process was paused, the result may already be in the socket's buffer. The event loop reads sockets before it
    // runs setImmediate callbacks, so such a result still counts as in time.
    timer = setTimeout(() => setImmediate(() => reject(onTimeout())), Math.max(ms, 0))
  })
  try {
    return await Promise.race([running, timeout])
  } finally {
    clearTimeout(timer)
  }
}

/** Waits until the promise is settled, at most `ms`. Its result does not matter. */
export async function withinTime(ms: number, promise: Promise<unknown>): Promise<void> {
  await withTimeout(ms, promise, () => new Error('It takes longer.')).catch(() => {})
}
