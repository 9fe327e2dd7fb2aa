import { limits } from '../../../server/src/limits/limits.ts'
import type { Stoppable } from '../check.ts'
import { Client } from '../client.ts'
import type { PostgresNode } from '../replication/postgres-node.ts'
import { PostgresNodes } from '../replication/postgres-nodes.ts'
import { Service } from '../service.ts'

/** A primary, a streaming replica, and server processes that use both. */
export interface ReplicaCluster extends Stoppable {
  readonly primary: PostgresNode
  readonly replica: PostgresNode
  readonly service: Service
  readonly client: Client
  /** The settings of server processes. */
  readonly environment: Readonly<Record<string, string>>
}

const settings = { max_connections: '200' }

export async function startReplicaCluster(): Promise<ReplicaCluster> {
  const nodes = new PostgresNodes()
  const client = new Client(128)
  const stopNodes = async () => {
    client.close()
    await nodes.stop()
  }
  try {
    const primary = await nodes.initialise('primary')
    const replica = await nodes.copyAsStandby(primary, 'replica')
    await primary.start(settings)
    await startReplica(replica)
    await replica.caughtUpWith(primary)
    const url = primary.url('postgres')
    const service = await Service.on({ url, folder: nodes.folder, stop: stopNodes })
    const environment = { DATABASE_REPLICA_URLS: replica.url('postgres') }
    return { primary, replica, service, client, environment, stop: () => service.stop() }
  } catch (error) {
    await stopNodes()
    throw error
  }
}

export async function startReplica(replica: PostgresNode): Promise<void> {
  await replica.start({ ...settings, hot_standby_feedback: 'on' })
}

/** Long reads by the server that ran them, and why, such as `list replica none`, summed over the processes. */
export async function readsByServer(adminPorts: readonly number[]): Promise<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>()
  for (const port of adminPorts) {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    for (const line of text.split('\n')) {
      const [, labels = '', value = '0'] =
        /^quartermaster_replica_reads_total\{([^}]*)\} (\d+)/.exec(line) ?? []
      if (labels === '') continue
      const label = (name: string) => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
      const key = `${label('operation')} ${label('server')} ${label('reason')}`
      sums.set(key, (sums.get(key) ?? 0) + Number(value))
    }
  }
  return sums
}

/** The fraction of long reads that replicas ran, and the number of reads. */
export function shareOfReplicas(reads: ReadonlyMap<string, number>): {
  share: number
  replica: number
  all: number
} {
  let [replica, all] = [0, 0]
  for (const [key, count] of reads) {
    all += count
    if (key.endsWith(' replica none')) replica += count
  }
  return { share: all === 0 ? 0 : replica / all, replica, all }
}

export function reasons(reads: ReadonlyMap<string, number>): string {
  return [...reads]
    .filter(([key, count]) => count > 0 && !key.endsWith(' none'))
    .map(([key, count]) => `${key.split(' ').slice(2).join(' ')} ${count}`)
    .join(', ')
}

/** Filters of an account with more records are long reads. */
export const fixedRecords = limits.smallAccountRecordsMax
