import { setTimeout as sleep } from 'node:timers/promises'
import { createAccount } from '../../../server/src/accounts/directory.ts'
import { generateKey, hashOfKey, newKeyId, scopes } from '../../../server/src/accounts/key-format.ts'
import { operator } from '../../../server/src/cli/operator.ts'
import { importRecords } from '../../../server/src/import/import-records.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context, Stoppable } from '../check.ts'
import { Client } from '../client.ts'
import { partnerPath, type Row } from '../fresh/read.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { MovableAddress } from '../replication/movable-address.ts'
import { type PostgresNode, waitUntil } from '../replication/postgres-node.ts'
import { PostgresNodes } from '../replication/postgres-nodes.ts'
import { type ServerProcess, Service } from '../service.ts'
import { database, type Fork, Forks } from './epoch-forks.ts'
import { type Counts, EpochObserver } from './epoch-observer.ts'
import { baseRecords, baseRow, readsOf, writtenRows } from './epoch-reads.ts'

const account = 'forked'
const lateAccounts = ['late-a', 'late-b'] as const

/**
 * The database goes back to an earlier state under running processes, in every way that an operator has, and is written on
 * until versions and ids are those that the processes have cached, with other content.
 */
export const epoch: Check = {
  name: 'epoch',
  bound: '0 stale, 0 false 304',
  async run(context) {
    const fixture = await startFixture()
    try {
      return await measure(context, fixture)
    } finally {
      await fixture.stop()
    }
  },
}

interface Fixture extends Stoppable {
  readonly nodes: PostgresNodes
  readonly address: MovableAddress
  readonly service: Service
  readonly key: string
  /** Stopped; in the state that every branch begins with. */
  readonly origin: PostgresNode
  readonly client: Client
}

async function startFixture(): Promise<Fixture> {
  const nodes = new PostgresNodes()
  const address = await MovableAddress.listen()
  const client = new Client()
  const stopAll = async () => {
    client.close()
    await address.stop()
    await nodes.stop()
  }
  try {
    const origin = await nodes.initialise('origin')
    await origin.start()
    await nodes.run('psql', ['-q', '-c', `create database ${database}`, origin.url('postgres')])
    address.moveTo(origin.port, 'cut')
    const url = `postgres://postgres@127.0.0.1:${address.port}/${database}`
    const service = await Service.on({ url, folder: nodes.folder, stop: stopAll })
    const key = await service.account(account)
    const records = Array.from({ length: baseRecords }, (_, at) => baseRow(at + 1))
    await importRecords({ ownerUrl: url, account, resource: 'partner', records })
    address.refuse()
    await origin.stop()
    return { nodes, address, service, key, origin, client, stop: () => service.stop() }
  } catch (error) {
    await stopAll()
    throw error
  }
}

async function measure(context: Context, fixture: Fixture) {
  const { address, service, nodes, origin, client, key } = fixture
  const servers: ServerProcess[] = []
  const ports: number[] = []
  const headers = headersOf(account, key)
  const observer = new EpochObserver(client, ports, headers)
  const branches = new Branches(context, fixture, ports, observer)
  const forks = new Forks(nodes, origin).all
  const progress = context.progress('forks', forks.length)
  for (const [at, fork] of forks.entries()) {
    const before = observer.counts
    const node = await branches.move(fork)
    await branches.write(node, at, 1)
    address.moveTo(node.port, 'leave')
    // Not before there is a database: these two then stay until the end.
    if (at === 0) for (let n = 0; n < 2; n++) servers.push(await service.serve())
    if (at === 0) ports.push(...servers.map(({ port }) => port))
    if (fork.restart === true) await branches.restart(fork, node, servers)
    await branches.observe(fork, node, at)
    context.log(`${fork.name}: ${difference(before, observer.counts)}`)
    progress.step()
  }
  progress.end()
  const { stale, falseNotModified, requests, conditional, unavailable, faults } = observer
  return {
    value: `${stale} stale, ${falseNotModified} false 304 of ${grouped(requests)}`,
    ok: stale + falseNotModified === 0 && conditional > 0,
    note: [
      `${forks.length} branches; ${grouped(conditional)} requests with ETags of other branches; ${unavailable} unavailable: ${JSON.stringify(Object.fromEntries(observer.reasons))}`,
      ...faults,
    ].join('\n'),
  }
}

function difference(before: Counts, after: Counts): string {
  const of = (name: keyof Counts) => after[name] - before[name]
  return `${of('requests')} answers, ${of('stale')} stale, ${of('falseNotModified')} false 304, ${of('unavailable')} 5xx`
}

/** Brings the database from one branch to the next. */
class Branches {
  readonly #context: Context
  readonly #fixture: Fixture
  readonly #ports: readonly number[]
  readonly #observer: EpochObserver
  /** By step, as the first branch reached them. */
  readonly #versions = new Map<number, string>()
  #current: PostgresNode | undefined
  #base: readonly Row[] = []
  /** Keys of late accounts in the branch before: no longer valid in this one. */
  #lateKeys: string[] = []

  constructor(context: Context, fixture: Fixture, ports: readonly number[], observer: EpochObserver) {
    this.#context = context
    this.#fixture = fixture
    this.#ports = ports
    this.#observer = observer
  }

  get #steps(): number {
    return this.#context.size(4, 2)
  }

  async move(fork: Fork): Promise<PostgresNode> {
    const { address } = this.#fixture
    const before = this.#current
    if (fork.online === true && before !== undefined) {
      const states = [await rowsOf(before), this.#base]
      const reads = readsOf(this.#steps, new Random(this.#context.seed, 61))
      await this.#observer.during(fork.name, reads, states, fork.make())
    } else {
      address.refuse()
      this.#current = await fork.make()
    }
    const current = this.#current
    if (current === undefined) throw new Error('the first fork cannot be online')
    const rows = await rowsOf(current)
    if (before === undefined) this.#base = rows
    else if (JSON.stringify(rows) !== JSON.stringify(this.#base))
      throw new Error(`${fork.name} did not bring the state back that all forks begin with`)
    return current
  }

  /** Odd steps are imports, straight into the database; even ones creates over HTTP. Each is one version. */
  async write(node: PostgresNode, branch: number, step: number): Promise<void> {
    const ownerUrl = node.url(database)
    if (step % 2 === 1)
      await importRecords({ ownerUrl, account, resource: 'partner', records: writtenRows(branch, step) })
    else await this.#create(`branch ${branch}-${step} created`)
    const version = await withClient(ownerUrl, async (client) => {
      const { rows } = await client.query<{ version: string }>(
        `select version from tally where resource = 'partner'
           and account_id = (select account_id from account where name = $1)`,
        [account],
      )
      return String(rows[0]?.version)
    })
    const first = this.#versions.get(step) ?? version
    this.#versions.set(step, first)
    if (version !== first)
      throw new Error(
        `step ${step} has version ${version}, ${first} in the first branch: nothing would be shown`,
      )
  }

  /** Until then, a process may be unavailable, but not wrong. */
  async restart(fork: Fork, node: PostgresNode, servers: readonly ServerProcess[]): Promise<void> {
    const reads = readsOf(1, new Random(this.#context.seed, 62))
    await this.#observer.during(`${fork.name}, not restarted`, reads, [await rowsOf(node)], sleep(2_000))
    for (const server of servers) {
      await server.kill()
      await server.start()
    }
  }

  async observe(fork: Fork, node: PostgresNode, branch: number): Promise<void> {
    for (let step = 1; step <= this.#steps; step++) {
      if (step > 1) await this.write(node, branch, step)
      const random = new Random(this.#context.seed, 60, branch, step)
      await this.#observer.observe(
        `${fork.name}, step ${step}`,
        readsOf(step, random),
        await rowsOf(node),
        random,
      )
    }
    await this.#observeLateAccounts(fork, node, branch)
  }

  async #create(name: string): Promise<void> {
    const headers = [
      ...headersOf(account, this.#fixture.key),
      'Content-Type',
      'application/json',
      'Idempotency-Key',
      name,
    ]
    await waitUntil(async () => {
      const { status, text } = await this.#fixture.client.ask({
        port: this.#ports[0] ?? 0,
        method: 'POST',
        path: partnerPath,
        headers,
        body: JSON.stringify({ name }),
      })
      if (status < 500 && status !== 201) throw new Error(`create: ${status} ${text.slice(0, 300)}`)
      return status === 201
    })
  }

  /** Accounts made after the fork have the ids of each other in every second branch, and other keys in each. */
  async #observeLateAccounts(fork: Fork, node: PostgresNode, branch: number): Promise<void> {
    const { client } = this.#fixture
    const names = branch % 2 === 0 ? lateAccounts : lateAccounts.toReversed()
    const keys = new Map<string, string>()
    for (const name of names) keys.set(name, await addAccount(node.url(database), name, `branch ${branch}`))
    const asked = [...keys].map(([name, key]) => ({ name, key, expected: `200 branch ${branch} ${name}` }))
    const refused = this.#lateKeys.map((key, at) => ({ name: names[at] ?? '', key, expected: '401 ' }))
    for (const port of this.#ports) {
      for (const { name, key, expected } of [...asked, ...refused]) {
        const path = `${partnerPath}?fields=name`
        const { status, text } = await client.ask({ port, path, headers: headersOf(name, key) })
        const shown = `${status} ${status === 200 ? (JSON.parse(text).data[0]?.name ?? 'nothing') : ''}`
        this.#observer.compare(`${fork.name}: ${name} at port ${port}`, shown, expected)
      }
    }
    this.#lateKeys = [...keys.values()]
  }
}

/** A new account with a key, and one partner that is named after the branch and the account. */
async function addAccount(ownerUrl: string, name: string, branch: string): Promise<string> {
  const key = generateKey()
  await withClient(ownerUrl, async (client) => {
    const { accountId } = await createAccount(client, operator(), name)
    await client.query(
      `insert into api_key (account_id, key_id, hash, name, scopes) values ($1, $2, decode($3, 'hex'), 'verification', $4)`,
      [accountId, newKeyId(), hashOfKey(key), [...scopes]],
    )
  })
  const records = [{ ...baseRow(1), name: `${branch} ${name}` }]
  await importRecords({ ownerUrl, account: name, resource: 'partner', records })
  return key
}

async function rowsOf(node: PostgresNode): Promise<Row[]> {
  return withClient(node.url(database), async (client) => {
    const { rows } = await client.query<Row>(
      `select id::float8 as id, name, is_company, is_customer, email, phone from partner
       where account_id = (select account_id from account where name = $1) order by id`,
      [account],
    )
    return rows
  })
}

function headersOf(name: string, key: string): string[] {
  return ['Host', `${name}.localhost`, 'Authorization', `Bearer ${key}`]
}
