/**
 * Waits for Ctrl-C, SIGTERM, or whatever else may end the command first; returns the signal, if it was one. A second
 * signal ends the process at once, as if nobody had listened.
 */
export async function untilSignal(...others: readonly Promise<void>[]): Promise<NodeJS.Signals | undefined> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  // Listening to signals alone does not keep the event loop alive.
  const alive = setInterval(() => {}, 2 ** 30)
  process.on('SIGINT', resolve).on('SIGTERM', resolve)
  const signal = await Promise.race([promise, ...others.map((one) => one.then(() => undefined))])
  process.off('SIGINT', resolve).off('SIGTERM', resolve)
  clearInterval(alive)
  return signal
}
