import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { clockVariables, setClock } from './clock.ts'
import { attempt, kill, type Namespace, run } from './network.ts'
import { PatroniApi, patroniConfig } from './patroni.ts'
import { Program } from './program.ts'

/** In megabytes: the data folder of each node is a file system of its own, in memory, which a fault can fill. */
const diskMegabytes = 1536
const binaries = '/usr/lib/postgresql/15/bin'

interface NodeOptions {
  readonly name: string
  readonly namespace: Namespace
  readonly folder: string
  readonly members: readonly { readonly name: string; readonly address: string }[]
  readonly networkRange: string
  readonly patroni: string
}

/** A machine of the cluster: a member of etcd, Patroni, and the PostgreSQL server that Patroni starts. */
export class ClusterNode {
  readonly name: string
  readonly namespace: Namespace
  readonly api: PatroniApi
  readonly etcd: Program
  readonly patroni: Program
  readonly config: string
  readonly #disk: string
  readonly #clock: string

  constructor({ name, namespace, folder, members, networkRange, patroni }: NodeOptions) {
    this.name = name
    this.namespace = namespace
    this.#disk = join(folder, 'disk')
    this.#clock = join(folder, 'clock')
    this.config = join(folder, 'patroni.yml')
    this.api = new PatroniApi(namespace.address)
    const { uid, gid } = postgresUser()
    for (const path of [folder, this.#disk, join(folder, 'etcd')])
      mkdirSync(path, { recursive: true, mode: 0o700 })
    run(
      'mount',
      '-t',
      'tmpfs',
      '-o',
      `size=${diskMegabytes}m,mode=700,uid=${uid},gid=${gid}`,
      'tmpfs',
      this.#disk,
    )
    for (const path of [folder, join(folder, 'etcd')]) chownSync(path, uid, gid)
    const { address } = namespace
    const etcdHosts = members.map((member) => `${member.address}:2379`)
    const dataFolder = join(this.#disk, 'data')
    const binFolder = join(folder, 'bin')
    const config = patroniConfig({ name, address, folder, binFolder, dataFolder, etcdHosts, networkRange })
    writeFileSync(this.config, config, { mode: 0o644 })
    this.setClock(0)
    createBinaries(join(folder, 'bin'), this.#clock)
    this.etcd = new Program({
      namespace,
      user: 'postgres',
      log: join(folder, 'etcd.log'),
      command: [
        'etcd',
        ...Object.entries({
          name,
          'data-dir': join(folder, 'etcd'),
          'listen-client-urls': `http://${address}:2379`,
          'advertise-client-urls': `http://${address}:2379`,
          'listen-peer-urls': `http://${address}:2380`,
          'initial-advertise-peer-urls': `http://${address}:2380`,
          'initial-cluster': members.map((member) => `${member.name}=http://${member.address}:2380`).join(),
          'heartbeat-interval': '200',
          'election-timeout': '2000',
        }).map(([option, value]) => `--${option}=${value}`),
      ],
    })
    this.patroni = new Program({
      namespace,
      user: 'postgres',
      log: join(folder, 'patroni.log'),
      command: [patroni, this.config],
      reaps: true,
    })
  }

  /** The shortest path to a superuser session, for the supervisor. */
  url(user: string, password: string, database: string): string {
    return `postgres://${user}:${password}@${this.namespace.address}:5432/${database}`
  }

  get postmaster(): number | undefined {
    const file = join(this.#disk, 'data/postmaster.pid')
    const pid = existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n', 1)[0]) : 0
    return pid > 0 && existsSync(`/proc/${pid}`) ? pid : undefined
  }

  /** The postmaster and all its children. */
  get postgresPids(): number[] {
    const { postmaster } = this
    if (postmaster === undefined) return []
    const children = attempt('pgrep', '-P', String(postmaster)).split('\n').filter(Boolean).map(Number)
    return [postmaster, ...children]
  }

  signalPostgres(signal: NodeJS.Signals): void {
    for (const pid of this.postgresPids) kill(pid, signal)
  }

  /** Kills Patroni and PostgreSQL at once, so that neither notices that the other has ended. */
  async killDatabase(): Promise<void> {
    const pids = [this.patroni.pid, ...this.postgresPids].filter((pid) => pid !== undefined)
    const ended = this.patroni.ended()
    for (const pid of pids) kill(pid, 'SIGKILL')
    await ended
  }

  /** Everything on this machine, as without power. */
  async killMachine(): Promise<void> {
    const ended = Promise.all([this.etcd.ended(), this.patroni.ended()])
    for (const pid of this.namespace.pids) kill(pid, 'SIGKILL')
    await ended
  }

  start(): void {
    this.etcd.start()
    this.patroni.start()
  }

  /** Seconds by which the clock of PostgreSQL differs. */
  setClock(seconds: number): void {
    setClock(this.#clock, seconds)
  }

  /** Leaves no page of the file system free, until `freeDisk`: it becomes as small as what it contains. */
  fillDisk(): void {
    for (let tries = 0; tries < 50; tries++) {
      const { blocks, bfree, bsize } = statfsSync(this.#disk)
      attempt('mount', '-o', `remount,size=${(blocks - bfree) * bsize}`, this.#disk)
      // PostgreSQL may have written in between: then it is still as large as before.
      if (statfsSync(this.#disk).bfree === 0) return
    }
    throw new Error('the disk could not be filled')
  }

  freeDisk(): void {
    run('mount', '-o', `remount,size=${diskMegabytes}m`, this.#disk)
  }
}

function postgresUser(): { uid: number; gid: number } {
  const [, , uid, gid] = run('getent', 'passwd', 'postgres').split(':')
  return { uid: Number(uid), gid: Number(gid) }
}

/** The programs of PostgreSQL. The server has a clock that can be set; Patroni has not, because libfaketime breaks Python's sleep. */
function createBinaries(folder: string, clock: string): void {
  mkdirSync(folder)
  for (const name of readdirSync(binaries))
    if (name !== 'postgres') symlinkSync(join(binaries, name), join(folder, name))
  const variables = Object.entries(clockVariables(clock)).map(([name, value]) => `${name}=${value}`)
  const script = `#!/bin/sh\nexec env ${variables.join(' ')} ${binaries}/postgres "$@"\n`
  writeFileSync(join(folder, 'postgres'), script, { mode: 0o755 })
}
