import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { vi } from 'vitest'
import { citusNodes } from './distributed-database.ts'
import type { TestResponse } from './service.ts'

const timeoutMs = 300_000

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
 * Process ids of the connections to this database that wait for a lock, all at the same moment. `pg_stat_activity` does
 * not guarantee that: it reads the wait event of each row separately, so it can show a connection whose wait has ended
 * beside the one that waits instead. Do not call it in a transaction, which would not see new connections.
 */
export async function waitingForLocks(client: pg.Client): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(waiting)
  return rows.map(({ pid }) => pid)
}

const waiting =
  citusNodes.length === 0
    ? `select distinct pid from pg_locks join pg_stat_activity using (pid)
     where not granted and datname = current_database()`
    : // On all nodes. The last ten digits are the process id on the node where the statement came from.
      'select distinct (waiting_gpid % 10000000000)::int as pid from citus_lock_waits'

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
