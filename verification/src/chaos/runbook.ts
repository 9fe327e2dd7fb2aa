import { execFile } from 'node:child_process'
import { delimiter } from 'node:path'
import { promisify } from 'node:util'
import { documented } from '../../../architecture/documented.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import { expectOutput } from '../ship/operator/shell.ts'
import { waitUntil } from '../wait-until.ts'
import { type Cluster, ownerLogin } from './cluster/cluster.ts'
import type { ClusterNode } from './cluster/node.ts'
import { passwords } from './cluster/patroni.ts'
import { onCluster } from './fixture.ts'

const exec = promisify(execFile)

/** Runs every command of docs/operating/patroni.md on the cluster. */
export const runbook = onCluster({
  name: 'chaos_runbook',
  bound: 'every block works',
  async run(_, cluster) {
    await cluster.settled()
    const operator = new Operator(cluster)
    await lookAtCluster(cluster, operator)
    await runDoctor(cluster)
    await planWork(cluster, operator)
    await repairNodes(cluster, operator)
    return { value: `${operator.blocks} blocks`, samples: operator.blocks, ok: true }
  },
})

class Operator {
  blocks = 0
  readonly #cluster: Cluster

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  /** Runs a block on the first node. The addresses and the path of the configuration differ from the document. */
  async sh(block: string, variables: Record<string, string> = {}): Promise<string> {
    this.blocks += 1
    const { folder, nodes } = this.#cluster
    let text = block.replaceAll('/etc/patroni/config.yml', nodes[0]?.config ?? '')
    for (const [at, { namespace }] of nodes.entries())
      text = text.replaceAll(`10.0.0.${11 + at}`, namespace.address)
    const env = {
      ...process.env,
      COLUMNS: '200',
      PATH: `${folder}${delimiter}${process.env['PATH']}`,
      ...variables,
    }
    const { stdout, stderr } = await exec('bash', ['-c', `set -euo pipefail\n${text}`], { env })
    return `${stdout}${stderr}`
  }

  async sql(block: string, node: ClusterNode): Promise<object[]> {
    this.blocks += 1
    const url = node.url('postgres', passwords.superuser, 'quartermaster')
    return await withClient(url, async (client) => (await client.query<object>(block)).rows)
  }
}

async function lookAtCluster(cluster: Cluster, operator: Operator): Promise<void> {
  const listed = await operator.sh(documented('patroni-list'))
  expectOutput(
    listed,
    /Leader +\| running/,
    /Sync Standby +\| streaming/,
    /synchronous_mode: true/,
    /failsafe_mode: true/,
  )
  const primaries = await operator.sh(documented('patroni-primary'))
  if (primaries.match(/ 200$/gm)?.length !== 1) throw new Error(`Not one node is the primary:\n${primaries}`)
  expectOutput(
    await operator.sh(documented('patroni-etcd')),
    /"health":"true".*"health":"true".*"health":"true"/s,
  )
  const replication = JSON.stringify(
    await operator.sql(documented('patroni-replication'), await cluster.primary()),
  )
  expectOutput(replication, /"sync_state":"sync"/)
}

/** Doctor finds nothing wrong with the documented settings; with others, its repairs work. */
async function runDoctor(cluster: Cluster): Promise<void> {
  const right = await doctor(cluster)
  if (right.some(({ status }) => status !== 'ok')) throw new Error(`doctor: ${JSON.stringify(right)}`)
  expectOutput(JSON.stringify(right), /Patroni 4\S+ with 3 nodes replicates synchronously/)
  const { api } = await cluster.primary()
  await api.configure({ synchronous_mode: false, failsafe_mode: false, retry_timeout: 10 })
  await cluster.asynchronous()
  let wrong: readonly DoctorFinding[] = []
  await waitUntil(async () => {
    wrong = (await doctor(cluster)).filter(({ status }) => status === 'problem')
    return wrong.length === 3
  })
  expectOutput(JSON.stringify(wrong), /synchronous_mode .* off/, /failsafe_mode .* off/, /ttl .* is 20/)
  for (const { repair = '' } of wrong) await cluster.patronictl(...repair.split(' ').slice(1), '--force')
  await cluster.settled()
  const repaired = (await doctor(cluster)).filter(({ status }) => status !== 'ok')
  if (repaired.length > 0) throw new Error(`doctor after its repairs: ${JSON.stringify(repaired)}`)
  await api.configure({ ttl: 20, retry_timeout: 5 })
}

interface DoctorFinding {
  readonly check: string
  readonly status: string
  readonly message: string
  readonly repair?: string
}

/** What `doctor` says about replication and replicas. */
async function doctor(cluster: Cluster): Promise<DoctorFinding[]> {
  const login = 'quartermaster:choose-another'
  const hosts = cluster.nodes.map(({ namespace }) => `${namespace.address}:5432`).join()
  const environment = {
    DATABASE_URL: cluster.url(login),
    DATABASE_OWNER_URL: cluster.url(ownerLogin),
    DATABASE_REPLICA_URLS: `postgres://${login}@${hosts}/quartermaster`,
  }
  const stdout = await cluster
    .command(['doctor', '--json'], environment)
    .catch((error: { readonly stdout?: string }) => error.stdout ?? '')
  const { findings }: { findings: DoctorFinding[] } = JSON.parse(stdout)
  return findings.filter(({ check }) => check === 'replication' || check === 'replicas')
}

async function planWork(cluster: Cluster, operator: Operator): Promise<void> {
  const leader = await cluster.primary()
  const [candidate, other] = await cluster.standbys()
  if (candidate === undefined || other === undefined) throw new Error('the cluster has no two standbys')
  const names = { LEADER: leader.name, CANDIDATE: candidate.name }
  expectOutput(await operator.sh(documented('patroni-switchover'), names), /Successfully switched over/)
  await cluster.settled()
  if ((await cluster.primary()) !== candidate) throw new Error(`${candidate.name} is not the primary`)
  const restarted = await operator.sh(documented('patroni-restart'), { CANDIDATE: other.name })
  expectOutput(restarted, /Success: restart on member/)
  await cluster.settled()
  expectOutput(
    await operator.sh(documented('patroni-pause')),
    /management is paused/,
    /management is resumed/,
  )
}

async function repairNodes(cluster: Cluster, operator: Operator): Promise<void> {
  const [candidate, other] = await cluster.standbys()
  if (candidate === undefined || other === undefined) throw new Error('the cluster has no two standbys')
  await operator.sh(documented('patroni-reinit'), { NODE: other.name })
  await cluster.settled()
  const position = JSON.stringify(await operator.sql(documented('patroni-position'), candidate))
  expectOutput(position, /"received":"[0-9A-F]+\/[0-9A-F]+"/)
  const failedOver = await operator.sh(documented('patroni-failover'), { CANDIDATE: candidate.name })
  expectOutput(failedOver, /Successfully failed over/)
  await cluster.settled()
}
