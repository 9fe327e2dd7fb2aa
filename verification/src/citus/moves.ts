import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Check, Context, Outcome } from '../check.ts'
import { Client } from '../client.ts'
import type { Service } from '../service.ts'
import { waitUntil } from '../wait-until.ts'
import { accountsOnEach, type GrowingAccount, totalIn } from './accounts.ts'
import type { CitusCluster } from './cluster.ts'
import { withCluster } from './on-citus.ts'

const waitMsMax = 3_000

/** Shards move to a third worker while accounts are written and read through different nodes. */
export const rebalance: Check = {
  name: 'rebalance',
  bound: `0 wrong, only 503, wait ≤ ${waitMsMax} ms`,
  run: (context) =>
    moved(context, async (cluster) => {
      await cluster.addWorker()
      await cluster.onCoordinator('select citus_rebalance_start()')
      await waitUntil(async () => {
        const [job] = await cluster.onCoordinator<{ state: string }>(
          'select state::text from pg_dist_background_job order by job_id desc limit 1',
        )
        if (job?.state === 'failed') throw new Error('the rebalance failed')
        return job?.state === 'finished'
      }, 600_000)
      const [count] = await cluster.onCoordinator<{ n: number }>(
        `select count(*)::int as n from citus_shards where table_name = 'tally'::regclass and nodeport = $1`,
        [cluster.workers.at(-1)?.port],
      )
      if (count === undefined || count.n === 0)
        throw new Error('the rebalance has moved nothing to the new worker')
      return `${count.n} shard groups moved`
    }),
}

/**
 * One account gets a shard of its own while it is written and read. Writes of its shard wait meanwhile: without that, Citus 13.2.0
 * did not end.
 */
export const isolation: Check = {
  name: 'isolation',
  bound: `0 wrong, only 503, wait ≤ ${waitMsMax} ms`,
  run: (context) =>
    moved(context, async (cluster, [account]) => {
      await cluster.onCoordinator(
        `select isolate_tenant_to_new_shard('tally', (select account_id from account where name = $1), 'CASCADE',
           shard_transfer_mode => 'block_writes')`,
        [account?.name],
      )
      const [shard] = await cluster.onCoordinator<{ values: string }>(
        `select shardmaxvalue::bigint - shardminvalue::bigint + 1 as values from pg_dist_shard
         where shardid = get_shard_id_for_distribution_column('tally', (select account_id from account where name = $1))`,
        [account?.name],
      )
      if (shard?.values !== '1')
        throw new Error(`the shard of ${account?.name} has ${shard?.values} hash values`)
      return `${account?.name} isolated`
    }),
}

/**
 * Writes go through the coordinator. After each acknowledged create, every other process, whose entry is a worker, must see it: a
 * read that finds an old placement of the shard would not.
 */
async function moved(
  context: Context,
  move: (cluster: CitusCluster, accounts: readonly GrowingAccount[]) => Promise<string>,
): Promise<Outcome> {
  return await withCluster(context, async (cluster, service) => {
    const client = new Client(64)
    const load = new Load()
    try {
      const found = await accountsOnEach(service, client, 2, 3, (name) => cluster.workerOf(name))
      const accounts = [...found.values()].flat()
      const ports = await serveOnEachNode(service, cluster)
      await importProducts(service, accounts[0], context.size(50_000, 5_000))
      await Promise.all(accounts.map((account) => fill(account, ports[0] ?? 0)))
      const running = accounts.map((account) => load.run(account, ports))
      const done = await move(cluster, accounts).finally(() => load.stop())
      await Promise.all(running)
      for (const account of accounts) await load.compare(account, ports)
      // It fails if a node lacks what requests need there, such as a new one.
      await service.command(['doctor'])
      const ok = load.wrong.length === 0 && load.longestMs <= waitMsMax && load.failed.size === 0
      return {
        samples: Math.min(load.requests, ...accounts.map(({ acknowledged }) => acknowledged)),
        value: `${load.wrong.length} wrong of ${load.requests}, ${Math.round(load.longestMs)} ms`,
        ok,
        note: [
          `${done}; ${load.unavailable} × 503; other failures: ${[...load.failed].join(', ') || 'none'}`,
          ...load.wrong.slice(0, 10),
        ].join('\n'),
      }
    } finally {
      client.close()
    }
  })
}

async function serveOnEachNode(service: Service, cluster: CitusCluster): Promise<number[]> {
  const ports: number[] = []
  for (const node of [cluster.coordinator, ...cluster.workers])
    ports.push((await service.serve({ DATABASE_URL: node.url('postgres') })).port)
  return ports
}

/** One account is large: it takes longer to copy than the others. */
async function importProducts(
  service: Service,
  account: GrowingAccount | undefined,
  count: number,
): Promise<void> {
  const file = join(service.folder, 'products.ndjson')
  const rows = Array.from(
    { length: count },
    (_, at) => `{"id":${at + 1},"name":"product ${at}","list_price":${at}}\n`,
  )
  writeFileSync(file, rows.join(''))
  await service.command(['import', 'product', file, '--account', account?.name ?? ''])
}

async function fill(account: GrowingAccount, port: number): Promise<void> {
  for (let n = 0; n < 10; n++) {
    const { status } = await account.create(port)
    if (status !== 201) throw new Error(`a create before the move: ${status}`)
    account.acknowledged++
  }
}

class Load {
  readonly wrong: string[] = []
  readonly failed = new Set<number>()
  requests = 0
  unavailable = 0
  longestMs = 0
  #stopping = false

  stop(): void {
    this.#stopping = true
  }

  async run(account: GrowingAccount, [writing = 0, ...reading]: readonly number[]): Promise<void> {
    while (!this.#stopping) {
      const created = await this.#timed(() => account.create(writing))
      if (created === undefined) {
        // A 503 of a create may have been committed.
        account.unknown++
      } else account.acknowledged++
      const { acknowledged, unknown } = account
      await Promise.all(
        reading.map(async (port) => {
          const total = await this.#timed(() => account.list(port))
          if (total !== undefined && (total < acknowledged || total > acknowledged + unknown))
            this.wrong.push(`${account.name}: ${total} of ${acknowledged} acknowledged, ${unknown} unknown`)
        }),
      )
    }
  }

  /** After the move, all processes and both kinds of total have the same. */
  async compare(account: GrowingAccount, ports: readonly number[]): Promise<void> {
    const { acknowledged, unknown } = account
    for (const port of ports) {
      const total = await this.#timed(() => account.list(port))
      if (total === undefined || total < acknowledged || total > acknowledged + unknown)
        this.wrong.push(`${account.name} afterwards: ${total} of ${acknowledged}, ${unknown} unknown`)
    }
  }

  /** The total of a list, or 0 of a create; undefined if the request failed. */
  async #timed(send: () => ReturnType<GrowingAccount['list']>): Promise<number | undefined> {
    const startedAt = performance.now()
    const response = await send()
    this.requests++
    this.longestMs = Math.max(this.longestMs, performance.now() - startedAt)
    if (response.status === 201) return 0
    if (response.status === 200) return totalIn(response)
    if (response.status === 503) this.unavailable++
    else this.failed.add(response.status)
    return undefined
  }
}
