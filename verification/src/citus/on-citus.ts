import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Check, Context } from '../check.ts'
import { Service, type StartDatabase, withDatabases } from '../service.ts'
import { CitusCluster } from './cluster.ts'

/** A check of another suite, whose services run on a cluster with distributed tables, with this share of its full size. */
export function onCitus(check: Check, share = 1): Check {
  return {
    name: `citus_${check.name}`,
    bound: check.bound,
    run(context) {
      const size = (full: number, small: number) => (context.quick ? small : Math.max(small, full * share))
      // Another object, because fixtures that checks share are found by their context.
      return withDatabases(startCluster, () => check.run({ ...context, size }))
    },
  }
}

const startCluster: StartDatabase = async (settings) => {
  const cluster = await CitusCluster.start(settings)
  try {
    // Checks prepare the database after the migrations, so the tables must be distributed by then.
    const service = await distributed(cluster)
    // Where checks read the statements of a temporary server.
    symlinkSync(cluster.coordinator.log, join(cluster.nodes.folder, 'log'))
    return { url: cluster.url, folder: cluster.nodes.folder, stop: () => service.stop() }
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

/** A service on the cluster, migrated and distributed. It stops the cluster with itself. */
export async function distributed(cluster: CitusCluster): Promise<Service> {
  const service = await Service.on({
    url: cluster.url,
    folder: cluster.nodes.folder,
    stop: () => cluster.stop(),
  })
  await service.command(['distribute', '--shards', '16'])
  return service
}

export async function withCluster<T>(
  _context: Context,
  work: (cluster: CitusCluster, service: Service) => Promise<T>,
): Promise<T> {
  const cluster = await CitusCluster.start()
  const service = await distributed(cluster).catch(async (error: unknown) => {
    await cluster.stop()
    throw error
  })
  try {
    return await work(cluster, service)
  } finally {
    await service.stop()
  }
}
