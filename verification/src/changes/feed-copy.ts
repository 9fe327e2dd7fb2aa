import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { SyncBatch } from '../../../client/src/index.ts'
import { importRecords } from '../../../server/src/import/import-records.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context, Outcome, Stoppable } from '../check.ts'
import { type Client, headersFor } from '../client.ts'
import { database, type MovableService, startMovableService } from '../failover/movable-service.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { PrimaryAndStandby } from '../replication/primary-and-standby.ts'
import { messageOf } from '../runner.ts'
import type { Service } from '../service.ts'
import { waitUntil } from '../wait-until.ts'
import { anyProduct, asJson, product } from './products.ts'
import { type WriterKind, type Writing, writeOnce } from './writers.ts'

const program = fileURLToPath(new URL('feed-consumer.ts', import.meta.url))
export const feedAccount = 'copied'
const account = feedAccount
const records = 300
const writers: readonly WriterKind[] = ['create', 'patch', 'patch', 'delete', 'batch', 'import']

/** Two processes of `service` use its database. */
export interface FeedTopology extends Stoppable {
  readonly service: Service
  readonly client: Client
  /** Of the account `feedAccount`. */
  readonly key: string
  /** The database as an operator reaches it now. */
  readonly tableUrl: string
  /** The server that has the account fails, and another one takes its place. No acknowledged write is lost. */
  failOver(): Promise<void>
}

/**
 * A consumer keeps a copy by the change feed. It is killed again and again while others write through two processes, and the
 * database fails over. Whenever writing pauses and the consumer has caught up, its copy must equal the table.
 */
export function feedCopyOn(name: string, start: () => Promise<FeedTopology>): Check {
  return {
    name,
    bound: '= 0 differences',
    async run(context) {
      const topology = await start()
      try {
        return await measure(context, topology)
      } finally {
        await topology.stop()
      }
    },
  }
}

export const feedCopy = feedCopyOn('feed_copy', async () => {
  const pair = await PrimaryAndStandby.start()
  const movable = await startMovableService(pair.nodes, pair.primary, account)
  return {
    ...movable,
    get tableUrl() {
      return pair.primary.url(database)
    },
    failOver: () => failOver(pair, movable),
  }
})

async function measure(context: Context, topology: FeedTopology): Promise<Outcome> {
  const { service, client, key } = topology
  const environment = { QUARTERMASTER_DEFAULT_ACCOUNT: account }
  const ports = [(await service.serve(environment)).port, (await service.serve(environment)).port]
  const ownerUrl = service.postgres.url
  const writing: Writing = {
    client,
    ports,
    ownerUrl,
    account,
    key: await service.key(account, scopes),
    records,
  }
  await fill(writing, context)
  const consumer = new Consumer(join(service.folder, 'copy.ndjson'), ports, key)
  const rounds = context.size(24, 4)
  const killsPerRound = context.size(5, 3)
  const progress = context.progress('comparisons', rounds)
  const differences: string[] = []
  let writes = 0
  try {
    for (let round = 0; round < rounds; round++) {
      const random = new Random(context.seed, 70, round)
      const failsOver = round === Math.floor(rounds / 3) || round === Math.floor((2 * rounds) / 3)
      writes += await whileWriting(writing, context.seed, round, async () => {
        for (let kill = 0; kill < killsPerRound; kill++) {
          await sleep(random.integer(50, 700))
          await consumer.restart()
        }
        if (failsOver) await topology.failOver()
      })
      const copy = await caughtUp(writing, consumer, round)
      const found = difference(await table(topology.tableUrl), copy)
      if (found !== undefined) differences.push(`round ${round}: ${found}`)
      progress.step()
    }
  } finally {
    await consumer.stop()
  }
  progress.end()
  return {
    value: `${differences.length} of ${rounds}, ${consumer.kills} kills`,
    samples: Math.min(rounds, writes, consumer.kills),
    ok: differences.length === 0 && consumer.kills >= rounds * killsPerRound - 1,
    note: [
      `${grouped(writes)} writes, 2 failovers, ${consumer.sweeps} complete walks`,
      ...differences.slice(0, 5),
    ].join('\n'),
  }
}

const scopes = 'product:read,product:write'

async function fill({ ownerUrl }: Writing, context: Context): Promise<void> {
  const random = new Random(context.seed, 71)
  const rows = Array.from({ length: records }, (_, at) => ({ id: at + 1, ...asJson(anyProduct(random)) }))
  await importRecords({ ownerUrl, account, resource: 'product', records: rows })
}

/** Writes from several loops until `work` ends. During a failover writes may fail; what they wrote is in the table or not. */
async function whileWriting(
  writing: Writing,
  seed: number,
  round: number,
  work: () => Promise<void>,
): Promise<number> {
  const done = new AbortController()
  let writes = 0
  const loops = writers.map(async (kind, at) => {
    const random = new Random(seed, 72, round, at)
    while (!done.signal.aborted) {
      try {
        if (await writeOnce(kind, writing, random)) writes += 1
      } catch (error) {
        if (!/50[34]|ECONN|socket|terminat|connect|Unavailable|recovery/i.test(messageOf(error))) throw error
        await sleep(100)
      }
      await sleep(random.integer(0, 40))
    }
  })
  try {
    await Promise.race([work(), ...loops])
  } finally {
    done.abort()
    await Promise.all(loops)
  }
  return writes
}

async function failOver(pair: PrimaryAndStandby, { address }: MovableService): Promise<void> {
  await pair.setSynchronous(true)
  const old = pair.primary
  await old.kill()
  await pair.promote()
  address.moveTo(pair.primary.port, 'close')
  await withClient(pair.primary.url('postgres'), async (client) => {
    await client.query(`alter system set synchronous_standby_names = ''`)
    await client.query('select pg_reload_conf()')
  })
  await pair.rebuildStandby()
}

/** Writes a last product and waits until the copy has it: then it also has all changes before. */
async function caughtUp(writing: Writing, consumer: Consumer, round: number): Promise<Map<number, string>> {
  const name = `last of round ${round}`
  await waitUntil(async () => {
    const response = await writing.client.sendUntilAccepted({
      port: writing.ports[0] ?? 0,
      method: 'POST',
      path: product.path,
      headers: [...headersFor(account, writing.key), 'Content-Type', 'application/json'],
      body: JSON.stringify({ name, list_price: 1, qty_available: 1, active: true }),
    })
    return response.status === 201
  }, 120_000)
  let copy = new Map<number, string>()
  await waitUntil(async () => {
    await sleep(200)
    copy = consumer.copy()
    return [...copy.values()].some((text) => text.includes(name))
  }, 300_000)
  return copy
}

async function table(url: string): Promise<Map<number, string>> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ id: string; name: string; list_price: string; active: boolean; categ_id: string | null }>(
      'select id, name, list_price, active, categ_id from product order by id',
    ),
  )
  return new Map(
    rows.map((row) => [
      Number(row.id),
      textOf({
        ...row,
        id: Number(row.id),
        list_price: Number(row.list_price),
        categ_id: row.categ_id === null ? null : Number(row.categ_id),
      }),
    ]),
  )
}

interface Copied {
  readonly id: number
  readonly name: string
  readonly list_price: number
  readonly active: boolean
  readonly categ_id: number | null
}

function textOf({ id, name, list_price, active, categ_id }: Copied): string {
  return JSON.stringify([id, name, list_price, active, categ_id])
}

function difference(expected: Map<number, string>, copy: Map<number, string>): string | undefined {
  for (const id of new Set([...expected.keys(), ...copy.keys()])) {
    if (expected.get(id) !== copy.get(id))
      return `id ${id}: ${String(expected.get(id))} in the table, ${String(copy.get(id))} in the copy`
  }
  return undefined
}

/** The consumer's process, which alternates between the two servers when it is restarted. */
class Consumer {
  kills = 0
  sweeps = 0
  readonly #file: string
  readonly #ports: readonly number[]
  readonly #key: string
  #child: ChildProcess | undefined

  constructor(file: string, ports: readonly number[], key: string) {
    this.#file = file
    this.#ports = ports
    this.#key = key
  }

  async restart(): Promise<void> {
    if (this.#child !== undefined) this.kills += 1
    await this.stop()
    const port = this.#ports[this.kills % this.#ports.length]
    const url = `http://127.0.0.1:${port}`
    this.#child = spawn(process.execPath, [program, this.#file, url], {
      env: { ...process.env, QM_KEY: this.#key },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  /** Replays its file. */
  copy(): Map<number, string> {
    const copy = new Map<number, { readonly text: string; readonly walk: string }>()
    const lines = existsSync(this.#file) ? readFileSync(this.#file, 'utf8').split('\n').slice(0, -1) : []
    this.sweeps = 0
    for (const line of lines) {
      if (!line.startsWith('{') || !line.endsWith('}')) continue
      const { deleted, upserted, sweep, state }: SyncBatch<Copied> = JSON.parse(line)
      for (const id of deleted) copy.delete(id)
      for (const record of upserted) copy.set(record.id, { text: textOf(record), walk: state.walk })
      if (!sweep) continue
      this.sweeps += 1
      for (const [id, { walk }] of copy) if (walk !== state.walk) copy.delete(id)
    }
    return new Map([...copy].map(([id, { text }]) => [id, text]))
  }
}
