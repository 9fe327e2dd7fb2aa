import { setTimeout as sleep } from 'node:timers/promises'

/** Polls until the condition is true. How long that takes depends on the machine; `timeoutMs` only ends a check that hangs. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 300_000,
  what = 'the condition was not met',
): Promise<void> {
  const end = Date.now() + timeoutMs
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what} within ${timeoutMs / 1000} s`)
    await sleep(10)
  }
}
