import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Stoppable } from '../check.ts'

/** Ends a command that hangs. No step relies on it. */
const minutesMax = 30

/**
 * The environment of a new user: an empty folder, one version of Node with npm, and nothing of this checkout on PATH.
 * Commands are run as the user types them, by bash.
 */
export class OnlyNode implements Stoppable {
  readonly folder: string
  readonly version: string
  readonly #running = new Set<ChildProcess>()

  constructor(node: string) {
    this.folder = mkdtempSync(join(tmpdir(), 'quartermaster-only-node-'))
    // If this is root, PostgreSQL runs as another user, whose files are in `tmp`.
    chmodSync(this.folder, 0o755)
    for (const name of ['bin', 'tmp', 'var-cache']) mkdirSync(join(this.folder, name))
    chmodSync(join(this.folder, 'tmp'), 0o1777)
    symlinkSync(node, join(this.folder, 'bin/node'))
    for (const name of ['npm', 'npx']) {
      const found = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
      symlinkSync(found, join(this.folder, 'bin', name))
    }
    process.once('exit', () => this.#clean())
    this.version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1)
  }

  project(name: string): string {
    const folder = join(this.folder, name)
    mkdirSync(folder)
    return folder
  }

  /** Starts a command in its own process group. With `hide`, the machine seems to have no PostgreSQL. */
  start(command: string, cwd: string, environment: Record<string, string> = {}, hide = false): Command {
    const [program, ...args] = [...(hide ? this.#withoutPostgres() : []), 'bash', '-ec', command]
    const child = spawn(program, args, {
      cwd,
      env: { ...this.#environment(), ...environment },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#running.add(child)
    const timer = setTimeout(() => this.#kill(child), minutesMax * 60_000)
    child.once('close', () => clearTimeout(timer))
    return new Command(command, child)
  }

  /** Runs a command to its end and returns what it wrote to stdout. */
  async run(command: string, cwd: string, environment: Record<string, string> = {}): Promise<string> {
    const started = this.start(command, cwd, environment)
    const code = await started.ended
    if (code !== 0) throw new Error(`${command} exited with ${code}:\n${started.stdout}${started.stderr}`)
    return started.stdout
  }

  async stop(): Promise<void> {
    this.#clean()
  }

  /** Synchronous, because it also runs when the process exits. */
  #clean(): void {
    for (const child of this.#running) this.#kill(child)
    rmSync(this.folder, { recursive: true, force: true })
  }

  #kill(child: ChildProcess): void {
    const isRunning = child.exitCode === null && child.signalCode === null
    if (isRunning && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }

  /** A mount namespace in which Debian's PostgreSQL, its user and root's cache folder are not visible. */
  #withoutPostgres(): string[] {
    const passwd = join(this.folder, 'passwd')
    const users = readFileSync('/etc/passwd', 'utf8').split('\n')
    writeFileSync(passwd, users.filter((line) => !line.startsWith('postgres:')).join('\n'))
    const script = `
      [ ! -d /usr/lib/postgresql ] || mount -t tmpfs tmpfs /usr/lib/postgresql
      mount --bind '${passwd}' /etc/passwd
      mount --bind '${join(this.folder, 'var-cache')}' /var/cache
      exec "$@"`
    return ['unshare', '--mount', 'sh', '-ec', script, 'sh']
  }

  #environment(): Record<string, string> {
    const passed = Object.entries(process.env).filter(
      ([name]) => !/^(?:npm_|NODE$|NODE_(?:ENV|OPTIONS|PATH)$|DATABASE_|QUARTERMASTER_|PATH$)/.test(name),
    )
    return {
      ...Object.fromEntries(passed.map(([name, value]) => [name, value ?? ''])),
      PATH: `${join(this.folder, 'bin')}:/usr/local/bin:/usr/bin:/bin`,
      // npm would ask the registry for each of a hundred packages that it has in its cache: minutes if it responds slowly.
      npm_config_prefer_offline: 'true',
      TMPDIR: join(this.folder, 'tmp'),
    }
  }
}

/** Why PostgreSQL cannot be hidden on this machine; undefined if it can. */
export function whyNotHidden(): string | undefined {
  if (!existsSync('/usr/bin/unshare')) return 'unshare is not installed (apt-get install util-linux)'
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'unshare --mount needs root'
  }
}

export class Command {
  readonly ended: Promise<number | null>
  readonly #child: ChildProcess
  readonly #text: string
  stdout = ''
  stderr = ''

  constructor(text: string, child: ChildProcess) {
    this.#text = text
    this.#child = child
    child.stdout?.setEncoding('utf8').on('data', (part: string) => (this.stdout += part))
    child.stderr?.setEncoding('utf8').on('data', (part: string) => (this.stderr += part))
    this.ended = new Promise((resolve) => child.once('close', resolve))
  }

  /** Waits until stdout contains the pattern. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    let ended = false
    void this.ended.then(() => (ended = true))
    for (;;) {
      const found = pattern.exec(this.stdout)
      if (found !== null) return found
      if (ended)
        throw new Error(`${this.#text} ended before it printed ${pattern}:\n${this.stdout}${this.stderr}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  onStderr(listener: (text: string) => void): void {
    this.#child.stderr?.on('data', listener)
  }

  /** As a terminal does: to all processes of the command. */
  signal(signal: 'SIGINT' | 'SIGTERM'): void {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal)
  }

  closeStdin(): void {
    this.#child.stdin?.end()
  }
}
