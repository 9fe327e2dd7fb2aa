import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { kill, type Namespace } from './network.ts'

export interface ProgramOptions {
  readonly namespace: Namespace
  readonly command: readonly string[]
  readonly log: string
  /** Default: the user of this process. */
  readonly user?: string
  readonly environment?: Readonly<Record<string, string>>
  /**
   * Reap at once what the program leaves behind, as systemd does: not every init process of a container does so. Patroni waits
   * until the process of PostgreSQL is gone.
   */
  readonly reaps?: boolean
}

/** A program in a network namespace, which is killed and started again. `ip netns exec` and `setpriv` replace themselves by it. */
export class Program {
  readonly #options: ProgramOptions
  #child: ChildProcess | undefined

  constructor(options: ProgramOptions) {
    this.#options = options
  }

  get pid(): number | undefined {
    const pid = this.isRunning ? this.#child?.pid : undefined
    return pid !== undefined && this.#options.reaps === true ? firstChildOf(pid) : pid
  }

  get isRunning(): boolean {
    const child = this.#child
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  start(): void {
    if (this.isRunning) return
    const { namespace, command, user, environment = {}, reaps = false } = this.#options
    const log = openSync(this.#options.log, 'a')
    const as = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups']
    // Only the program itself gets the variables: LD_PRELOAD would change the others, too.
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    const inside = ['ip', 'netns', 'exec', namespace.name, ...as, 'env', ...variables, ...command]
    const [program = '', ...args] = reaps ? ['catatonit', '--', ...inside] : inside
    this.#child = spawn(program, args, { stdio: ['ignore', log, log] })
    closeSync(log)
  }

  signal(name: NodeJS.Signals): void {
    const { pid } = this
    if (pid !== undefined) kill(pid, name)
  }

  /** Sends a signal, and waits until the program has ended. */
  async end(name: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const ended = this.ended()
    this.signal(name)
    await ended
  }

  /** Waits until the program has ended. Before that, `start` does nothing. */
  async ended(): Promise<void> {
    const child = this.#child
    if (child !== undefined && this.isRunning) await once(child, 'exit')
  }
}

/** The oldest child of a process, which is the program that `catatonit` has started. */
function firstChildOf(pid: number): number | undefined {
  const file = `/proc/${pid}/task/${pid}/children`
  const [first = ''] = existsSync(file) ? readFileSync(file, 'utf8').split(' ') : []
  return first === '' ? undefined : Number(first)
}
