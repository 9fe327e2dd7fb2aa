import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pack } from '../../../../.ci/pack.ts'
import { TemporaryRedis } from '../../../../server/test/redis.ts'
import type { Stoppable } from '../../check.ts'
import { isReady } from '../../is-ready.ts'
import type { PostgresNode } from '../../replication/postgres-node.ts'
import { PostgresNodes, reusablePort } from '../../replication/postgres-nodes.ts'
import { waitUntil } from '../../wait-until.ts'
import { type Command, OnlyNode } from '../only-node.ts'
import { createCertificate } from '../programs.ts'
import { type Replacements, replaced, Shell } from './shell.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** The superuser connects without a password, all others with one. */
const hostBasedAuthentication = `local all all trust
host all postgres 127.0.0.1/32 trust
host all all 127.0.0.1/32 scram-sha-256
`

/** A machine with Node, the files of a release in a folder, PostgreSQL, Redis, and a terminal in that folder. */
export class OperatorMachine implements Stoppable {
  readonly shell: Shell
  /** The texts of the blocks that were run. */
  readonly blocksRun = new Set<string>()
  readonly postgres: PostgresNode
  readonly redis: TemporaryRedis
  /** What differs from the ports and paths in the documents. */
  readonly port: number
  readonly adminPort: number
  readonly etc: string
  readonly #node: OnlyNode
  readonly #nodes: PostgresNodes

  private constructor(
    node: OnlyNode,
    folder: string,
    nodes: PostgresNodes,
    postgres: PostgresNode,
    redis: TemporaryRedis,
    ports: readonly [number, number],
  ) {
    this.#node = node
    this.#nodes = nodes
    this.shell = new Shell(node, folder, this.blocksRun)
    this.postgres = postgres
    this.redis = redis
    ;[this.port, this.adminPort] = ports
    this.etc = join(node.folder, 'etc/quartermaster')
    mkdirSync(join(this.etc, 'tls'), { recursive: true })
    createCertificate(join(this.etc, 'tls'))
  }

  static async start(): Promise<OperatorMachine> {
    const node = new OnlyNode(nodeProgram())
    const release = node.project('release')
    pack(['server'], release)
    writeChecksums(release)
    const nodes = new PostgresNodes()
    const postgres = await nodes.initialise('main')
    await nodes.run('sh', [
      '-c',
      'printf %s "$1" >"$2"',
      'sh',
      hostBasedAuthentication,
      `${postgres.data}/pg_hba.conf`,
    ])
    await postgres.start()
    const redis = await TemporaryRedis.start()
    const ports = [await reusablePort(), await reusablePort()] as const
    return new OperatorMachine(node, release, nodes, postgres, redis, ports)
  }

  /** The folder with the files of the database server. */
  get databaseFolder(): string {
    return this.#nodes.folder
  }

  /** The replacement of the public port. */
  get onPort(): Replacements {
    return { ':8080': `:${this.port}` }
  }

  get onAdminPort(): Replacements {
    return { ':9464': `:${this.adminPort}` }
  }

  /** The replacement of a command that listens on the default port. */
  get serveOnPort(): Replacements {
    return { 'quartermaster serve': `quartermaster serve --port ${this.port}` }
  }

  /** Runs SQL as the superuser, and returns what psql prints. */
  sql(statements: string, database = 'quartermaster', replacements: Replacements = {}): Promise<string> {
    this.blocksRun.add(statements)
    const args = ['--no-psqlrc', '--set=ON_ERROR_STOP=1', this.postgres.url(database)]
    return new Promise((resolve, reject) => {
      const child = execFile('psql', args, (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(new Error(`This SQL failed:\n${statements}\n${stderr}`, { cause: error }))
      })
      child.stdin?.end(replaced(statements, replacements))
    })
  }

  /** The status of a request to the public port; 0 if the connection is refused. */
  async status(path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
    return new Promise((resolve) => {
      // fetch would not send another Host header.
      const options = { port: this.port, path, headers, agent: false }
      get(options, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      }).once('error', () => resolve(0))
    })
  }

  /** The status of a list of products of the account acme. */
  async list(key: string, query = ''): Promise<number> {
    const headers = { host: 'acme.localhost', authorization: `Bearer ${key}` }
    return this.status(`/api/v1/inventory/product${query}`, headers)
  }

  /** Runs `work` while a block that starts the service runs, then presses Ctrl-C. Its stderr is appended to the file `log`. */
  async serving<T>(
    terminal: Shell,
    block: string,
    replacements: Replacements,
    work: (log: string) => Promise<T>,
    isUp: () => Promise<boolean> = () => isReady(this.port),
  ): Promise<T> {
    const log = join(this.#node.folder, 'log')
    writeFileSync(log, '')
    const command = terminal.start(block, replacements)
    command.onStderr((text) => appendFileSync(log, text))
    let hasEnded = false
    void command.ended.then(() => (hasEnded = true))
    await waitUntil(async () => {
      if (hasEnded) throw new Error(`This block ended:\n${block}\n${command.stdout}${command.stderr}`)
      return isUp()
    }, 300_000)
    try {
      return await work(log)
    } finally {
      await pressControlC(command)
    }
  }

  async stop(): Promise<void> {
    await this.#node.stop()
    await this.redis.stop()
    await this.#nodes.stop()
  }
}

async function pressControlC(command: Command): Promise<void> {
  command.signal('SIGINT')
  await command.ended
}

function nodeProgram(): string {
  const installed = `${root}.tools/node24/node_modules/.bin/node`
  return existsSync(installed) ? installed : process.execPath
}

function writeChecksums(folder: string): void {
  const lines = readdirSync(folder).map((file) => {
    const hash = createHash('sha256').update(readFileSync(join(folder, file)))
    return `${hash.digest('hex')}  ${file}\n`
  })
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''))
}
