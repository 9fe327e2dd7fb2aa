import { withClient } from '../../../server/src/postgres/client.ts'
import { feedAccount, feedCopyOn } from '../changes/feed-copy.ts'
import { Client } from '../client.ts'
import type { PostgresNode } from '../replication/postgres-node.ts'
import { waitUntil } from '../wait-until.ts'
import { CitusCluster } from './cluster.ts'
import { distributed } from './on-citus.ts'

/** The copy by the change feed, of an account on a worker that fails over. */
export const citusFeedCopy = feedCopyOn('citus_feed_copy', async () => {
  const cluster = await CitusCluster.start()
  const service = await distributed(cluster).catch(async (error: unknown) => {
    await cluster.stop()
    throw error
  })
  const client = new Client(400)
  let failovers = 0
  return {
    service,
    client,
    key: await service.account(feedAccount),
    tableUrl: cluster.url,
    async failOver() {
      if ((await cluster.records()) === 0) throw new Error('the records are not on the workers')
      failovers += 1
      await failOver(cluster, `standby${failovers}`)
    },
    async stop() {
      client.close()
      await service.stop()
    },
  }
})

/** A standby that has every acknowledged write replaces the worker of the account. */
async function failOver(cluster: CitusCluster, name: string): Promise<void> {
  const worker = await cluster.workerOf(feedAccount)
  const standby = await cluster.nodes.baseBackup(worker, name, { standby: true })
  await cluster.startAgain(standby)
  await synchronous(worker)
  await standby.caughtUpWith(worker)
  await cluster.replaceWorker(worker, standby)
}

async function synchronous(worker: PostgresNode): Promise<void> {
  await withClient(worker.url('postgres'), async (client) => {
    await client.query(`alter system set synchronous_standby_names = '*'`)
    await client.query('select pg_reload_conf()')
    await waitUntil(async () => {
      const { rows } = await client.query<{ state: string }>(
        'select sync_state as state from pg_stat_replication',
      )
      return rows.some(({ state }) => state === 'sync')
    })
  })
}
