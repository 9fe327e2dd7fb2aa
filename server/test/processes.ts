import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { bin, type Environment, environmentWith } from './command.ts'
import { eventually } from './eventually.ts'

export interface LogLine {
  readonly msg: string
  readonly pid?: number
  readonly worker?: number
  readonly port?: number
  readonly adminPort?: number
  readonly [member: string]: unknown
}

/** When the test ends, kills a process that leads its own group, with all processes that it has started. */
export function killGroupAtEnd({ pid }: ChildProcess): void {
  onTestFinished(() => {
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL')
    } catch {
      // The whole process group has exited.
    }
  })
}

/** `quartermaster serve --processes N` as an operator runs it. It is killed when the test ends. */
export class Processes {
  readonly child: ChildProcess
  readonly exited: Promise<unknown[]>
  stderr = ''

  constructor(settings: Environment, args: readonly string[] = ['--processes', '2'], program = bin) {
    this.child = spawn(process.execPath, [program, 'serve', '--port', '0', ...args], {
      env: environmentWith({
        DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
        QUARTERMASTER_SHUTDOWN_DELAY_MS: '0',
        QUARTERMASTER_TRUSTED_PROXIES: '127.0.0.1',
        ...settings,
      }),
      stdio: ['ignore', 'ignore', 'pipe'],
      // In its own process group, so that the workers can be killed with it.
      detached: true,
    })
    killGroupAtEnd(this.child)
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.exited = once(this.child, 'close')
  }

  /** Waits until all workers listen. */
  static async start(settings: Environment, args?: readonly string[]): Promise<Processes> {
    const processes = new Processes(settings, args)
    await eventually(() => {
      if (processes.child.exitCode !== null) throw new Error(`it has exited:\n${processes.stderr}`)
      const lines = processes.lines('listening')
      const primary = lines.find(({ pid }) => pid === undefined)
      // The lines of the workers may arrive later than that of the primary.
      return primary !== undefined && lines.length - 1 === primary['workers']
    })
    return processes
  }

  /** The log lines of this kind. */
  lines(kind?: string): LogLine[] {
    return this.stderr
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line): LogLine => JSON.parse(line))
      .filter(({ msg }) => kind === undefined || msg === kind)
  }

  get port(): number {
    return this.lines('listening')[0]?.port ?? 0
  }

  get adminPort(): number {
    return this.lines('listening').find(({ adminPort }) => adminPort !== undefined)?.adminPort ?? 0
  }

  /** The process ids of a worker, the current one last. */
  pids(worker: number): number[] {
    return this.lines('listening').flatMap((line) =>
      line.worker === worker && line.pid !== undefined ? [line.pid] : [],
    )
  }

  /** The current process id of a worker. */
  pid(worker: number): number {
    const pid = this.pids(worker).at(-1)
    if (pid === undefined) throw new Error(`worker ${worker} has not started`)
    return pid
  }

  admin(path: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.adminPort}${path}`)
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name)
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
