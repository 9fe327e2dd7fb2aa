import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { postgresBinaries } from '../../../server/src/cli/database/find-postgres.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Stoppable } from '../check.ts'
import type { PostgresNode } from '../replication/postgres-node.ts'
import { PostgresNodes } from '../replication/postgres-nodes.ts'

/** What Citus needs on every node. Connections between the nodes are on loopback and without TLS. */
const citusSettings = {
  shared_preload_libraries: 'citus',
  wal_level: 'logical',
  max_connections: '200',
  max_prepared_transactions: '200',
  max_wal_senders: '20',
  max_replication_slots: '20',
  max_logical_replication_workers: '16',
  max_worker_processes: '32',
  'citus.node_conninfo': 'sslmode=disable',
  'citus.shard_count': '16',
}

/** PostgreSQL 15.20 restricts the output plugins of logical replication; earlier versions do not know the setting. */
const outputPlugins = { output_plugin_libraries: 'pgoutput, citus' }

/** Whether the PostgreSQL of these checks has the extension Citus. */
export function isCitusInstalled(): boolean {
  const folders = ['../lib', '../lib/postgresql']
  return folders.some((folder) => existsSync(join(postgresBinaries(), folder, 'citus.so')))
}

/** A coordinator and workers on one machine. */
export class CitusCluster implements Stoppable {
  readonly nodes: PostgresNodes
  readonly coordinator: PostgresNode
  readonly workers: PostgresNode[] = []
  readonly #settings: Record<string, string>

  private constructor(nodes: PostgresNodes, coordinator: PostgresNode, settings: Record<string, string>) {
    this.nodes = nodes
    this.coordinator = coordinator
    this.#settings = settings
  }

  static async start(more: Record<string, string> = {}, workers = 2): Promise<CitusCluster> {
    const nodes = new PostgresNodes()
    try {
      const all = await nodeSettings(nodes, more)
      const cluster = new CitusCluster(nodes, await startNode(nodes, 'coordinator', all), all)
      const { port } = cluster.coordinator
      await cluster.onCoordinator(`select citus_set_coordinator_host('127.0.0.1', ${port})`)
      for (let i = 0; i < workers; i++) await cluster.addWorker()
      return cluster
    } catch (error) {
      await nodes.stop()
      throw error
    }
  }

  get url(): string {
    return this.coordinator.url('postgres')
  }

  /** Adds a node without shards. */
  async addWorker(): Promise<PostgresNode> {
    const worker = await startNode(this.nodes, `worker${this.workers.length + 1}`, this.#settings)
    await this.onCoordinator(`select citus_add_node('127.0.0.1', ${worker.port})`)
    this.workers.push(worker)
    return worker
  }

  /** Starts a node again, or a copy of one. */
  async startAgain(node: PostgresNode): Promise<void> {
    await node.start(this.#settings)
  }

  async onCoordinator<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    return await withClient(this.url, async (client) => (await client.query<Row>(text, values)).rows)
  }

  /** The worker that has the account. */
  async workerOf(account: string): Promise<PostgresNode> {
    const [row] = await this.onCoordinator<{ port: number }>(
      `select s.nodeport as port from citus_shards s, account a
        where a.name = $1 and s.shardid = get_shard_id_for_distribution_column('tally', a.account_id)`,
      [account],
    )
    const worker = this.workers.find(({ port }) => port === row?.port)
    if (worker === undefined) throw new Error(`no worker has the account ${account}`)
    return worker
  }

  /** Throws unless the tables of accounts are distributed. Returns the number of records that they have on the workers. */
  async records(): Promise<number> {
    const tables = ['tally', 'product', 'partner', 'company']
    const rows = await this.onCoordinator<{ name: string; type: string }>(
      `select table_name::text as name, citus_table_type as type from citus_tables where table_name::text = any($1)`,
      [tables],
    )
    const plain = tables.filter(
      (table) => !rows.some(({ name, type }) => name === table && type === 'distributed'),
    )
    if (plain.length > 0) throw new Error(`not distributed by Citus: ${plain.join(', ')}`)
    const [counted] = await this.onCoordinator<{ n: number }>(
      `select ((select count(*) from product) + (select count(*) from partner) + (select count(*) from company))::float8 as n`,
    )
    return counted?.n ?? 0
  }

  /** Kills a worker and puts another server in its place. */
  async replaceWorker(worker: PostgresNode, by: PostgresNode): Promise<void> {
    await worker.kill()
    await by.promote()
    await this.onCoordinator(
      `select citus_update_node(nodeid, '127.0.0.1', $2) from pg_dist_node where nodeport = $1`,
      [worker.port, by.port],
    )
    this.workers.splice(this.workers.indexOf(worker), 1, by)
  }

  stop(): Promise<void> {
    return this.nodes.stop()
  }
}

async function startNode(
  nodes: PostgresNodes,
  name: string,
  all: Record<string, string>,
): Promise<PostgresNode> {
  const node = await nodes.initialise(name)
  await node.start(all)
  await withClient(node.url('postgres'), (client) => client.query('create extension citus'))
  return node
}

async function nodeSettings(
  nodes: PostgresNodes,
  { shared_preload_libraries: libraries, ...more }: Record<string, string>,
): Promise<Record<string, string>> {
  const known = await nodes.run(join(postgresBinaries(), 'postgres'), ['--describe-config'])
  const preload = libraries === undefined ? {} : { shared_preload_libraries: `citus, ${libraries}` }
  const plugins = known.includes('output_plugin_libraries') ? outputPlugins : {}
  return { ...citusSettings, ...plugins, ...more, ...preload }
}
