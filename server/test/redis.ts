import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openRedis } from '../src/accounts/rate-limits/redis-connection.ts'
import { freePort } from '../src/cli/database/temporary-postgres.ts'

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A temporary redis-server without persistence, on the same port after a restart. */
export class TemporaryRedis {
  readonly port: number
  readonly #folder = mkdtempSync(join(tmpdir(), 'quartermaster-redis-'))
  readonly url: string
  readonly #settings: readonly string[]
  #child: ChildProcess | undefined

  private constructor(port: number, url: string, settings: readonly string[]) {
    this.port = port
    this.url = url
    this.#settings = settings
  }

  static async start(): Promise<TemporaryRedis> {
    const port = await freePort()
    const redis = new TemporaryRedis(port, `redis://127.0.0.1:${port}`, ['--port', String(port)])
    await redis.start()
    return redis
  }

  /** Accepts only TLS connections with a client certificate. `parameters` are those of the URL, with such a certificate. */
  static async startTls(
    files: { readonly ca: string; readonly cert: string; readonly key: string },
    parameters: string,
  ): Promise<TemporaryRedis> {
    const port = await freePort()
    const settings = ['--port', '0', '--tls-port', String(port), '--tls-ca-cert-file', files.ca]
    const identity = ['--tls-cert-file', files.cert, '--tls-key-file', files.key]
    const url = `rediss://localhost:${port}?${parameters}`
    const redis = new TemporaryRedis(port, url, [...settings, ...identity])
    await redis.start()
    return redis
  }

  async start(): Promise<void> {
    const settings = [...this.#settings, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    const child = spawn('redis-server', settings, { cwd: this.#folder, stdio: 'ignore' })
    this.#child = child
    running.add(child)
    child.once('exit', () => running.delete(child))
    const failed = new Promise<never>((_, reject) => {
      child.once('error', (cause) => reject(new Error('redis-server cannot be started', { cause })))
    })
    await Promise.race([this.#isUp(), failed])
  }

  /** SIGKILL, as in a crash. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  /** Stops responding; connections stay open. */
  pause(): void {
    this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    this.#child?.kill('SIGCONT')
  }

  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #isUp(): Promise<void> {
    const client = openRedis(this.url, { retryStrategy: () => 20, maxRetriesPerRequest: null })
    client.on('error', () => {})
    try {
      await Promise.race([
        client.ping(),
        sleep(120_000, undefined, { ref: false }).then(() => Promise.reject(new Error('no Redis'))),
      ])
    } finally {
      client.disconnect()
    }
  }
}
