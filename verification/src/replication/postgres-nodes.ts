import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chownSync, mkdtempSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { postgresBinaries, serverUser } from '../../../server/src/cli/database/throwaway-postgres.ts'
import type { Stoppable } from '../check.ts'
import { PostgresNode } from './postgres-node.ts'

const runProgram = promisify(execFile)

/**
 * Ends whatever server still runs in the folder, also a paused one, and removes the folder, when its input closes:
 * with `stop`, or with the process that made it, however that ends. A server is recognised by its working directory,
 * because the pid file of a killed one may name somebody else's process by now.
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

/** PostgreSQL servers in one temporary folder, made from nothing, from each other, or from a copy of files. */
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

  /** A new cluster with a system identifier of its own, not started. */
  async initialise(name: string): Promise<PostgresNode> {
    const node = await this.#node(name)
    const options = ['-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync']
    await this.run('initdb', ['-D', node.data, ...options])
    return node
  }

  /** The files of a server that is stopped, as a snapshot of its volume would hold them. Not started. */
  async copy(from: PostgresNode, name: string): Promise<PostgresNode> {
    const node = await this.#node(name)
    await this.run('cp', ['-a', from.data, node.data])
    return node
  }

  /** A standby of a server that is stopped, from its files: needs no pg_basebackup, which not every package has. */
  async copyAsStandby(from: PostgresNode, name: string): Promise<PostgresNode> {
    const node = await this.copy(from, name)
    const setting = `primary_conninfo = '${from.url('postgres')}'`
    const script = 'echo "$1" >>postgresql.auto.conf && touch standby.signal'
    await this.run('sh', ['-c', `cd "$2" && ${script}`, 'sh', setting, node.data])
    return node
  }

  /** A base backup of a running server. Not started; with `standby` it follows that server when it is. */
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

  /** Runs a program of PostgreSQL, or of the system, as the user who owns the files; what it wrote to stdout. */
  async run(program: string, args: readonly string[]): Promise<string> {
    const known = program.startsWith('pg_') || program === 'initdb' || program === 'psql'
    const path = known ? join(this.#binaries, program) : program
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
      port: port ?? (await keptPort()),
      program: join(this.#binaries, 'postgres'),
      user: this.#user,
    })
  }
}

/**
 * A port for a server that is stopped and started again: below those that the system gives to outgoing connections, one
 * of which could take it in between.
 */
async function keptPort(): Promise<number> {
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
