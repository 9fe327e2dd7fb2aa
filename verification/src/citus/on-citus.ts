import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Check, Context } from '../check.ts'
import { Service, type StartDatabase, withDatabases } from '../service.ts'
import { CitusCluster } from './cluster.ts'

/**
 * A check of another suite, whose services run on a cluster with distributed tables, with this share of its full size. It fails if
 * its records are not on such a cluster: a check that starts a database of its own would show nothing about Citus.
 */
export function onCitus(check: Check, share = 1): Check {
  return {
    name: `citus_${check.name}`,
    bound: check.bound,
    async run(context) {
      const clusters = new Clusters()
      const size = (full: number, small: number) => (context.quick ? small : Math.max(small, full * share))
      // Another object, because fixtures that checks share are found by their context.
      const outcome = await withDatabases(
        (settings) => clusters.start(settings),
        () => check.run({ ...context, size }),
      )
      const records = await clusters.records()
      return { ...outcome, samples: Math.min(outcome.samples, records) }
    },
  }
}

/** The clusters of a check, which may stop them before it ends. */
class Clusters {
  readonly #running = new Set<CitusCluster>()
  #recordsOfStopped = 0

  /** The records on all of them. */
  async records(): Promise<number> {
    let sum = this.#recordsOfStopped
    for (const cluster of this.#running) sum += await cluster.records()
    return sum
  }

  async start(settings: Record<string, string>): ReturnType<StartDatabase> {
    const cluster = await CitusCluster.start(settings)
    try {
      // Checks prepare the database after the migrations, so the tables must be distributed by then.
      const service = await distributed(cluster)
      // Where checks read the statements of a temporary server.
      symlinkSync(cluster.coordinator.log, join(cluster.nodes.folder, 'log'))
      this.#running.add(cluster)
      const stop = async () => {
        if (this.#running.delete(cluster)) this.#recordsOfStopped += await cluster.records()
        await service.stop()
      }
      return { url: cluster.url, folder: cluster.nodes.folder, stop }
    } catch (error) {
      await cluster.stop()
      throw error
    }
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
  await cluster.records()
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
