/**
 * Waits for SIGINT, SIGTERM or the first of `others`; returns the signal, if it was one. After that, a second signal
 * ends the process at once, because the handlers are removed.
 */
export async function untilSignal(...others: readonly Promise<void>[]): Promise<NodeJS.Signals | undefined> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  // A signal handler alone does not keep the event loop alive.
  const alive = setInterval(() => {}, 2 ** 30)
  process.on('SIGINT', resolve).on('SIGTERM', resolve)
  const signal = await Promise.race([promise, ...others.map((other) => other.then(() => undefined))])
  process.off('SIGINT', resolve).off('SIGTERM', resolve)
  clearInterval(alive)
  return signal
}
