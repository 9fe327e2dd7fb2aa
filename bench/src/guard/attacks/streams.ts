import { setTimeout as sleep } from 'node:timers/promises'
import { resources } from '../../../../server/src/catalog/resources.ts'
import { products } from '../../load/fixture.ts'
import type { Attack, Target } from './attack.ts'
import { ask, flood, hold } from './requests.ts'

const fields = resources.product.fields.map(({ name }) => name)
const stream = { accept: 'text/event-stream' }

/** A different selection for each number, so that no two clients share a read. */
function fieldsOf(n: number): string {
  return fields.filter((_, bit) => (((n % 2_046) + 1) >> bit) % 2 === 1).join(',')
}

/** Two changes a second: each wakes every client that waits. */
async function write(target: Target, signal: AbortSignal): Promise<void> {
  for (let n = 0; !signal.aborted; n++) {
    await ask(target, target.attacker, {
      method: 'PATCH',
      path: `${products}/2`,
      headers: { 'content-type': 'application/json' },
      body: `{"list_price":${n}}`,
    })
    await sleep(500)
  }
}

export const streamAttacks: readonly Attack[] = [
  {
    name: 'streams',
    run: (target, signal) =>
      hold(target, signal, 300, (n) => ({
        path: `${products}/changes?limit=100&fields=${fieldsOf(n)}`,
        headers: stream,
      })),
  },
  {
    name: 'waiting_streams',
    run: async (target, signal) => {
      const waiting = hold(target, signal, 1_500, (n) => ({
        path: `${products}/changes?since=now&fields=${fieldsOf(n)}`,
        headers: stream,
      }))
      await Promise.all([waiting, write(target, signal)])
    },
  },
  {
    name: 'filtered_streams',
    run: async (target, signal) => {
      const waiting = hold(target, signal, 500, (n) => ({
        path: `${products}/changes?since=now&filter=${encodeURIComponent(`name!*x${n}`)}`,
        headers: stream,
      }))
      await Promise.all([waiting, write(target, signal)])
    },
  },
  {
    name: 'long_polls',
    run: async (target, signal) => {
      const polls = flood(target, signal, 500, (n) => ({
        path: `${products}/changes?since=now&wait=1&fields=${fieldsOf(n)}`,
      }))
      await Promise.all([polls, write(target, signal)])
    },
  },
  {
    name: 'slow_exports',
    run: (target, signal) =>
      hold(
        target,
        signal,
        50,
        (n) => ({
          path: `${products}?filter=${encodeURIComponent(`id!=${n}`)}`,
          headers: { accept: n % 2 === 0 ? 'text/csv' : 'application/x-ndjson' },
        }),
        { reads: false },
      ),
  },
]
