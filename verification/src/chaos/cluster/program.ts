import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import type { Namespace } from './network.ts'

export interface ProgramOptions {
  readonly namespace: Namespace
  readonly command: readonly string[]
  readonly log: string
  /** Default: the user of this process. */
  readonly user?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** A program in a network namespace, which is killed and started again. `ip netns exec` and `setpriv` replace themselves by it. */
export class Program {
  readonly #options: ProgramOptions
  #child: ChildProcess | undefined

  constructor(options: ProgramOptions) {
    this.#options = options
  }

  get pid(): number | undefined {
    const child = this.#child
    return child === undefined || child.exitCode !== null || child.signalCode !== null ? undefined : child.pid
  }

  get isRunning(): boolean {
    return this.pid !== undefined
  }

  start(): void {
    if (this.isRunning) return
    const { namespace, command, user, environment = {} } = this.#options
    const log = openSync(this.#options.log, 'a')
    const as = user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups']
    // Only the program itself gets the variables: LD_PRELOAD would change the others, too.
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    const args = ['netns', 'exec', namespace.name, ...as, 'env', ...variables, ...command]
    this.#child = spawn('ip', args, { stdio: ['ignore', log, log] })
    closeSync(log)
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name)
  }

  /** Sends a signal, and waits until the program has ended. */
  async end(name: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    if (child === undefined || !this.isRunning) return
    const ended = once(child, 'exit')
    child.kill(name)
    await ended
  }
}
