import { type Event, fallbackReasons } from './events.ts'
import { Counter, type Instrument, ObservableInstrument } from './instruments.ts'

/** Replicas of DATABASE_REPLICA_URLS, and those that are used now. */
export interface ReplicaCounts {
  readonly configured: number
  readonly available: number
}

/** Metrics of replicas. They have no series if there are none. */
export class ReplicaMetrics {
  readonly #reads = new Counter({
    name: 'quartermaster.replica.reads',
    unit: '{read}',
    description: 'Long lists and exports, and why the primary ran them.',
    labels: ['operation', 'server', 'reason'],
  })
  readonly instruments: readonly Instrument[]

  constructor(replicas: () => ReplicaCounts | undefined) {
    const gauge = (name: string, description: string, count: (counts: ReplicaCounts) => number) =>
      new ObservableInstrument({
        name,
        unit: '{server}',
        description,
        observe: () => {
          const counts = replicas()
          return counts === undefined ? [] : [[count(counts)]]
        },
      })
    this.instruments = [
      this.#reads,
      gauge('quartermaster.replicas', 'Replicas that are configured.', (counts) => counts.configured),
      gauge(
        'quartermaster.replicas.available',
        'Replicas that respond and have not just failed.',
        (counts) => counts.available,
      ),
    ]
  }

  /** Starts every series at 0, when the first replica was checked. */
  start(): void {
    for (const operation of ['list', 'export']) {
      this.#reads.add(0, operation, 'replica', 'none')
      for (const reason of fallbackReasons) this.#reads.add(0, operation, 'primary', reason)
    }
  }

  record({ operation, server, reason }: Extract<Event, { kind: 'replica-read' }>): void {
    this.#reads.add(1, operation, server, reason)
  }
}
