import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitUntil } from '../../wait-until.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { AccountKind, Acknowledged, Event, LedgerFile, LoadAccount, LoadOptions } from './messages.ts'
import { keyField } from './writers.ts'

const program = fileURLToPath(new URL('load-process.ts', import.meta.url))
const kinds: readonly AccountKind[] = ['grow', 'grow', 'probe', 'change', 'change', 'batch', 'upsert']

/** The loads that this process has started. */
let started = 0

/** The load, as the supervisor sees it. */
export class Load {
  readonly #child: ChildProcess
  readonly #events: string
  readonly #ledger: string
  /** Acknowledged creates that were sent at a fixed rate. */
  readonly acknowledged: Acknowledged[] = []
  readonly #servers: readonly string[]

  private constructor(cluster: Cluster, label: string, accounts: readonly LoadAccount[], seed: number) {
    this.#events = join(cluster.folder, `${label}.ndjson`)
    this.#ledger = join(cluster.folder, `${label}.ledger.json`)
    this.#servers = cluster.servers.map(({ name }) => name)
    const servers = cluster.servers.map(({ name, namespace }) => ({ name, address: namespace.address }))
    const options: LoadOptions = { servers, accounts, seed, events: this.#events, ledger: this.#ledger }
    const file = join(cluster.folder, `${label}.json`)
    writeFileSync(file, JSON.stringify(options))
    this.#child = spawn('ip', ['netns', 'exec', cluster.load.name, process.execPath, program, file], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child.on('message', (message: Acknowledged) => this.acknowledged.push(message))
  }

  /** Creates accounts whose names begin with `purpose` and a number, because a check may run again on the same cluster. */
  static async start(cluster: Cluster, purpose: string, seed: number): Promise<Load> {
    const label = `${purpose}${++started}`
    const accounts: LoadAccount[] = []
    for (const [at, kind] of kinds.entries()) {
      const name = `${label}-${kind}-${at}`
      accounts.push({ name, kind, key: await cluster.account(name) })
      if (kind === 'upsert')
        await cluster.command(['field', 'create', 'partner', keyField, 'text', '--unique', '--account', name])
    }
    return new Load(cluster, label, accounts, seed)
  }

  /** Waits until every server has acknowledged a create that was sent after `since`, and returns when it was. */
  async writesAgain(since: number, timeoutMs = 600_000): Promise<number> {
    let found: (number | undefined)[] = []
    await waitUntil(
      () => {
        this.#mustRun()
        found = this.#servers.map(
          (server) => this.acknowledged.find((one) => one.server === server && one.sentAt >= since)?.at,
        )
        return found.every((at) => at !== undefined)
      },
      timeoutMs,
      'a server has acknowledged no write',
    )
    return Math.max(...found.map((at) => at ?? 0))
  }

  /** The longest time without an acknowledged create between two moments, of any server. */
  longestGap(from: number, to: number): number {
    const gaps = this.#servers.map((server) => {
      const times = this.acknowledged.filter((one) => one.server === server).map(({ at }) => at)
      const inside = times.filter((at) => at >= from && at <= to).toSorted((a, b) => a - b)
      const before = times.filter((at) => at < from).at(-1) ?? from
      return inside.reduce(({ longest, last }, at) => ({ longest: Math.max(longest, at - last), last: at }), {
        longest: 0,
        last: before,
      }).longest
    })
    return Math.max(...gaps)
  }

  /** Ends all writes and reads. Every write was acknowledged, or is of unknown outcome. */
  async end(): Promise<void> {
    this.#mustRun()
    const ended = once(this.#child, 'exit')
    this.#child.send('end')
    const [code] = await ended
    if (code !== 0) throw new Error(`the load exited with ${code}`)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  events(): Event[] {
    const lines = readFileSync(this.#events, 'utf8').split('\n')
    return lines.filter((line) => line.endsWith('}')).map((line): Event => JSON.parse(line))
  }

  ledger(): LedgerFile {
    return JSON.parse(readFileSync(this.#ledger, 'utf8'))
  }

  #mustRun(): void {
    const { exitCode, signalCode } = this.#child
    if (exitCode !== null || signalCode !== null)
      throw new Error(`the load has ended with ${exitCode ?? signalCode}`)
  }
}
