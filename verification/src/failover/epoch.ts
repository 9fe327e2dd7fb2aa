import { setTimeout as sleep } from 'node:timers/promises'
import { createAccount } from '../../../server/src/accounts/account-changes.ts'
import { operator } from '../../../server/src/cli/operator.ts'
import { importRecords } from '../../../server/src/import/import-records.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import { insertKeys } from '../api-keys.ts'
import type { Check, Context } from '../check.ts'
import { headersFor } from '../client.ts'
import { partnerPath, type Row } from '../fresh/read.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import type { PostgresNode } from '../replication/postgres-node.ts'
import { PostgresNodes } from '../replication/postgres-nodes.ts'
import type { ServerProcess } from '../service.ts'
import { waitUntil } from '../wait-until.ts'
import { type Fork, Forks } from './epoch-forks.ts'
import { type Counts, EpochObserver } from './epoch-observer.ts'
import { baseRecords, baseRow, readsOf, writtenRows } from './epoch-reads.ts'
import { database, type MovableService, startMovableService } from './movable-service.ts'

const account = 'forked'
const lateAccounts = ['late-a', 'late-b'] as const

/**
 * The database returns to an earlier state while server processes run, by every procedure that an operator has. Then other
 * records are written, until versions and ids equal those that the processes have cached, with different content.
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

interface Fixture extends MovableService {
  /** Stopped; in the state that every branch begins with. */
  readonly origin: PostgresNode
}

async function startFixture(): Promise<Fixture> {
  const nodes = new PostgresNodes()
  try {
    const origin = await nodes.initialise('origin')
    await origin.start()
    const movable = await startMovableService(nodes, origin, account)
    const ownerUrl = movable.service.postgres.url
    const records = Array.from({ length: baseRecords }, (_, at) => baseRow(at + 1))
    await importRecords({ ownerUrl, account, resource: 'partner', records })
    movable.address.refuse()
    await origin.stop()
    return { ...movable, origin }
  } catch (error) {
    await nodes.stop()
    throw error
  }
}

async function measure(context: Context, fixture: Fixture) {
  const { address, service, nodes, origin, client, key } = fixture
  const servers: ServerProcess[] = []
  const ports: number[] = []
  const headers = headersFor(account, key)
  const observer = new EpochObserver(client, ports, headers)
  const branches = new Branches(context, fixture, ports, observer)
  const forks = new Forks(nodes, origin).all
  const progress = context.progress('forks', forks.length)
  for (const [at, fork] of forks.entries()) {
    const before = observer.counts
    const node = await branches.move(fork)
    await branches.write(node, at, 1)
    address.moveTo(node.port, 'leave')
    // The two server processes start when there is a database, and run until the end.
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
    samples: Math.min(requests, conditional),
    ok: stale + falseNotModified === 0 && conditional > 0,
    note: [
      `${forks.length} branches; ${grouped(conditional)} requests with ETags of other branches; ${unavailable} unavailable: ${JSON.stringify(Object.fromEntries(observer.reasons))}`,
      ...faults,
    ].join('\n'),
  }
}

function difference(before: Counts, after: Counts): string {
  const of = (name: keyof Counts) => after[name] - before[name]
  return `${of('requests')} responses, ${of('stale')} stale, ${of('falseNotModified')} false 304, ${of('unavailable')} 5xx`
}

/** Moves the database from one branch to the next. */
class Branches {
  readonly #context: Context
  readonly #fixture: Fixture
  readonly #ports: readonly number[]
  readonly #observer: EpochObserver
  /** The version after each step in the first branch. */
  readonly #versions = new Map<number, string>()
  #current: PostgresNode | undefined
  #base: readonly Row[] = []
  /** Keys of the late accounts of the branch before, which are invalid in this one. */
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
      await this.#observer.during(fork.name, reads, states, fork.run())
    } else {
      address.refuse()
      this.#current = await fork.run()
    }
    const current = this.#current
    if (current === undefined) throw new Error('the first fork cannot be online')
    const rows = await rowsOf(current)
    if (before === undefined) this.#base = rows
    else if (JSON.stringify(rows) !== JSON.stringify(this.#base))
      throw new Error(`${fork.name} did not restore the state that all forks begin with`)
    return current
  }

  /** Odd steps are imports directly into the database, even ones creates over HTTP. Each is one version. */
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
        `step ${step} has version ${version}, but ${first} in the first branch: the versions must collide`,
      )
  }

  /** Before the restart, a process may be unavailable, but must not send a stale response. */
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
      ...headersFor(account, this.#fixture.key),
      'Content-Type',
      'application/json',
      'Idempotency-Key',
      name,
    ]
    await waitUntil(async () => {
      const { status, text } = await this.#fixture.client.send({
        port: this.#ports[0] ?? 0,
        method: 'POST',
        path: partnerPath,
        headers,
        body: JSON.stringify({ name }),
      })
      // 409: an attempt whose outcome was unknown still runs.
      if (status < 500 && status !== 201 && status !== 409)
        throw new Error(`create: ${status} ${text.slice(0, 300)}`)
      return status === 201
    })
  }

  /** Accounts that are created after the fork swap their ids in every second branch, and have new keys in each. */
  async #observeLateAccounts(fork: Fork, node: PostgresNode, branch: number): Promise<void> {
    const { client } = this.#fixture
    const names = branch % 2 === 0 ? lateAccounts : lateAccounts.toReversed()
    const keys = new Map<string, string>()
    for (const name of names) keys.set(name, await addAccount(node.url(database), name, `branch ${branch}`))
    const accepted = [...keys].map(([name, key]) => ({ name, key, expected: `200 branch ${branch} ${name}` }))
    const rejected = this.#lateKeys.map((key, at) => ({ name: names[at] ?? '', key, expected: '401 ' }))
    for (const port of this.#ports) {
      for (const { name, key, expected } of [...accepted, ...rejected]) {
        const path = `${partnerPath}?fields=name`
        const { status, text } = await client.send({ port, path, headers: headersFor(name, key) })
        const shown = `${status} ${status === 200 ? (JSON.parse(text).data[0]?.name ?? 'no record') : ''}`
        this.#observer.compare(`${fork.name}: ${name} at port ${port}`, shown, expected)
      }
    }
    this.#lateKeys = [...keys.values()]
  }
}

/** Creates an account with a key and one partner, whose name contains the branch and the account. */
async function addAccount(ownerUrl: string, name: string, branch: string): Promise<string> {
  const [key = ''] = await withClient(ownerUrl, async (client) => {
    const { accountId } = await createAccount(client, operator(), name)
    return insertKeys(client, [accountId])
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
