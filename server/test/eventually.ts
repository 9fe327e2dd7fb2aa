import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

const patienceMs = 120_000

/** Waits until it is so. A machine that is busy with other things takes its time; what never comes about throws. */
export async function eventually(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const until = Date.now() + patienceMs
  while (!(await isSo())) {
    if (Date.now() > until) throw new Error(`it did not come about within ${patienceMs / 1000} s`)
    await sleep(20)
  }
}

/** Connections to this database that wait for a lock. Ask outside of a transaction, which sees the same ones again. */
export async function waitingForLocks(client: pg.Client): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )
  return rows.map(({ pid }) => pid)
}
