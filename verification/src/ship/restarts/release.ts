import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../../server/src/cli/database/temporary-postgres.ts'
import { isReady } from '../../is-ready.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const migrations = 'server/migrations'

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** One version of the service, in the folder of a checkout. */
export class Release {
  readonly name: string
  readonly migrations: readonly string[]
  readonly #folder: string
  readonly #environment: Readonly<Record<string, string>>

  constructor(name: string, folder: string, environment: Readonly<Record<string, string>>) {
    this.name = name
    this.#folder = folder
    this.#environment = environment
    this.migrations = readdirSync(join(folder, migrations)).toSorted()
  }

  /** Runs `quartermaster …` of this version until it exits, and returns its stdout. */
  async command(args: readonly string[]): Promise<string> {
    const child = this.#start(args)
    let [out, err] = ['', '']
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text))
    const code = await new Promise((resolve) => child.once('close', resolve))
    if (code === 0) return out
    throw new Error(
      `${this.name}: quartermaster ${args.join(' ')} exited with ${String(code)}:\n${err}${out}`,
    )
  }

  /** Resolves when the process is ready. */
  async serve(): Promise<ReleaseProcess> {
    const port = await freePort()
    const child = this.#start(['serve', '--port', String(port)])
    let log = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (log = `${log}${text}`.slice(-3_000)))
    }
    const serving = new ReleaseProcess(this.name, port, child)
    const until = Date.now() + 120_000
    while (!(await isReady(serving.port))) {
      if (child.exitCode !== null || Date.now() > until)
        throw new Error(`${this.name} did not become ready:\n${log}`)
      await sleep(50)
    }
    return serving
  }

  #start(args: readonly string[]): ChildProcess {
    const program = join(this.#folder, 'server/bin/quartermaster.js')
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...process.env, ...this.#environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    child.once('exit', () => running.delete(child))
    return child
  }
}

export class ReleaseProcess {
  readonly release: string
  readonly port: number
  readonly #child: ChildProcess

  constructor(release: string, port: number, child: ChildProcess) {
    this.release = release
    this.port = port
    this.#child = child
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGTERM')
    await ended
  }
}

export interface PreviousCommit {
  readonly commit: string
  /** Puts its files into `folder`, with its packages. */
  checkOut(folder: string): void
}

/**
 * The newest commit without the last migrations: as long as nothing is released, this is the version before. Its migrations must be the
 * first ones of this build. In history a migration may have come after one with a higher number. `migrate` rejects a database of a
 * commit between the two, rightly: it would apply both in another order than everywhere else. Such a commit must not be released,
 * so no database of a user is in that state. Undefined in a checkout without such a commit, such as a shallow clone.
 */
export function commitBeforeNewestMigrations(): PreviousCommit | undefined {
  try {
    const now = readdirSync(join(root, migrations)).toSorted()
    const added = git('log', '--diff-filter=A', '--format=%H', '--', `${migrations}/*.sql`).trim().split('\n')
    for (const adding of added) {
      const commit = git('rev-parse', '--verify', '--quiet', `${adding}^`).trim()
      if (isPrefix(migrationsOf(commit), now))
        return { commit, checkOut: (folder) => checkOut(commit, folder) }
    }
    return undefined
  } catch {
    return undefined
  }
}

function migrationsOf(commit: string): string[] {
  const paths = git('ls-tree', '--name-only', commit, `${migrations}/`).trim().split('\n')
  return paths.map((path) => path.slice(migrations.length + 1)).toSorted()
}

function isPrefix(first: readonly string[], all: readonly string[]): boolean {
  return first.length < all.length && first.every((name, at) => name === all[at])
}

function checkOut(commit: string, folder: string): void {
  mkdirSync(folder)
  const files = execFileSync('git', ['archive', commit], { cwd: root, maxBuffer: 256 * 1024 * 1024 })
  execFileSync('tar', ['-x', '-C', folder], { input: files })
  if (dependenciesOf(folder) === dependenciesOf(root)) linkPackages(folder)
  else execFileSync('npm', ['ci', '--omit=dev', '--loglevel=error'], { cwd: folder, stdio: 'ignore' })
}

function dependenciesOf(folder: string): string {
  const read = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), 'utf8')).dependencies
  return JSON.stringify([read('server/package.json'), read('filter/package.json')])
}

/** The installed packages of this checkout, but the workspaces of that commit. */
function linkPackages(folder: string): void {
  const workspaces = ['@quartermaster', 'quartermaster', '.bin', '.package-lock.json']
  mkdirSync(join(folder, 'node_modules/@quartermaster'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (!workspaces.includes(name))
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  }
  symlinkSync(join(folder, 'filter'), join(folder, 'node_modules/@quartermaster/filter'))
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}
