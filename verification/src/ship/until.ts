import { setTimeout as sleep } from 'node:timers/promises'

const conditionMsMax = 120_000

/** Waits for a condition. How long that takes depends on the machine; the limit only ends a check that hangs. */
export async function until(condition: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + conditionMsMax
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within ${conditionMsMax / 1000} s: ${String(condition)}`)
    await sleep(20)
  }
}

/** Whether the service on this port of the machine accepts requests. */
export async function isReady(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`)
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}
