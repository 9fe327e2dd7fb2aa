import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from '../src/cli/database/temporary-postgres.ts'
import { eventually } from './eventually.ts'

const binary = '/usr/sbin/pgbouncer'
export const hasPgbouncer = existsSync(binary)
if (!hasPgbouncer) process.stdout.write(`${binary} is missing: the PgBouncer tests are skipped.\n`)

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A temporary PgBouncer for the PostgreSQL in `folder`. Debian 12 has 1.18, which does not support prepared statements. */
export class TemporaryPgbouncer {
  readonly #folder: string
  readonly #child: ChildProcess
  readonly port: number

  private constructor(folder: string, child: ChildProcess, port: number) {
    this.#folder = folder
    this.#child = child
    this.port = port
  }

  static async start(
    postgres: { readonly url: string; readonly folder: string },
    users: readonly string[],
    settings: Readonly<Record<string, string>> = {},
  ): Promise<TemporaryPgbouncer> {
    const folder = mkdtempSync(join(tmpdir(), 'quartermaster-pgbouncer-'))
    const port = await freePort()
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: String(port),
      unix_socket_dir: '',
      auth_type: 'trust',
      auth_file: join(folder, 'users'),
      pool_mode: 'transaction',
      max_client_conn: '500',
      logfile: join(folder, 'log'),
      pidfile: join(folder, 'pid'),
      ...settings,
    }
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
    const { hostname, port: postgresPort } = new URL(postgres.url)
    const file = join(folder, 'pgbouncer.ini')
    writeFileSync(
      file,
      `[databases]\n* = host=${hostname} port=${postgresPort}\n[pgbouncer]\n${lines.join('\n')}\n`,
    )
    writeFileSync(all.auth_file, users.map((user) => `"${user}" ""\n`).join(''))
    // PgBouncer refuses to run as root, so it runs as the user of PostgreSQL.
    const { uid, gid } = statSync(postgres.folder)
    for (const path of [folder, file, all.auth_file]) {
      chownSync(path, uid, gid)
      chmodSync(path, 0o700)
    }
    const child = spawn(binary, [file], { uid, gid, cwd: folder, stdio: 'ignore' })
    running.add(child)
    child.once('exit', () => running.delete(child))
    const pgbouncer = new TemporaryPgbouncer(folder, child, port)
    await eventually(() => pgbouncer.#isUp(users[0] ?? 'postgres'))
    return pgbouncer
  }

  /** The URL of the same database through PgBouncer. */
  url(direct: string): string {
    const url = new URL(direct)
    url.port = String(this.port)
    return url.href
  }

  /** Closes its connections to PostgreSQL, so that new ones start with the current settings of the login. */
  async reconnect(direct: string): Promise<void> {
    const client = new pg.Client(direct)
    await client.connect()
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = 'client backend'`,
    )
    await client.end()
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = new Promise((resolve) => this.#child.once('exit', resolve))
      this.#child.kill('SIGKILL')
      await ended
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #isUp(user: string): Promise<boolean> {
    const client = new pg.Client(`postgres://${user}@127.0.0.1:${this.port}/postgres`)
    try {
      await client.connect()
      await client.end()
      return true
    } catch {
      return false
    }
  }
}
