import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { finished } from 'node:stream/promises'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context } from '../check.ts'
import { headersFor } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import type { PostgresNode } from '../replication/postgres-node.ts'
import { waitUntil } from '../wait-until.ts'
import {
  type ReplicaCluster,
  readsByServer,
  reasons,
  shareOfReplicas,
  startReplicaCluster,
} from './replica-cluster.ts'

const account = 'large'
const concurrentReaders = 2
const shareMin = 0.95
const primaryCpuMax = 0.2
/** On a busy machine the check takes longer, and the background processes of the primary use more CPU meanwhile. */
const primaryCpuMaxQuick = 0.5

/** Long reads and exports with a replica cost the primary little CPU: only the verification of the key. */
export const replicaLoad: Check = {
  name: 'replica_load',
  bound: `≥ ${shareMin * 100} % of reads, ≤ ${primaryCpuMax * 100} % of the primary's CPU (quick: ${primaryCpuMaxQuick * 100} %)`,
  async run(context) {
    const cluster = await startReplicaCluster()
    try {
      return await measure(context, cluster)
    } finally {
      await cluster.stop()
    }
  },
}

async function measure(context: Context, cluster: ReplicaCluster) {
  const { service, environment, primary, replica } = cluster
  const records = context.size(100_000, 20_000)
  const key = await service.account(account)
  const file = `${service.folder}/products.ndjson`
  await writeProducts(file, records)
  await service.command(['import', 'product', file, '--account', account])
  // Statistics and visibility maps: otherwise autovacuum would run in one of the two measurements.
  await withClient(primary.url('postgres'), (client) => client.query('vacuum analyze'))
  await replica.caughtUpWith(primary)
  const adminPort = await freePort()
  const alone = await service.serve()
  const shared = await service.serve({ ...environment, QUARTERMASTER_ADMIN_PORT: String(adminPort) })
  await untilReplicaIsUsed(adminPort)
  const reads = context.size(200, 40)
  const load = (port: number) => cpuWhile(primary, () => readLists(context, cluster, { port, key, reads }))
  // One run each warms caches and connections.
  await load(alone.port)
  await load(shared.port)
  const before = await load(alone.port)
  const after = await load(shared.port)
  const counts = await readsByServer([adminPort])
  const { share, all } = shareOfReplicas(counts)
  const fraction = after / before
  return {
    value: `${(share * 100).toFixed(1)} % of ${grouped(all)} reads; CPU of the primary ${before.toFixed(2)} s → ${after.toFixed(2)} s (${Math.round(fraction * 100)} %)`,
    samples: all,
    ok: share >= shareMin && fraction <= context.size(primaryCpuMax, primaryCpuMaxQuick),
    note: `${grouped(reads)} lists and exports of ${grouped(records)} products each; read from the primary: ${reasons(counts) || 'none'}`,
  }
}

async function writeProducts(file: string, records: number): Promise<void> {
  const output = createWriteStream(file)
  for (let id = 1; id <= records; id++) {
    const line = JSON.stringify({ id, name: `Product ${id}`, list_price: id % 1_000, qty_available: id % 7 })
    if (!output.write(`${line}\n`)) await once(output, 'drain')
  }
  output.end()
  await finished(output)
}

async function untilReplicaIsUsed(adminPort: number): Promise<void> {
  await waitUntil(async () => {
    const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
    return /^quartermaster_replicas_available(?:\{[^}]*\})? 1$/m.test(text)
  })
}

interface Load {
  readonly port: number
  readonly key: string
  readonly reads: number
}

/** Every list has a filter of its own, so that none is cached. Every twentieth read is an export. */
async function readLists(
  context: Context,
  { client }: ReplicaCluster,
  { port, key, reads }: Load,
): Promise<void> {
  runs += 1
  const run = runs
  await inParallel(reads, concurrentReaders, async (index) => {
    const isExport = index % 20 === 19
    const filter = `list_price>=${index % 500}&name!=${context.seed}-${run}-${index}`
    const headers = headersFor(account, key)
    const { status, text } = await client.sendUntilAccepted({
      port,
      path: `/api/v1/inventory/product?${isExport ? '' : 'limit=10&'}filter=${encodeURIComponent(filter)}`,
      headers: isExport ? [...headers, 'Accept', 'application/x-ndjson'] : headers,
    })
    if (status !== 200) throw new Error(`${status} ${text.slice(0, 300)}`)
  })
}

let runs = 0

/** Seconds of CPU that all processes of the server used meanwhile. */
async function cpuWhile(node: PostgresNode, work: () => Promise<void>): Promise<number> {
  const before = node.cpuSeconds()
  await work()
  return node.cpuSeconds() - before
}
