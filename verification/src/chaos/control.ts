import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../check.ts'
import { Random } from '../random.ts'
import type { Cluster } from './cluster/cluster.ts'
import { cutReplication } from './faults/network.ts'
import { onCluster, runFaults } from './fixture.ts'

/** How long the primary acknowledges what no standby receives. */
const aheadMs = [2_000, 4_000] as const

/** With asynchronous replication a failover loses writes. If the checker did not see that, its zero would mean nothing. */
export const asyncControl = onCluster({
  name: 'chaos_async_control',
  bound: '> 0 lost',
  async run(context, cluster) {
    await cluster.settled()
    await configure(cluster, false)
    try {
      const { ledger } = await runFaults(context, cluster, 'control', (load) =>
        loseWrites(context, cluster, load),
      )
      return {
        value: `${ledger.lost} lost of ${ledger.acknowledged}`,
        samples: ledger.acknowledged,
        ok: ledger.lost > 0,
        note: ledger.findings.slice(0, 3).join('\n'),
      }
    } finally {
      await configure(cluster, true)
    }
  },
})

async function configure(cluster: Cluster, synchronous: boolean): Promise<void> {
  const primary = await cluster.primary()
  await primary.api.configure({ synchronous_mode: synchronous, maximum_lag_on_failover: 64 * 1024 * 1024 })
}

async function loseWrites(
  context: Context,
  cluster: Cluster,
  load: { writesAgain(since: number): Promise<number> },
) {
  await cluster.settled(false)
  // Patroni removes the synchronous standby only after its next loop.
  await cluster.asynchronous()
  const primary = await cluster.primary()
  const beganAt = Date.now()
  const heal = cutReplication(cluster, primary.name)
  await sleep(new Random(context.seed, 97).integer(...aheadMs))
  await primary.killDatabase()
  const backAt = await load.writesAgain(Date.now())
  // Not before: the kernel still has what PostgreSQL has sent, and would deliver it to the standby.
  heal()
  primary.start()
  const happened = {
    name: 'primary lost with writes',
    beganAt,
    endedAt: backAt,
    settledAt: backAt,
    backMs: 0,
    gapMs: 0,
  }
  return [happened]
}
