import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  freePort,
  startTemporaryPostgres,
  type TemporaryPostgres,
} from '../../server/src/cli/database/temporary-postgres.ts'
import type { Stoppable } from './check.ts'
import { isReady } from './is-ready.ts'

const program = fileURLToPath(new URL('../../server/bin/quartermaster.js', import.meta.url))

export const allScopes =
  'product:read,product:write,partner:read,partner:create,partner:write,partner:erase,company:read,company:write,account:manage'

/** Rate limits that no check reaches: requests are still counted, but none is rejected. */
export const unlimited = {
  QUARTERMASTER_REQUESTS_PER_MINUTE: '1000000000',
  QUARTERMASTER_KEY_REQUESTS_PER_MINUTE: '1000000000',
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts the database of a `Service` with the given settings. */
export type StartDatabase = (settings: Record<string, string>) => Promise<TemporaryPostgres>

let startDatabase: StartDatabase | undefined

/** Runs `work`, whose services get their databases from `starting`. */
export async function withDatabases<T>(starting: StartDatabase, work: () => Promise<T>): Promise<T> {
  startDatabase = starting
  try {
    return await work()
  } finally {
    startDatabase = undefined
  }
}

/** A migrated temporary database with any number of server processes, set up with the commands that an operator uses. */
export class Service implements Stoppable {
  readonly postgres: TemporaryPostgres
  readonly folder: string
  readonly #databaseUrl: string
  readonly #servers: ServerProcess[] = []

  private constructor(postgres: TemporaryPostgres, databaseUrl: string) {
    this.postgres = postgres
    this.#databaseUrl = databaseUrl
    this.folder = mkdtempSync(join(tmpdir(), 'quartermaster-checks-'))
  }

  static async start(settings: Record<string, string> = {}): Promise<Service> {
    const starting = startDatabase ?? startTemporaryPostgres
    const postgres = await starting({ fsync: 'off', ...settings })
    // On a busy machine, a connection may take longer than the 3 s of the default.
    const url = new URL(postgres.url)
    url.searchParams.set('connect_timeout', '60')
    return Service.on(postgres, url.href)
  }

  /** Uses an existing database, and stops it with the service. */
  static async on(postgres: TemporaryPostgres, databaseUrl = postgres.url): Promise<Service> {
    const service = new Service(postgres, databaseUrl)
    try {
      await service.command(['migrate'])
    } catch (error) {
      await service.stop()
      throw error
    }
    return service
  }

  get environment(): Record<string, string> {
    const url = this.#databaseUrl
    return { DATABASE_URL: url, DATABASE_OWNER_URL: url, QUARTERMASTER_LOG_LEVEL: 'warn', ...unlimited }
  }

  /** Runs `quartermaster …` until it exits, and returns its stdout. */
  async command(args: readonly string[]): Promise<string> {
    const child = start(args, this.environment, ['ignore', 'pipe', 'pipe'])
    let out = ''
    let err = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    if (code !== 0) throw new Error(`quartermaster ${args.join(' ')} exited with ${code}:\n${err}${out}`)
    return out
  }

  /** Starts `quartermaster …`; the caller ends it. */
  spawn(args: readonly string[]): ChildProcess {
    return start(args, this.environment, ['ignore', 'ignore', 'ignore'])
  }

  /** Creates an account and returns a new key for it. */
  async account(name: string, scopes = allScopes): Promise<string> {
    await this.command(['account', 'create', name])
    return this.key(name, scopes)
  }

  async key(account: string, scopes = allScopes): Promise<string> {
    const out = await this.command([
      'key',
      'create',
      '--account',
      account,
      '--name',
      'verification',
      '--scopes',
      scopes,
      '--json',
    ])
    const key = /"(qm_[0-9A-Za-z]+)"/.exec(out)?.[1]
    if (key === undefined) throw new Error(`key create printed no key: ${out}`)
    return key
  }

  /** `nodeArguments` are passed to Node, before the program. */
  async serve(
    environment: Record<string, string> = {},
    nodeArguments: readonly string[] = [],
  ): Promise<ServerProcess> {
    const log = join(this.folder, `server-${this.#servers.length}.log`)
    const settings = { ...this.environment, ...environment }
    const server = new ServerProcess(await freePort(), settings, log, nodeArguments)
    this.#servers.push(server)
    await server.start()
    return server
  }

  async stop(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.kill()))
    await this.postgres.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** `quartermaster serve` on its own port, which stays the same when it is restarted. */
export class ServerProcess {
  readonly port: number
  /** The file with its stdout and stderr. */
  readonly log: string
  readonly #environment: Record<string, string>
  readonly #nodeArguments: readonly string[]
  #child: ChildProcess | undefined

  constructor(
    port: number,
    environment: Record<string, string>,
    log: string,
    nodeArguments: readonly string[] = [],
  ) {
    this.port = port
    this.log = log
    this.#environment = environment
    this.#nodeArguments = nodeArguments
  }

  async start(): Promise<void> {
    const log = openSync(this.log, 'a')
    const args = ['serve', '--port', String(this.port)]
    const child = start(args, this.#environment, ['ignore', log, log], this.#nodeArguments)
    closeSync(log)
    this.#child = child
    const until = Date.now() + 300_000
    while (!(await isReady(this.port))) {
      if (child.exitCode !== null || Date.now() > until) {
        throw new Error(`the server did not start:\n${readFileSync(this.log, 'utf8').slice(-3000)}`)
      }
      await sleep(50)
    }
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  /** Resident memory in bytes: now, and the peak since the last call with `reset`. */
  memory({ reset }: { readonly reset: boolean }): { readonly now: number; readonly peak: number } {
    const status = readFileSync(`/proc/${this.#child?.pid}/status`, 'utf8')
    const bytes = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024
    // Writing 5 resets the peak: https://docs.kernel.org/filesystems/proc.html
    if (reset) writeFileSync(`/proc/${this.#child?.pid}/clear_refs`, '5')
    return { now: bytes('VmRSS'), peak: bytes('VmHWM') }
  }

  /** SIGKILL, as when the machine fails. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  /** SIGTERM, as an operator stops it; resolves when the process has exited. */
  async terminate(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }
}

function start(
  args: readonly string[],
  environment: Record<string, string>,
  stdio: ['ignore', number | 'pipe' | 'ignore', number | 'pipe' | 'ignore'],
  nodeArguments: readonly string[] = [],
): ChildProcess {
  const child = spawn(process.execPath, [...nodeArguments, program, ...args], {
    env: { ...process.env, ...environment },
    stdio,
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}
