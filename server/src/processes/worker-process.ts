import cluster, { type Worker } from 'node:cluster'
import { limits } from '../limits/limits.ts'
import { Peer, type PrimaryMethods, type WorkerMethods } from './peer.ts'

export interface WorkerExit {
  readonly exitCode: number | null
  readonly signal: string | null
}

/** A worker process, as its primary sees it. */
export class WorkerProcess {
  readonly number: number
  readonly startedAt = performance.now()
  readonly exited: Promise<WorkerExit>
  readonly peer: Peer<WorkerMethods>
  readonly #workers: number
  readonly #worker: Worker
  #isListening = false
  #hasExited = false

  constructor(
    number: number,
    workers: number,
    environment: Readonly<Record<string, string>>,
    methods: PrimaryMethods,
  ) {
    this.number = number
    this.#workers = workers
    this.#worker = cluster.fork(environment)
    this.peer = new Peer<WorkerMethods>(this.#worker, methods)
    this.exited = new Promise((resolve) => {
      this.#worker.once('exit', (exitCode: number | null, signal: string | null) => {
        this.#hasExited = true
        resolve({ exitCode, signal })
      })
    })
    // Sending to a process that has exited: `exited` reports it.
    this.#worker.on('error', () => {})
  }

  get pid(): number | undefined {
    return this.#worker.process.pid
  }

  get isRunning(): boolean {
    return !this.#hasExited
  }

  /** Resolves with the port when the worker listens, or with how it exited before. */
  async listening(listenWhenReady: boolean): Promise<{ readonly port: number } | WorkerExit> {
    const start = { worker: this.number, workers: this.#workers, listenWhenReady }
    const served = this.peer.call('serve', start, Number.POSITIVE_INFINITY)
    // If the start has failed, the process exits with its message and its exit code.
    const result = await Promise.race([served.catch(() => this.exited), this.exited])
    this.#isListening = 'port' in result
    return result
  }

  /** Waits until the process has exited. Kills it if it does not listen yet, or takes too long. */
  async end(how: 'close' | 'drain', delayMs: number): Promise<void> {
    this.peer.call(how, { delayMs }).catch(() => {})
    const killAfterMs = this.#isListening ? delayMs + limits.workerExitMsMax : 0
    const late = setTimeout(() => this.#worker.process.kill('SIGKILL'), killAfterMs)
    await this.exited
    clearTimeout(late)
  }
}
