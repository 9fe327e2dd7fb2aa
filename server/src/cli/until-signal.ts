/**
 * Waits for Ctrl-C, SIGTERM, or whatever else may end the command first. A second signal ends the process at once, as
 * if nobody had listened.
 */
export async function untilSignal(...others: readonly Promise<void>[]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  // Listening to signals alone does not keep the event loop alive.
  const alive = setInterval(() => {}, 2 ** 30)
  process.on('SIGINT', resolve).on('SIGTERM', resolve)
  await Promise.race([promise, ...others])
  process.off('SIGINT', resolve).off('SIGTERM', resolve)
  clearInterval(alive)
}
