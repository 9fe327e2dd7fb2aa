import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { documented } from '../../../../architecture/documented.ts'
import { withClient } from '../../../../server/src/postgres/client.ts'
import type { Stoppable } from '../../check.ts'
import { allScopes, unlimited } from '../../service.ts'
import { waitUntil } from '../../wait-until.ts'
import { clockVariables, setClock } from './clock.ts'
import { haproxyConfig } from './haproxy.ts'
import { type Namespace, Network } from './network.ts'
import { ClusterNode } from './node.ts'
import { installPatroni } from './packages.ts'
import { type Member, passwords, scope } from './patroni.ts'
import { adminPort, inspectorPort, port } from './ports.ts'
import { Program } from './program.ts'
import { createRunFolder, removeAbandonedRuns, removeRun } from './run-folder.ts'

const quartermaster = fileURLToPath(new URL('../../../../server/bin/quartermaster.js', import.meta.url))
const exec = promisify(execFile)

const nodeNames = ['n1', 'n2', 'n3'] as const
export const ownerLogin = 'quartermaster_owner:choose-one'

/** `quartermaster serve` in a namespace of its own. */
export interface ServerNode {
  readonly name: string
  readonly namespace: Namespace
  readonly program: Program
  readonly log: string
  /** The file of its clock. */
  readonly clock: string
}

/**
 * Three machines with etcd, Patroni and PostgreSQL, HAProxy, Redis and two serving processes, each in a network namespace of its
 * own on this machine. `stop` ends all of it, and so does the end of this process.
 */
export class Cluster implements Stoppable {
  readonly network: Network
  readonly folder: string
  readonly nodes: readonly ClusterNode[]
  readonly haproxy: Program
  readonly redis: Program
  readonly servers: readonly ServerNode[]
  readonly load: Namespace
  readonly balancer: Namespace

  private constructor(network: Network, folder: string) {
    this.network = network
    this.folder = folder
    installPatroni(folder)
    const machines = nodeNames.map((name) => ({ name, namespace: network.add(name) }))
    const members = machines.map(({ name, namespace }) => ({ name, address: namespace.address }))
    const patroni = join(folder, 'patroni')
    this.nodes = machines.map(
      ({ name, namespace }) =>
        new ClusterNode({
          name,
          namespace,
          folder: join(folder, name),
          members,
          networkRange: network.range,
          patroni,
        }),
    )
    this.balancer = network.add('lb')
    const config = join(folder, 'haproxy.cfg')
    writeFileSync(config, haproxyConfig(members))
    this.haproxy = this.#program(this.balancer, 'haproxy', ['haproxy', '-f', config, '-db'])
    const redis = network.add('redis')
    this.redis = this.#program(redis, 'redis', [
      'redis-server',
      '--bind',
      redis.address,
      '--protected-mode',
      'no',
      '--save',
      '',
    ])
    this.servers = ['s1', 's2'].map((name) => this.#server(name, `redis://${redis.address}:6379`))
    this.load = network.add('load')
  }

  static async start(log: (line: string) => void): Promise<Cluster> {
    removeAbandonedRuns()
    const network = Network.create()
    const remove = () => removeRun(network.suffix)
    process.once('exit', remove)
    const cluster = new Cluster(network, createRunFolder(network.suffix))
    log(`starting three nodes, HAProxy, Redis and two servers in ${network.range}, ${cluster.folder}`)
    try {
      await cluster.#begin()
    } catch (error) {
      log(cluster.#tail())
      await cluster.stop()
      throw error
    }
    return cluster
  }

  /** Through HAProxy, as a login of the database. */
  url(login: string): string {
    return `postgres://${login}@${this.balancer.address}:5432/quartermaster`
  }

  /** Not through HAProxy: on a busy machine, its check of Patroni may time out, and it then closes connections. */
  get ownerUrl(): string {
    const hosts = this.nodes.map(({ namespace }) => `${namespace.address}:5432`).join()
    return `postgres://${ownerLogin}@${hosts}/quartermaster`
  }

  async #begin(): Promise<void> {
    for (const node of this.nodes) node.etcd.start()
    for (const node of this.nodes) node.patroni.start()
    this.redis.start()
    this.haproxy.start()
    await this.settled()
    const primary = await this.primary()
    await withClient(primary.url('postgres', passwords.superuser, 'postgres'), async (client) => {
      for (const statement of documented('database-roles')
        .split(/;\n/)
        .filter((text) => text.trim() !== ''))
        await client.query(statement)
    })
    await waitUntil(() => canConnect(this.url(ownerLogin)), 300_000, 'HAProxy did not reach the primary')
    await this.command(['migrate'])
    for (const server of this.servers) server.program.start()
    for (const server of this.servers) await this.ready(server)
  }

  /** Waits until a serving process accepts requests. */
  async ready({ namespace, log }: ServerNode): Promise<void> {
    await waitUntil(
      async () => {
        await sleep(100)
        return await isOk(`http://${namespace.address}:${port}/readyz`)
      },
      600_000,
      `the server did not become ready: ${readFileSync(log, 'utf8').slice(-2000)}`,
    )
  }

  /** Creates an account with a key for everything. */
  async account(name: string): Promise<string> {
    await this.command(['account', 'create', name])
    const out = await this.command([
      'key',
      'create',
      '--account',
      name,
      '--name',
      'chaos',
      '--scopes',
      allScopes,
      '--json',
    ])
    const key = /"(qm_[0-9A-Za-z]+)"/.exec(out)?.[1]
    if (key === undefined) throw new Error(`key create printed no key: ${out}`)
    return key
  }

  async command(
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const env = {
      ...process.env,
      DATABASE_URL: this.ownerUrl,
      DATABASE_OWNER_URL: this.ownerUrl,
      ...unlimited,
      ...environment,
    }
    const { stdout } = await exec(process.execPath, [quartermaster, ...args], { env })
    return stdout
  }

  /** `patronictl`, as an operator on the first machine runs it. */
  async patronictl(...args: readonly string[]): Promise<string> {
    const { stdout } = await exec(
      join(this.folder, 'patronictl'),
      ['-c', this.nodes[0]?.config ?? '', ...args],
      {
        env: { ...process.env, COLUMNS: '200' },
      },
    )
    return stdout
  }

  /** The members as the first responding node sees them. */
  async members(): Promise<readonly Member[]> {
    for (const node of this.nodes) {
      const members = await node.api.members()
      if (members.length > 0) return members
    }
    return []
  }

  async primary(): Promise<ClusterNode> {
    let found: ClusterNode | undefined
    await waitUntil(async () => {
      for (const node of this.nodes) if (await node.api.isPrimary()) found = node
      if (found === undefined) await sleep(200)
      return found !== undefined
    })
    if (found === undefined) throw new Error('no node is the primary')
    return found
  }

  /** The standbys: the synchronous one first. */
  async standbys(): Promise<ClusterNode[]> {
    const members = await this.members()
    const roleOf = (node: ClusterNode) => members.find(({ name }) => name === node.name)?.role
    const standbys = this.nodes.filter((node) => roleOf(node) !== 'leader')
    return standbys.toSorted(
      (a, b) => Number(roleOf(b) === 'sync_standby') - Number(roleOf(a) === 'sync_standby'),
    )
  }

  /** Waits until there are a primary and two streaming standbys, one of them synchronous if `synchronous`. */
  async settled(synchronous = true, timeoutMs = 600_000): Promise<void> {
    let last: readonly Member[] = []
    const healthy = async () => {
      await sleep(250)
      last = await this.members()
      const leaders = last.filter(({ role }) => role === 'leader')
      const synchronised = last.some(({ role }) => role === 'sync_standby')
      const isComplete = last.length === nodeNames.length && last.every(isWell)
      if (!isComplete || leaders.length !== 1 || (!synchronised && synchronous)) return false
      // A node that was isolated still sees itself as the leader for a while.
      return leaders[0]?.name === (await this.primary()).name
    }
    await waitUntil(
      async () => (await healthy()) && (await healthy()),
      timeoutMs,
      'the cluster is not healthy',
    ).catch((error: Error) => {
      const absent = this.nodes.filter(
        ({ name }) => !last.some((member) => member.name === name && isWell(member)),
      )
      const names = absent.map(({ name }) => name).join(', ')
      const which = names === '' ? 'no standby is synchronous' : `${names} did not come back`
      throw new Error(`${error.message}: ${which}: ${JSON.stringify(last)}\n${this.#tail()}`)
    })
  }

  /** Reinitialises standbys that do not stream, as the runbook says. Returns their names. */
  async reinitialiseStandbys(): Promise<string[]> {
    const members = await this.members()
    const names = members
      .filter(({ role, state }) => role !== 'leader' && state !== 'streaming')
      .map(({ name }) => name)
    for (const name of names) await this.patronictl('reinit', scope, name, '--force')
    return names
  }

  /** Waits until no standby is synchronous. */
  async asynchronous(): Promise<void> {
    await waitUntil(async () => {
      await sleep(250)
      const members = await this.members()
      return members.length > 0 && members.every(({ role }) => role !== 'sync_standby')
    })
  }

  async switchover(from: ClusterNode, to: ClusterNode): Promise<void> {
    await this.patronictl('switchover', scope, '--leader', from.name, '--candidate', to.name, '--force')
  }

  /** The last lines of all logs. */
  #tail(): string {
    const files = this.nodes.flatMap(({ name }) => [`${name}/etcd.log`, `${name}/patroni.log`])
    return [...files, 'haproxy.log']
      .map((file) => `${file}:\n${readLog(join(this.folder, file)).slice(-1500)}`)
      .join('\n')
  }

  #program(namespace: Namespace, name: string, command: readonly string[]): Program {
    return new Program({ namespace, command, log: join(this.folder, `${name}.log`) })
  }

  #server(name: string, redisUrl: string): ServerNode {
    const namespace = this.network.add(name)
    const log = join(this.folder, `${name}.log`)
    const clock = join(this.folder, `${name}.clock`)
    setClock(clock, 0)
    const program = new Program({
      namespace,
      log,
      command: [process.execPath, `--inspect=${namespace.address}:${inspectorPort}`, quartermaster, 'serve'],
      environment: {
        ...clockVariables(clock),
        DATABASE_URL: this.url('quartermaster:choose-another'),
        REDIS_URL: redisUrl,
        QUARTERMASTER_HOST: namespace.address,
        PORT: String(port),
        QUARTERMASTER_LOG_LEVEL: 'warn',
        QUARTERMASTER_ADMIN_HOST: namespace.address,
        QUARTERMASTER_ADMIN_PORT: String(adminPort),
        ...unlimited,
      },
    })
    return { name, namespace, program, log, clock }
  }

  async stop(): Promise<void> {
    removeRun(this.network.suffix)
  }
}

function isWell({ role, state }: Member): boolean {
  return state === (role === 'leader' ? 'running' : 'streaming')
}

function readLog(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

async function isOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}

async function canConnect(url: string): Promise<boolean> {
  try {
    await withClient(url, (client) => client.query('select 1'))
    return true
  } catch {
    return false
  }
}
