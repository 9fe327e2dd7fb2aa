import { errorTitles } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { withTimeout } from '../timeout.ts'
import { countSteps, type Event, type PoolName, sources, stopReasons } from './events.ts'
import { Exposition, type OtlpMetricsOptions } from './exposition.ts'
import { Counter, Histogram, type Instrument, ObservableInstrument } from './instruments.ts'
import type { TelemetryIdentity } from './otlp.ts'
import { ProcessMetrics } from './process-metrics.ts'
import { type ReplicaCounts, ReplicaMetrics } from './replica-metrics.ts'
import { resourceOf } from './resource.ts'

/** State that is read at scrape time, because no event reports it. */
export interface ObservedState {
  readonly pools: () => readonly {
    pool: PoolName
    max: number
    open: number
    idle: number
    waiting: number
  }[]
  /** Undefined without replicas. */
  readonly replicas: () => ReplicaCounts | undefined
  readonly verificationsWaiting: () => number
  readonly feedWaiters: () => number
  readonly backgroundCounts: () => number
  /** Rejects if the process cannot serve requests. */
  readonly ready: () => Promise<unknown>
  readonly logLinesDropped: () => number
}

/** Seconds. The boundaries of the semantic conventions start at 5 ms; most responses take less. */
const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500]
const poolLabel = 'db.client.connection.pool.name'

/** Other methods are reported as `_OTHER`, as in the semantic conventions. */
const methods = new Set(['GET', 'HEAD', 'QUERY', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Metrics for Prometheus and OTLP, from events. Label values come from closed lists, so that their number does not grow with accounts. */
export class Metrics {
  readonly #requests = new Histogram({
    name: 'http.server.request.duration',
    unit: 's',
    description: 'Duration of HTTP requests.',
    labels: ['http.request.method', 'http.route', 'http.response.status_code'],
    boundaries: durations,
  })
  readonly #errors = new Counter({
    name: 'quartermaster.rejections',
    unit: '{request}',
    description: 'Error responses, including invalid HTTP.',
    labels: ['code'],
  })
  readonly #reads = new Counter({
    name: 'quartermaster.reads',
    unit: '{response}',
    description: 'Responses with lists and records.',
    labels: ['source'],
  })
  readonly #verifications = new Histogram({
    name: 'quartermaster.key_verification.duration',
    unit: 's',
    description: 'Time until a key is verified.',
    boundaries: durations,
  })
  readonly #verificationBatches = new Histogram({
    name: 'quartermaster.key_verification.batch.size',
    unit: '{request}',
    description: 'Keys verified by one statement.',
    boundaries: sizes,
  })
  readonly #statements = new Histogram({
    name: 'db.client.operation.duration',
    unit: 's',
    description: 'Duration of statements, until the last row.',
    labels: ['db.operation.name', 'outcome'],
    boundaries: durations,
  })
  readonly #acquisitions = new Histogram({
    name: 'db.client.connection.wait_time',
    unit: 's',
    description: 'Time to acquire a connection.',
    labels: [poolLabel],
    boundaries: durations,
  })
  readonly #brokenConnections = new Counter({
    name: 'quartermaster.connections.broken',
    unit: '{connection}',
    description: 'Broken connections to the database.',
  })
  readonly #primaryChanges = new Counter({
    name: 'quartermaster.primary.changes',
    unit: '{change}',
    description: 'Changes of the primary: failovers, restarts and restores.',
  })
  readonly #truncatedExports = new Counter({
    name: 'quartermaster.exports.truncated',
    unit: '{export}',
    description: 'Exports that failed, unless the client disconnected.',
  })
  readonly #unlogged = new Counter({
    name: 'quartermaster.requests.unlogged',
    unit: '{request}',
    description: "Requests missing from their account's request log.",
  })
  readonly #uncounted = new Counter({
    name: 'quartermaster.requests.uncounted',
    unit: '{request}',
    description: "Requests missing from their account's usage.",
  })
  readonly #droppedSpans = new Counter({
    name: 'quartermaster.spans.dropped',
    unit: '{span}',
    description: 'Spans that the collector did not accept.',
  })
  readonly #deliveries = new Histogram({
    name: 'quartermaster.webhooks.delivery.duration',
    unit: 's',
    description: 'Duration of requests to receivers.',
    labels: ['outcome'],
    boundaries: durations,
  })
  readonly #stoppedWebhooks = new Counter({
    name: 'quartermaster.webhooks.stopped',
    unit: '{webhook}',
    description: 'Webhooks that were paused or disabled.',
    labels: ['code'],
  })
  readonly #failedSweeps = new Counter({
    name: 'quartermaster.webhooks.sweeps.failed',
    unit: '{sweep}',
    description: 'Failures to find or store deliveries.',
  })
  readonly #backgroundCounts = new Counter({
    name: 'quartermaster.background_counts',
    unit: '{count}',
    description: 'Totals and summaries counted in the background: started, finished or failed.',
    labels: ['step'],
  })
  /** Undefined without REDIS_URL. */
  #isRateShared: boolean | undefined
  readonly #rateLimitsShared = new ObservableInstrument({
    name: 'quartermaster.rate_limits.shared',
    unit: '{process}',
    description: '1 while rate limits are shared, 0 while Redis is unavailable.',
    observe: () => (this.#isRateShared === undefined ? [] : [[this.#isRateShared ? 1 : 0]]),
  })
  readonly #replicas: ReplicaMetrics
  readonly #process = new ProcessMetrics()
  readonly instruments: readonly Instrument[]
  readonly #exposition: Exposition

  constructor(state: ObservedState, identity: TelemetryIdentity, otlp?: OtlpMetricsOptions) {
    this.#replicas = new ReplicaMetrics(state.replicas)
    this.instruments = [
      this.#requests,
      this.#errors,
      this.#reads,
      this.#verifications,
      this.#verificationBatches,
      this.#statements,
      this.#acquisitions,
      this.#brokenConnections,
      this.#primaryChanges,
      this.#truncatedExports,
      this.#unlogged,
      this.#uncounted,
      this.#droppedSpans,
      this.#rateLimitsShared,
      this.#deliveries,
      this.#stoppedWebhooks,
      this.#failedSweeps,
      this.#backgroundCounts,
      ...this.#replicas.instruments,
      ...stateInstruments(state),
      ...this.#process.instruments,
    ]
    this.#exposition = new Exposition(this.instruments, resourceOf(identity), otlp)
    this.#process.start()
    // Starts every series at 0: rate() does not see the first increment of a series that starts with it.
    this.#brokenConnections.add(0)
    this.#primaryChanges.add(0)
    this.#droppedSpans.add(0)
    this.#truncatedExports.add(0)
    this.#unlogged.add(0)
    this.#uncounted.add(0)
    this.#failedSweeps.add(0)
    for (const step of countSteps) this.#backgroundCounts.add(0, step)
    for (const reason of stopReasons) this.#stoppedWebhooks.add(0, reason)
    for (const code of Object.keys(errorTitles)) this.#errors.add(0, code)
    for (const source of sources) this.#reads.add(0, source)
  }

  readonly emit = (event: Event): void => {
    switch (event.kind) {
      case 'request-completed': {
        const method = methods.has(event.method) ? event.method : '_OTHER'
        this.#requests.record(event.ms / 1000, method, event.route, String(event.status))
        const { code, verificationMs } = event.context ?? {}
        if (code !== undefined) this.#errors.add(1, code)
        if (event.source !== undefined) this.#reads.add(1, event.source)
        if (verificationMs !== undefined) this.#verifications.record(verificationMs / 1000)
        return
      }
      case 'request-unreadable':
        this.#errors.add(1, event.code)
        return
      case 'requests-rejected':
        this.#errors.add(event.count, 'overloaded')
        return
      case 'rate-limits-shared':
      case 'rate-limits-local':
        this.#isRateShared = event.kind === 'rate-limits-shared'
        return
      case 'keys-verified':
        this.#verificationBatches.record(event.keys)
        return
      case 'statement-ended':
        this.#statements.record(event.ms / 1000, event.operation, event.failed ? 'failed' : 'ok')
        return
      case 'connection-acquired':
        this.#acquisitions.record(event.ms / 1000, event.pool)
        return
      case 'connection-broken':
        this.#brokenConnections.add(1)
        return
      case 'primary-changed':
        this.#primaryChanges.add(1)
        return
      case 'replica-read':
        this.#replicas.record(event)
        return
      case 'replica-available':
      case 'replica-unavailable':
        this.#replicas.start()
        return
      case 'spans-dropped':
        this.#droppedSpans.add(event.spans)
        return
      case 'export-truncated':
        this.#truncatedExports.add(1)
        return
      case 'requests-unlogged':
        this.#unlogged.add(event.count)
        return
      case 'requests-uncounted':
        this.#uncounted.add(event.count)
        return
      case 'webhook-sent':
        this.#deliveries.record(event.ms / 1000, event.outcome)
        return
      case 'webhook-stopped':
        this.#stoppedWebhooks.add(1, event.reason)
        return
      case 'webhook-sweep-failed':
      case 'deletion-failed':
      case 'settings-read':
      case 'settings-rejected':
        this.#failedSweeps.add(1)
        return
      case 'background-count-started':
        this.#backgroundCounts.add(1, 'started')
        return
      case 'background-count-ended':
        this.#backgroundCounts.add(1, event.failed ? 'failed' : 'finished')
        return
      case 'activity-unwritten':
      case 'values-unwritten':
      case 'delivering':
      case 'listening':
      case 'stopping':
      case 'stopped':
      case 'worker-exited':
      case 'restarting':
      case 'restarted':
      case 'restart-failed':
      case 'notify-failed':
      case 'request-failed':
      case 'metrics-unsent':
        return
      default:
        event satisfies never
    }
  }

  /** In the format of Prometheus. */
  text(): Promise<string> {
    return this.#exposition.text()
  }

  async close(): Promise<void> {
    this.#process.stop()
    await this.#exposition.close()
  }
}

function stateInstruments({
  pools,
  verificationsWaiting,
  feedWaiters,
  backgroundCounts,
  ready,
  logLinesDropped,
}: ObservedState): ObservableInstrument[] {
  return [
    new ObservableInstrument({
      name: 'db.client.connection.count',
      unit: '{connection}',
      description: 'Open connections of the pool, used and idle.',
      labels: [poolLabel, 'db.client.connection.state'],
      observe: () =>
        pools().flatMap(({ pool, open, idle }) => [
          [open - idle, pool, 'used'],
          [idle, pool, 'idle'],
        ]),
    }),
    new ObservableInstrument({
      name: 'db.client.connection.max',
      unit: '{connection}',
      description: 'Maximum connections of the pool.',
      labels: [poolLabel],
      observe: () => pools().map(({ pool, max }) => [max, pool]),
    }),
    new ObservableInstrument({
      name: 'db.client.connection.pending_requests',
      unit: '{request}',
      description: 'Requests waiting for a connection; of pipelined, statements queued.',
      labels: [poolLabel],
      observe: () => pools().map(({ pool, waiting }) => [waiting, pool]),
    }),
    new ObservableInstrument({
      name: 'quartermaster.key_verification.waiting',
      unit: '{request}',
      description: 'Requests waiting until their key is verified.',
      observe: () => [[verificationsWaiting()]],
    }),
    new ObservableInstrument({
      name: 'quartermaster.feed.waiters',
      unit: '{client}',
      description: 'Long polls and streams that wait for changes.',
      observe: () => [[feedWaiters()]],
    }),
    new ObservableInstrument({
      name: 'quartermaster.background_counts.running',
      unit: '{count}',
      description: 'Totals and summaries being counted.',
      observe: () => [[backgroundCounts()]],
    }),
    new ObservableInstrument({
      name: 'quartermaster.ready',
      unit: '{process}',
      description: '1 while /readyz responds with 200, otherwise 0.',
      observe: async () => [[(await isReadySoon(ready)) ? 1 : 0]],
    }),
    new ObservableInstrument({
      name: 'quartermaster.log.dropped',
      unit: '{line}',
      description: 'Log lines that were not read fast enough.',
      kind: 'counter',
      observe: () => [[logLinesDropped()]],
    }),
  ]
}

/** With a timeout: a database that does not respond must not delay the other metrics of the scrape. */
async function isReadySoon(ready: () => Promise<unknown>): Promise<boolean> {
  try {
    await withTimeout(limits.adminReadyMsMax, ready(), () => new Error('The readiness check timed out.'))
    return true
  } catch {
    return false
  }
}
