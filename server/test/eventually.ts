import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { vi } from 'vitest'
import type { TestResponse } from './service.ts'

const timeoutMs = 120_000

/** Polls until the condition holds. The timeout is long because CI machines are busy. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const until = Date.now() + timeoutMs
  while (!(await condition())) {
    if (Date.now() > until) throw new Error(`The condition did not hold within ${timeoutMs / 1000} s.`)
    await sleep(20)
  }
}

/** Repeats the assertions until they pass. */
export function passes(assertions: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(assertions, { timeout: timeoutMs, interval: 20 })
}

/**
 * Process ids of the connections to this database that wait for a lock. Do not call it in a transaction: PostgreSQL
 * returns the same `pg_stat_activity` snapshot until the transaction ends.
 */
export async function waitingForLocks(client: pg.Client): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows.map(({ pid }) => pid)
}

/** Sends a request again while a busy machine makes the service shed load: then it has done nothing. */
export async function unlessShed(send: () => Promise<TestResponse>): Promise<TestResponse> {
  let response = await send()
  await eventually(async () => {
    if (response.status !== 503 || !JSON.stringify(response.body).includes('"overloaded"')) return true
    response = await send()
    return false
  })
  return response
}
