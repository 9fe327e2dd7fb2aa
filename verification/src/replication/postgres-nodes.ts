import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chownSync, mkdtempSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { postgresBinaries } from '../../../server/src/cli/database/find-postgres.ts'
import { serverUser } from '../../../server/src/cli/database/temporary-postgres.ts'
import type { Stoppable } from '../check.ts'
import { PostgresNode } from './postgres-node.ts'
import { postgresProgram } from './postgres-program.ts'

const runProgram = promisify(execFile)

/**
 * A shell script that waits until its stdin closes: by `stop`, or because the process that started it has ended, for any
 * reason. Then it ends all servers in the folder, even paused ones, and removes the folder. It checks the working directory
 * of each process, because the pid file of a killed server may name an unrelated process.
 */
const cleanUp = `
cat >/dev/null
pids=
for file in "$1"/*/postmaster.pid; do
  [ -f "$file" ] || continue
  read -r pid <"$file"
  [ "$(readlink "/proc/$pid/cwd")" = "\${file%/postmaster.pid}" ] || continue
  kill -CONT "$pid"
  kill -QUIT "$pid"
  pids="$pids $pid"
done
for pid in $pids; do
  while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
done
rm -rf "$1"
`

/** PostgreSQL servers in one temporary folder: new ones, copies and base backups. */
export class PostgresNodes implements Stoppable {
  readonly folder: string
  readonly #binaries = postgresBinaries()
  readonly #user = serverUser()
  readonly #cleaner: ChildProcess
  readonly #cleaned: Promise<unknown>

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'quartermaster-nodes-'))
    if (this.#user.uid !== undefined) chownSync(this.folder, this.#user.uid, this.#user.gid ?? this.#user.uid)
    this.#cleaner = spawn('sh', ['-c', cleanUp, 'sh', this.folder], {
      ...this.#user,
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    this.#cleaned = new Promise((resolve) => this.#cleaner.once('exit', resolve))
    this.#cleaner.unref()
  }

  /** A new cluster with its own system identifier. Not started. */
  async initialise(name: string): Promise<PostgresNode> {
    const node = await this.#node(name)
    const options = ['-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync']
    await this.run('initdb', ['-D', node.data, ...options])
    return node
  }

  /** A copy of a stopped server's files, like a volume snapshot. Not started. */
  async copy(from: PostgresNode, name: string): Promise<PostgresNode> {
    const node = await this.#node(name)
    await this.run('cp', ['-a', from.data, node.data])
    return node
  }

  /** A standby from a copy of a stopped server's files: not every package has pg_basebackup. */
  async copyAsStandby(from: PostgresNode, name: string): Promise<PostgresNode> {
    const node = await this.copy(from, name)
    const setting = `primary_conninfo = '${from.url('postgres')}'`
    const script = 'echo "$1" >>postgresql.auto.conf && touch standby.signal'
    await this.run('sh', ['-c', `cd "$2" && ${script}`, 'sh', setting, node.data])
    return node
  }

  /** A base backup of a running server. Not started. With `standby`, it replicates from that server. */
  async baseBackup(
    from: PostgresNode,
    name: string,
    options: { readonly standby?: boolean; readonly port?: number } = {},
  ): Promise<PostgresNode> {
    const node = await this.#node(name, options.port)
    await this.run('pg_basebackup', [
      '--checkpoint=fast',
      '--no-sync',
      `--pgdata=${node.data}`,
      `--dbname=${from.url('postgres')}`,
      ...(options.standby === true ? ['--write-recovery-conf'] : []),
    ])
    return node
  }

  /** Runs a program of PostgreSQL or of the system as the owner of the files, and returns its stdout. */
  async run(program: string, args: readonly string[]): Promise<string> {
    const isOfPostgres = program.startsWith('pg_') || program === 'initdb' || program === 'psql'
    const path = isOfPostgres ? postgresProgram(program, this.#binaries) : program
    const { stdout } = await runProgram(path, args, {
      ...this.#user,
      cwd: this.folder,
      maxBuffer: 256 * 1024 * 1024,
    })
    return stdout
  }

  async remove(node: PostgresNode): Promise<void> {
    await this.run('rm', ['-rf', node.data])
  }

  async stop(): Promise<void> {
    this.#cleaner.ref()
    this.#cleaner.stdin?.end()
    await this.#cleaned
  }

  async #node(name: string, port?: number): Promise<PostgresNode> {
    return new PostgresNode({
      data: join(this.folder, name),
      socketFolder: this.folder,
      port: port ?? (await reusablePort()),
      program: join(this.#binaries, 'postgres'),
      user: this.#user,
    })
  }
}

/**
 * A port for a server that is restarted. It is below the range of ephemeral ports, so that no outgoing connection takes it
 * while the server is stopped.
 */
export async function reusablePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 18_000)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
