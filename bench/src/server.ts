import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../server/src/cli/database/temporary-postgres.ts'
import { isReady } from '../../verification/src/is-ready.ts'
import { unlimited } from '../../verification/src/service.ts'
import { cpuSecondsOf } from './cpu.ts'

const ownRoot = fileURLToPath(new URL('../../', import.meta.url))
const profiles = fileURLToPath(new URL('../out/', import.meta.url))
const readyMsMax = 30_000
const endMsMax = 20_000
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** The peak resident memory of any server process of this run, in bytes. */
let peakMemoryBytes = 0
const servers = new Set<Server>()

export function peakBytes(): number {
  for (const server of servers) server.recordMemory()
  return peakMemoryBytes
}

/** A `quartermaster serve` process whose CPU time and memory are measured. */
export class Server {
  readonly port: number
  readonly #child: ChildProcess

  private constructor(port: number, child: ChildProcess) {
    this.port = port
    this.#child = child
  }

  static async start(
    databaseUrl: string,
    folder: string,
    profile: boolean,
    environment: Record<string, string> = {},
    root = ownRoot,
  ): Promise<Server> {
    mkdirSync(profiles, { recursive: true })
    // Recommended by docs/operating/processes.md to save memory.
    const flags = ['--max-semi-space-size=16']
    if (profile) flags.push('--cpu-prof', `--cpu-prof-dir=${profiles}`)
    const program = join(root, 'server/bin/quartermaster.js')
    const server = await Server.spawn(folder, (port) => ({
      args: [...flags, program, 'serve', '--port', String(port)],
      environment: {
        DATABASE_URL: databaseUrl,
        QUARTERMASTER_LOG_LEVEL: 'warn',
        QUARTERMASTER_SHUTDOWN_DELAY_MS: '0',
        ...unlimited,
        ...environment,
      },
    }))
    servers.add(server)
    return server
  }

  /** Starts any Node program that answers `/readyz` on its port. Its memory is not that of a server. */
  static async spawn(
    folder: string,
    commandOf: (port: number) => {
      readonly args: readonly string[]
      readonly environment: Record<string, string>
    },
  ): Promise<Server> {
    const port = await freePort()
    const { args, environment } = commandOf(port)
    const log = join(folder, `server-${port}.log`)
    const out = openSync(log, 'a')
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', out, out],
    })
    closeSync(out)
    running.add(child)
    child.once('exit', () => running.delete(child))
    const until = Date.now() + readyMsMax
    while (!(await isReady(port))) {
      if (child.exitCode !== null || Date.now() > until) {
        child.kill('SIGKILL')
        throw new Error(`the server did not start:\n${readFileSync(log, 'utf8').slice(-3000)}`)
      }
      await sleep(50)
    }
    return new Server(port, child)
  }

  /** This process and its workers. */
  get pids(): number[] {
    const { pid } = this.#child
    if (pid === undefined) return []
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return [pid, ...children.split(' ').filter(Boolean).map(Number)]
  }

  /** CPU time of all its threads and workers so far. */
  cpuSeconds(): number {
    return this.pids.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0)
  }

  recordMemory(): void {
    for (const pid of this.pids) {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      peakMemoryBytes = Math.max(peakMemoryBytes, Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024)
    }
  }

  /** By SIGTERM, because a profile is written only on a regular exit. */
  async stop(): Promise<void> {
    const isServer = servers.delete(this)
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    if (isServer) this.recordMemory()
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGTERM')
    const late = setTimeout(() => this.#child.kill('SIGKILL'), endMsMax)
    await ended
    clearTimeout(late)
  }
}
