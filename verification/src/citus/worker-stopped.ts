import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../check.ts'
import { Client } from '../client.ts'
import { waitUntil } from '../wait-until.ts'
import { accountsOnEach, type GrowingAccount } from './accounts.ts'
import { withCluster } from './on-citus.ts'

interface Answers {
  /** By status. */
  readonly statuses: Map<number, number>
  longestMs: number
}

/** One worker is killed: the accounts on the other one do not notice, and its own get 503 until it is back. */
export const workerStopped: Check = {
  name: 'worker_stopped',
  bound: '0 accounts elsewhere notice',
  run: (context) =>
    withCluster(context, async (cluster, service) => {
      const client = new Client(64)
      try {
        const accounts = await accountsOnEach(service, client, 2, 4, (name) => cluster.workerOf(name))
        const [stopped, running] = cluster.workers
        if (stopped === undefined || running === undefined) throw new Error('two workers are needed')
        const { port } = await service.serve()
        const affected = accounts.get(stopped.port) ?? []
        const others = accounts.get(running.port) ?? []
        for (const account of [...affected, ...others]) await account.create(port)
        await stopped.kill()
        const seconds = context.size(20, 5)
        const [own, elsewhere] = await Promise.all([
          load(affected, port, seconds),
          load(others, port, seconds),
        ])
        await cluster.startAgain(stopped)
        await waitUntil(async () => (await affected[0]?.list(port))?.status === 200)
        const noticed = [...elsewhere.statuses].filter(([status]) => status >= 400)
        const notUnavailable = [...own.statuses].filter(([status]) => status !== 503)
        return {
          value: `${noticed.length} statuses, longest ${Math.round(elsewhere.longestMs)} ms`,
          samples: Math.min(own.statuses.size, elsewhere.statuses.size),
          ok: noticed.length === 0 && notUnavailable.length === 0,
          note: `on the stopped worker ${text(own)}; elsewhere ${text(elsewhere)}`,
        }
      } finally {
        client.close()
      }
    }),
}

/** Lists and creates of all accounts at once. */
async function load(accounts: readonly GrowingAccount[], port: number, seconds: number): Promise<Answers> {
  const answers: Answers = { statuses: new Map(), longestMs: 0 }
  const until = Date.now() + seconds * 1000
  await Promise.all(
    accounts.map(async (account) => {
      for (let n = 0; Date.now() < until; n++) {
        const startedAt = performance.now()
        const { status } = await (n % 4 === 0 ? account.create(port) : account.list(port))
        answers.longestMs = Math.max(answers.longestMs, performance.now() - startedAt)
        answers.statuses.set(status, (answers.statuses.get(status) ?? 0) + 1)
        await sleep(20)
      }
    }),
  )
  return answers
}

function text({ statuses, longestMs }: Answers): string {
  const counts = [...statuses].map(([status, count]) => `${count} × ${status}`)
  return `${counts.join(', ')}, longest ${Math.round(longestMs)} ms`
}
