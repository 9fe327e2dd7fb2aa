import type { Event } from './events.ts'
import { Exposition } from './exposition.ts'
import { Counter, type Instrument, ObservableInstrument } from './instruments.ts'
import type { TelemetryIdentity } from './otlp.ts'
import { ProcessMetrics } from './process-metrics.ts'
import { resourceOf } from './resource.ts'

export interface WorkerCounts {
  readonly configured: number
  readonly running: () => number
}

/** Metrics of the primary of `serve --processes`, which supervises the workers. */
export class PrimaryMetrics {
  readonly #exits = new Counter({
    name: 'quartermaster.worker.exits',
    unit: '{process}',
    description: 'Workers that exited by themselves and were replaced.',
  })
  readonly #restarts = new Counter({
    name: 'quartermaster.restarts',
    unit: '{restart}',
    description: 'Rolling restarts.',
    labels: ['outcome'],
  })
  readonly #process = new ProcessMetrics()
  /** Only those that a worker does not have. */
  readonly instruments: readonly Instrument[]
  readonly #exposition: Exposition

  constructor({ configured, running }: WorkerCounts, identity: TelemetryIdentity) {
    this.instruments = [
      this.#exits,
      this.#restarts,
      new ObservableInstrument({
        name: 'quartermaster.workers',
        unit: '{process}',
        description: 'Workers: configured, and running.',
        labels: ['state'],
        observe: () => [
          [configured, 'configured'],
          [running(), 'running'],
        ],
      }),
    ]
    this.#exposition = new Exposition(
      [...this.instruments, ...this.#process.instruments],
      resourceOf({ ...identity, worker: 'primary' }),
    )
    this.#process.start()
    this.#exits.add(0)
    for (const outcome of ['ok', 'failed']) this.#restarts.add(0, outcome)
  }

  readonly emit = (event: Event): void => {
    if (event.kind === 'worker-exited') this.#exits.add(1)
    else if (event.kind === 'restarted') this.#restarts.add(1, 'ok')
    else if (event.kind === 'restart-failed') this.#restarts.add(1, 'failed')
  }

  text(): Promise<string> {
    return this.#exposition.text()
  }

  async close(): Promise<void> {
    this.#process.stop()
    await this.#exposition.close()
  }
}
