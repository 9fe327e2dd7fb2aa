import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import type { Check, Context, Stoppable } from '../check.ts'
import { Checker, type Watched } from '../fresh/checker.ts'
import { ledger, serveBroken } from '../fresh/fixture.ts'
import type { Ledger } from '../fresh/oracle.ts'
import { longRead } from '../fresh/readers.ts'
import { write } from '../fresh/writers.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import {
  fixedRecords,
  type ReplicaCluster,
  readsByServer,
  reasons,
  shareOfReplicas,
  startReplicaCluster,
} from './replica-cluster.ts'
import { ReplicaFaults } from './replica-faults.ts'

const readers = 24
const writersPerAccount = 2
const processes = 2

/**
 * Long reads from a replica that lags, is paused and is killed contain all writes that were acknowledged before the request was
 * sent, and come from one version. The same without the comparison of the tallies must show stale responses.
 */
export const replicaReads: Check = {
  name: 'replica_reads',
  bound: '= 0 stale, 0 torn; ≥ 1 stale if broken',
  async run(context) {
    const broken = await watch(context, context.size(20_000, 5_000), true)
    const { checker, writes, reads, faults } = await watch(context, context.size(100_000, 2_000), false)
    const { share, replica, all } = shareOfReplicas(reads)
    const { checked, stale, torn } = checker
    return {
      value:
        `${stale} stale, ${torn} torn of ${grouped(checked)}; replica ${Math.round(share * 100)} % of ${grouped(all)} reads; ` +
        `broken: ${broken.checker.stale} stale of ${grouped(broken.checker.checked)}`,
      samples: Math.min(checked, replica, writes, faults),
      ok: stale + torn === 0 && broken.checker.stale > 0 && replica > checked / 20,
      note: [
        `${checker.summary()}, ${grouped(writes)} writes, ${faults} faults; read from the primary: ${reasons(reads)}`,
        ...checker.faults,
        `broken: ${broken.checker.faults[0] ?? 'no fault was found'}`,
      ].join('\n'),
    }
  },
}

interface Watch {
  readonly checker: Checker
  readonly writes: number
  readonly reads: ReadonlyMap<string, number>
  readonly faults: number
}

async function watch(context: Context, responses: number, isBroken: boolean): Promise<Watch> {
  context.log(
    `starting a primary, a replica and ${processes} servers${isBroken ? ' without comparison' : ''}`,
  )
  const cluster = await startReplicaCluster()
  const children: Stoppable[] = []
  try {
    const { service, environment } = cluster
    const random = new Random(context.seed, 50)
    const accounts = [
      await ledger(service, 'busy', [20, 150], random, fixedRecords),
      await ledger(service, 'calm', [500, 2_000], random, fixedRecords),
      await ledger(service, 'still', [1_000, 5_000], random, fixedRecords),
    ]
    await cluster.replica.caughtUpWith(cluster.primary)
    const ports: number[] = []
    const adminPorts: number[] = []
    for (let n = 0; n < processes; n++) {
      const adminPort = await freePort()
      const settings = { ...environment, QUARTERMASTER_ADMIN_PORT: String(adminPort) }
      if (isBroken) {
        const child = await serveBroken(service, 'replica', settings)
        children.push(child)
        ports.push(child.port)
      } else ports.push((await service.serve(settings)).port)
      adminPorts.push(adminPort)
    }
    return await readAndWrite(context, { ...cluster, accounts, ports, adminPorts, isBroken }, responses)
  } finally {
    await Promise.all(children.map((child) => child.stop()))
    await cluster.stop()
  }
}

interface Running extends ReplicaCluster {
  readonly accounts: readonly Watched<Ledger>[]
  readonly ports: readonly number[]
  readonly adminPorts: readonly number[]
  readonly isBroken: boolean
}

async function readAndWrite(
  context: Context,
  { client, ports, adminPorts, primary, replica, accounts, isBroken }: Running,
  responses: number,
): Promise<Watch> {
  const checker = new Checker(client, ports)
  const progress = context.progress('checked responses', responses)
  const faults = new ReplicaFaults(replica, new Random(context.seed, 51))
  let failed = false
  let writes = 0
  // The broken service has shown enough with its first stale response.
  const isOver = () =>
    failed ||
    (isBroken && checker.stale > 0) ||
    (checker.checked >= responses && (isBroken || faults.hasCausedAll))
  const reading = async (reader: number) => {
    const random = new Random(context.seed, 52, reader)
    while (!isOver()) {
      const account = random.pick(accounts)
      await checker.check(account, longRead(account.oracle, random), random)
      progress.step()
    }
  }
  const writing = async (account: Watched, writer: number) => {
    const random = new Random(context.seed, 53, writer)
    const ownerUrl = primary.url('postgres')
    const onWrite = () => (writes += 1)
    await write(account, { client, ports, ownerUrl, checker, random, writer, isOver, onWrite })
  }
  const tasks = [
    ...Array.from({ length: readers }, (_, reader) => reading(reader)),
    ...accounts
      .flatMap((account) => Array.from({ length: writersPerAccount }, () => account))
      .map((account, writer) => writing(account, writer)),
  ]
  // The first failure ends all tasks, and is thrown when the others have ended.
  for (const task of tasks) task.catch(() => (failed = true))
  const ends = await Promise.allSettled(tasks)
  progress.end()
  await faults.end()
  for (const end of ends) if (end.status === 'rejected') throw end.reason
  return { checker, writes, reads: await readsByServer(adminPorts), faults: faults.count }
}
