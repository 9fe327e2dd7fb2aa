import type { IncomingMessage, ServerResponse } from 'node:http'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { errorTitles } from '../errors.ts'
import { limits } from '../limits.ts'
import { withTimeout } from '../timeout.ts'
import { type Event, type PoolName, sources } from './events.ts'
import { Counter, Histogram, type Instrument, Observed } from './instruments.ts'
import { ProcessState } from './process-metrics.ts'
import { resource } from './resource.ts'

/** What can only be looked at, not told: asked whenever the metrics are. */
export interface States {
  readonly pools: () => readonly {
    pool: PoolName
    max: number
    open: number
    idle: number
    waiting: number
  }[]
  readonly checksWaiting: () => number
  /** Throws where requests cannot be answered. */
  readonly ready: () => Promise<unknown>
  readonly logLinesDropped: () => number
}

/** Seconds. The conventions' own begin at 5 ms, where most of our answers are done. */
const durations = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500]
const poolLabel = 'db.client.connection.pool.name'

/** As the conventions have it: methods beyond the usual are one. */
const methods = new Set(['GET', 'HEAD', 'QUERY', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Counts what it is told, and shows it to Prometheus. Its labels come from closed lists: no account is in them. */
export class Metrics {
  readonly #requests = new Histogram(
    {
      name: 'http.server.request.duration',
      unit: 's',
      description: 'Requests answered, by time.',
      labels: ['http.request.method', 'http.route', 'http.response.status_code'],
    },
    durations,
  )
  readonly #refusals = new Counter({
    name: 'quartermaster.refusals',
    unit: '{request}',
    description: 'Requests answered with an error, by its code.',
    labels: ['code'],
  })
  readonly #responseCache = new Counter({
    name: 'quartermaster.reads',
    unit: '{answer}',
    description:
      'Lists and records answered: kept ready, read from the database, joined to a read under way, or unchanged (304).',
    labels: ['source'],
  })
  readonly #keyVerifier = new Histogram(
    {
      name: 'quartermaster.key_verification.duration',
      unit: 's',
      description: 'The check of key and version, as a request waits for it.',
    },
    durations,
  )
  readonly #batches = new Histogram(
    {
      name: 'quartermaster.key_verification.batch.size',
      unit: '{request}',
      description: 'Requests whose check went in one statement.',
    },
    sizes,
  )
  readonly #statements = new Histogram(
    {
      name: 'db.client.operation.duration',
      unit: 's',
      description: 'Statements, from sending to the last row, by what they are for.',
      labels: ['db.operation.name', 'outcome'],
    },
    durations,
  )
  readonly #connecting = new Histogram(
    {
      name: 'db.client.connection.wait_time',
      unit: 's',
      description: 'Waiting for a connection of the pool.',
      labels: [poolLabel],
    },
    durations,
  )
  readonly #broken = new Counter({
    name: 'quartermaster.connections.broken',
    unit: '{connection}',
    description: 'Connections to the database that broke.',
  })
  readonly #primaryChanges = new Counter({
    name: 'quartermaster.primary.changes',
    unit: '{change}',
    description: 'Times that another server answered as the primary, and all connections were opened anew.',
  })
  readonly #cut = new Counter({
    name: 'quartermaster.exports.truncated',
    unit: '{export}',
    description: 'Exports that could not be finished, but for readers who went away.',
  })
  readonly #unlogged = new Counter({
    name: 'quartermaster.requests.unlogged',
    unit: '{request}',
    description: "Requests that are missing from their account's own log: more came than could be written.",
  })
  readonly #uncounted = new Counter({
    name: 'quartermaster.requests.uncounted',
    unit: '{request}',
    description: "Requests that are missing from their account's usage: it could not be written.",
  })
  readonly #lostSpans = new Counter({
    name: 'quartermaster.spans.dropped',
    unit: '{span}',
    description: 'Spans that the collector of traces did not take.',
  })
  /** Known where there is a Redis to share them through. */
  #ratesShared: boolean | undefined
  readonly #rateLimiter = new Observed(
    {
      name: 'quartermaster.rate_limits.shared',
      unit: '{process}',
      description:
        '1 where rate limits are counted together with the other processes, 0 where Redis is away.',
    },
    'state',
    () => (this.#ratesShared === undefined ? [] : [[this.#ratesShared ? 1 : 0]]),
  )
  readonly #process = new ProcessState()
  readonly instruments: readonly Instrument[]
  readonly #exporter: PrometheusExporter
  readonly #provider: MeterProvider

  constructor(states: States) {
    this.instruments = [
      this.#requests,
      this.#refusals,
      this.#responseCache,
      this.#keyVerifier,
      this.#batches,
      this.#statements,
      this.#connecting,
      this.#broken,
      this.#primaryChanges,
      this.#cut,
      this.#unlogged,
      this.#uncounted,
      this.#lostSpans,
      this.#rateLimiter,
      ...stateInstruments(states),
      ...this.#process.instruments,
    ]
    this.#exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true })
    this.#provider = new MeterProvider({
      resource,
      readers: [this.#exporter],
      views: [{ instrumentName: '*', aggregationCardinalityLimit: limits.metricSeriesMax }],
    })
    const meter = this.#provider.getMeter('quartermaster')
    for (const instrument of this.instruments) instrument.register(meter)
    this.#process.start()
    // A series that begins with its first error has no rate before the second.
    this.#broken.add(0)
    this.#primaryChanges.add(0)
    this.#lostSpans.add(0)
    this.#cut.add(0)
    this.#unlogged.add(0)
    this.#uncounted.add(0)
    for (const code of Object.keys(errorTitles)) this.#refusals.add(0, code)
    for (const source of sources) this.#responseCache.add(0, source)
  }

  /** What subscribes. */
  readonly emit = (event: Event): void => {
    switch (event.kind) {
      case 'request-completed': {
        const method = methods.has(event.method) ? event.method : '_OTHER'
        this.#requests.record(event.ms / 1000, method, event.route, String(event.status))
        const { code, checkMs } = event.context ?? {}
        if (code !== undefined) this.#refusals.add(1, code)
        if (event.source !== undefined) this.#responseCache.add(1, event.source)
        if (checkMs !== undefined) this.#keyVerifier.record(checkMs / 1000)
        return
      }
      case 'request-unreadable':
        this.#refusals.add(1, event.code)
        return
      case 'requests-refused':
        this.#refusals.add(event.count, 'overloaded')
        return
      case 'rate-limits-shared':
      case 'rate-limits-local':
        this.#ratesShared = event.kind === 'rate-limits-shared'
        return
      case 'keys-verified':
        this.#batches.record(event.keys)
        return
      case 'statement-ended':
        this.#statements.record(event.ms / 1000, event.operation, event.failed ? 'failed' : 'ok')
        return
      case 'connection-acquired':
        this.#connecting.record(event.ms / 1000, event.pool)
        return
      case 'connection-broken':
        this.#broken.add(1)
        return
      case 'primary-changed':
        this.#primaryChanges.add(1)
        return
      case 'spans-dropped':
        this.#lostSpans.add(event.spans)
        return
      case 'export-truncated':
        this.#cut.add(1)
        return
      case 'requests-unlogged':
        this.#unlogged.add(event.count)
        return
      case 'requests-uncounted':
        this.#uncounted.add(event.count)
        return
      case 'activity-unwritten':
      case 'listening':
      case 'stopping':
      case 'stopped':
      case 'request-failed':
        return
      default:
        event satisfies never
    }
  }

  /** Answers a request for /metrics. */
  show(request: IncomingMessage, response: ServerResponse): void {
    this.#exporter.getMetricsRequestHandler(request, response)
  }

  async close(): Promise<void> {
    this.#process.stop()
    await this.#provider.shutdown()
  }
}

function stateInstruments({ pools, checksWaiting, ready, logLinesDropped }: States): Observed[] {
  return [
    new Observed(
      {
        name: 'db.client.connection.count',
        unit: '{connection}',
        description: 'Connections of the pool, in use and idle.',
        labels: [poolLabel, 'db.client.connection.state'],
      },
      'state',
      () =>
        pools().flatMap(({ pool, open, idle }) => [
          [open - idle, pool, 'used'],
          [idle, pool, 'idle'],
        ]),
    ),
    new Observed(
      {
        name: 'db.client.connection.max',
        unit: '{connection}',
        description: 'Connections that the pool may have.',
        labels: [poolLabel],
      },
      'state',
      () => pools().map(({ pool, max }) => [max, pool]),
    ),
    new Observed(
      {
        name: 'db.client.connection.pending_requests',
        unit: '{request}',
        description: 'Requests that wait for a connection of the pool.',
        labels: [poolLabel],
      },
      'state',
      () => pools().map(({ pool, waiting }) => [waiting, pool]),
    ),
    new Observed(
      {
        name: 'quartermaster.key_verification.waiting',
        unit: '{request}',
        description: 'Requests that wait for their check.',
      },
      'state',
      () => [[checksWaiting()]],
    ),
    new Observed(
      {
        name: 'quartermaster.ready',
        unit: '{process}',
        description:
          '1 where /readyz would answer 200, else 0: stopping, or the database is away or not migrated.',
      },
      'state',
      async () => [[(await isReadySoon(ready)) ? 1 : 0]],
    ),
    new Observed(
      {
        name: 'quartermaster.log.dropped',
        unit: '{line}',
        description: 'Lines of the log that nobody took in time.',
      },
      'count',
      () => [[logLinesDropped()]],
    ),
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
