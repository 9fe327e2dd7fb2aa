import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { withClient } from '../../../server/src/postgres/client.ts'
import { waitUntil } from '../wait-until.ts'

export interface NodeParts {
  /** Its data directory. */
  readonly data: string
  readonly socketFolder: string
  readonly port: number
  /** The program `postgres`. */
  readonly program: string
  readonly user: { readonly uid?: number; readonly gid?: number }
}

/** Without fsync: commits must survive a kill of the server, not a failure of the machine. */
const settings = {
  listen_addresses: '127.0.0.1',
  fsync: 'off',
  shared_buffers: '64MB',
  max_connections: '150',
  wal_level: 'replica',
  wal_keep_size: '128MB',
  // A check must not wait a minute until a paused or killed standby is detected.
  wal_sender_timeout: '5s',
  wal_receiver_timeout: '5s',
  wal_retrieve_retry_interval: '200ms',
}

/** One PostgreSQL server: its files, and its process while it runs. */
export class PostgresNode {
  readonly data: string
  readonly port: number
  readonly #parts: NodeParts
  #process: ChildProcess | undefined

  constructor(parts: NodeParts) {
    this.#parts = parts
    this.data = parts.data
    this.port = parts.port
  }

  /** For the superuser. */
  url(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`
  }

  /** Resolves when the server accepts connections. */
  async start(more: Record<string, string> = {}): Promise<void> {
    const { program, user, socketFolder } = this.#parts
    const all = { ...settings, port: String(this.port), unix_socket_directories: socketFolder, ...more }
    const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const log = openSync(this.log, 'a')
    const child = spawn(program, ['-D', this.data, ...options], {
      ...user,
      cwd: this.data,
      detached: true,
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    child.unref()
    this.#process = child
    const until = Date.now() + 120_000
    while (!(await this.#accepts())) {
      if (!this.isRunning || Date.now() > until)
        throw new Error(`PostgreSQL did not start:\n${readFileSync(this.log, 'utf8').slice(-2000)}`)
      await sleep(20)
    }
  }

  get isRunning(): boolean {
    const child = this.#process
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  /**
   * A clean shutdown: connections are closed, and the standbys have received everything before it ends. If that takes longer
   * than 15 s, the server is killed.
   */
  async stop(): Promise<'stopped' | 'killed'> {
    if (!this.isRunning) return 'stopped'
    const ended = this.#ended()
    this.#process?.kill('SIGINT')
    const stopped = await Promise.race([ended.then(() => true), sleep(15_000, false, { ref: false })])
    if (stopped) return 'stopped'
    await this.kill()
    return 'killed'
  }

  /** Kills all of its processes, as when the machine fails. */
  async kill(): Promise<void> {
    if (!this.isRunning) return
    const ended = this.#ended()
    this.#signal('SIGKILL')
    await ended
  }

  /** Stops all processes without ending them: connections stay open without a response, and the kernel accepts new ones. */
  pause(): void {
    this.#signal('SIGSTOP')
  }

  resume(): void {
    this.#signal('SIGCONT')
  }

  /** CPU time of all its processes, ended and running. */
  cpuSeconds(): number {
    const pid = this.#process?.pid ?? 0
    const ticks = this.#children(pid).reduce((sum, child) => sum + cpuTicks(child, 2), cpuTicks(pid, 4))
    return ticks / ticksPerSecond
  }

  /** Promotes a standby, and resolves when it is a primary. */
  async promote(): Promise<void> {
    await withClient(this.url('postgres'), async (client) => {
      await client.query('select pg_promote(false)')
      await waitUntil(async () => !(await isInRecovery(client)))
    })
  }

  /** Resolves when a recovering server has become a primary. */
  async promoted(): Promise<void> {
    await withClient(this.url('postgres'), (client) => waitUntil(async () => !(await isInRecovery(client))))
  }

  /** Resolves when the standby has replayed everything that the primary has written so far. Throws if it is no standby. */
  async caughtUpWith(primary: PostgresNode): Promise<void> {
    const lsn = await withClient(primary.url('postgres'), async (client) => {
      const { rows } = await client.query<{ lsn: string }>('select pg_current_wal_lsn() as lsn')
      return rows[0]?.lsn
    })
    await withClient(this.url('postgres'), async (client) => {
      if (!(await isInRecovery(client))) throw new Error(`${this.data} is no standby`)
      await waitUntil(async () => {
        const { rows } = await client.query<{ reached: boolean }>(
          'select coalesce(pg_last_wal_replay_lsn() >= $1, false) as reached',
          [lsn],
        )
        return rows[0]?.reached ?? false
      })
    })
  }

  /** Stops streaming replication: the standby receives nothing that the primary writes from now on. */
  async disconnectFromPrimary(): Promise<void> {
    await withClient(this.url('postgres'), async (client) => {
      await client.query(`alter system set primary_conninfo = ''`)
      await client.query('select pg_reload_conf()')
      await waitUntil(async () => {
        const { rowCount } = await client.query('select 1 from pg_stat_wal_receiver')
        return rowCount === 0
      })
    })
  }

  /** The file with its log. */
  get log(): string {
    return `${this.data}.log`
  }

  #ended(): Promise<unknown> {
    const child = this.#process
    return new Promise((resolve) => child?.once('exit', resolve))
  }

  /** Signals the postmaster first, so that it starts no more processes. Its children have their own process groups. */
  #signal(name: NodeJS.Signals): void {
    const pid = this.#process?.pid
    if (pid === undefined || !this.isRunning) return
    for (const one of [pid, ...this.#children(pid)]) {
      try {
        process.kill(one, name)
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  #children(pid: number): number[] {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    return children.filter((child) => child !== '').map(Number)
  }

  async #accepts(): Promise<boolean> {
    try {
      await withClient(this.url('postgres'), (client) => client.query('select 1'))
      return true
    } catch {
      return false
    }
  }
}

async function isInRecovery(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ recovering: boolean }>('select pg_is_in_recovery() as recovering')
  return rows[0]?.recovering ?? true
}

/** Linux reports times in ticks of 10 ms on every platform that Node supports. */
const ticksPerSecond = 100

/** The first `count` of: user and system time of the process, and of its children that have ended. */
function cpuTicks(pid: number, count: 2 | 4): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields.slice(11, 11 + count).reduce((sum, field) => sum + Number(field), 0)
  } catch {
    // It has ended meanwhile.
    return 0
  }
}
