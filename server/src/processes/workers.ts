import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryCounters } from '../accounts/rate-limits/memory-counters.ts'
import { backoff } from '../backoff.ts'
import { limits } from '../limits/limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import { type WorkerExit, WorkerProcess } from './worker-process.ts'

/** One of the N workers. Its process is replaced when it exits, and by a rolling restart. */
interface Slot {
  readonly number: number
  current: WorkerProcess | undefined
  /** Exits since a process has run for `workerStableMs`. */
  exits: number
  /** Starts of processes run one after another. */
  queue: Promise<unknown>
}

export interface WorkersOptions {
  readonly count: number
  readonly shutdownDelayMs: number
  readonly emit: EmitEvent
  /** More variables of the environment of each worker. */
  readonly address: Readonly<Record<string, string>>
}

/** Supervises the worker processes. */
export class Workers {
  readonly #options: WorkersOptions
  readonly #slots: readonly Slot[]
  /** Also those that still finish their requests after a rolling restart. */
  readonly #running = new Set<WorkerProcess>()
  readonly #counters = new MemoryCounters()
  readonly #stop = new AbortController()
  #restart: Promise<void> | undefined
  #restartAgain = false

  constructor(options: WorkersOptions) {
    this.#options = options
    this.#slots = Array.from({ length: options.count }, (_, i) => ({
      number: i + 1,
      current: undefined,
      exits: 0,
      queue: Promise.resolve(),
    }))
  }

  /** The current process of each slot that has one. */
  get current(): WorkerProcess[] {
    return this.#slots.flatMap(({ current }) => (current?.isRunning === true ? [current] : []))
  }

  get isStopping(): boolean {
    return this.#stop.signal.aborted
  }

  /**
   * Starts the first worker alone: an error that prevents every start, such as a port in use, is then reported once. Resolves
   * with the port, or with how a worker exited before it listened.
   */
  async start(): Promise<{ readonly port: number } | WorkerExit> {
    const [first, ...others] = this.#slots
    let result = await this.#startIn(first, false)
    if (!('port' in result)) return result
    for (const other of await Promise.all(others.map((slot) => this.#startIn(slot, false)))) {
      if (!('port' in other)) result = other
    }
    return result
  }

  /**
   * Replaces the workers one after another. The old process of a slot stops accepting connections when the new one listens, so
   * a connection is accepted at any time. A second call during a restart starts another one after it.
   */
  restart(): Promise<void> {
    if (this.isStopping) return Promise.resolve()
    if (this.#restart !== undefined) {
      this.#restartAgain = true
      return this.#restart
    }
    this.#restart = this.#restartAll().finally(() => {
      this.#restart = undefined
    })
    return this.#restart
  }

  /** Ends all workers, and replaces none from now on. */
  async close(delayMs: number): Promise<void> {
    this.#stop.abort()
    await Promise.all([...this.#running].map((worker) => worker.end('close', delayMs)))
    await Promise.all(this.#slots.map(({ queue }) => queue))
  }

  async #restartAll(): Promise<void> {
    do {
      this.#restartAgain = false
      const startedAt = performance.now()
      this.#options.emit({ kind: 'restarting' })
      for (const slot of this.#slots) {
        const isReplaced = await this.#restartIn(slot)
        if (this.isStopping) return
        // The others would fail for the same reason, and the old ones still serve.
        if (!isReplaced) return
      }
      this.#options.emit({ kind: 'restarted', ms: Math.round(performance.now() - startedAt) })
    } while (this.#restartAgain)
  }

  async #restartIn(slot: Slot): Promise<boolean> {
    const { old, result } = await enqueue(slot, async () => {
      const before = slot.current
      return { old: before, result: await this.#startIn(slot, true) }
    })
    if (this.isStopping) return false
    if (!('port' in result)) {
      const cause = `The new process exited before it was ready (${describe(result)}).`
      this.#options.emit({ kind: 'restart-failed', worker: slot.number, cause })
      return false
    }
    if (old?.isRunning === true) await old.end('drain', this.#options.shutdownDelayMs)
    return true
  }

  /** Starts a process, which becomes the slot's current one when it listens. */
  async #startIn(
    slot: Slot | undefined,
    listenWhenReady: boolean,
  ): Promise<{ readonly port: number } | WorkerExit> {
    if (slot === undefined || this.isStopping) return { exitCode: 0, signal: null }
    const worker = new WorkerProcess(slot.number, this.#slots.length, this.#options.address, {
      count: async ({ names, amounts }) => this.#counters.add(names, amounts),
    })
    this.#running.add(worker)
    void this.#watch(slot, worker)
    const result = await worker.listening(listenWhenReady)
    if (!worker.isRunning) return worker.exited
    if ('port' in result) slot.current = worker
    return result
  }

  async #watch(slot: Slot, worker: WorkerProcess): Promise<void> {
    const exit = await worker.exited
    this.#running.delete(worker)
    if (slot.current !== worker || this.isStopping) return
    await enqueue(slot, () => this.#replace(slot, worker, exit))
  }

  /** Starts another process after one has exited on its own, and again until it listens. */
  async #replace(slot: Slot, exited: WorkerProcess, exit: WorkerExit): Promise<void> {
    // A rolling restart has replaced it already.
    if (slot.current !== exited) return
    slot.current = undefined
    if (performance.now() - exited.startedAt > limits.workerStableMs) slot.exits = 0
    let result: { readonly port: number } | WorkerExit = exit
    let pid = exited.pid
    while (!('port' in result) && !this.isStopping) {
      const delayMs = backoff(++slot.exits, limits.workerBackoffMsMin, limits.workerBackoffMsMax)
      const { exitCode, signal } = result
      const { emit } = this.#options
      emit({ kind: 'worker-exited', worker: slot.number, workerPid: pid, exitCode, signal, delayMs })
      await sleep(delayMs, undefined, { signal: this.#stop.signal }).catch(() => {})
      result = await this.#startIn(slot, false)
      pid = undefined
    }
  }
}

function enqueue<T>(slot: Slot, task: () => Promise<T>): Promise<T> {
  const done = slot.queue.then(task)
  slot.queue = done.catch(() => {})
  return done
}

function describe({ exitCode, signal }: WorkerExit): string {
  return signal === null ? `exit code ${exitCode}` : `signal ${signal}`
}
