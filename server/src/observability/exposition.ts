import { ExportResultCode, parseKeyPairsIntoRecord } from '@opentelemetry/core'
import {
  AggregationTemporalityPreference,
  OTLPMetricExporter,
} from '@opentelemetry/exporter-metrics-otlp-http'
import { PrometheusExporter, PrometheusSerializer } from '@opentelemetry/exporter-prometheus'
import type { Resource } from '@opentelemetry/resources'
import {
  MeterProvider,
  type MetricReader,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics'
import { limits } from '../limits/limits.ts'
import { withTimeout } from '../timeout.ts'
import type { EmitEvent } from './events.ts'
import { type Instrument, prometheusName } from './instruments.ts'
import type { OtlpTarget } from './otlp.ts'
import { scraping } from './process-metrics.ts'

export interface OtlpMetricsOptions {
  readonly target: OtlpTarget
  readonly intervalMs: number
  /** Whether `/metrics` is served, too. Then values must be cumulative, whatever the operator prefers for OTLP. */
  readonly isScraped: boolean
  /** Receives `metrics-unsent`. */
  readonly emit: EmitEvent
}

/**
 * Registers instruments, writes their values in the text format of Prometheus, and sends them over OTLP. Both use one reader:
 * OpenTelemetry stores every value for a reader until it collects, so a second one that is never used would fill the memory.
 */
export class Exposition {
  readonly #reader: MetricReader
  /** Every series has the `worker` of the resource as a label, if there is one. */
  readonly #serializer = new PrometheusSerializer(undefined, false, /^worker$/, false, true)
  readonly #provider: MeterProvider

  constructor(instruments: readonly Instrument[], resource: Resource, otlp?: OtlpMetricsOptions) {
    this.#reader =
      otlp === undefined ? new PrometheusExporter({ preventServerStart: true }) : pushReader(otlp)
    this.#provider = new MeterProvider({
      resource,
      readers: [this.#reader],
      views: [{ instrumentName: '*', aggregationCardinalityLimit: limits.metricSeriesMax }],
    })
    const meter = this.#provider.getMeter('quartermaster')
    for (const instrument of instruments) instrument.register(meter)
  }

  /** In the format of Prometheus. */
  async text(): Promise<string> {
    const { resourceMetrics } = await scraping.run(true, () => this.#reader.collect())
    return this.#serializer.serialize(withPrometheusNames(resourceMetrics))
  }

  /** Sends the last values over OTLP. A collector that does not respond must not delay the end of the process. */
  async close(): Promise<void> {
    const timedOut = () => new Error('The metrics collector did not respond.')
    await withTimeout(limits.metricExportMsMax, this.#provider.shutdown(), timedOut).catch(() => {})
  }
}

/** OTLP has names and units apart; the serializer for Prometheus does not add the unit to the name. */
function withPrometheusNames({ resource, scopeMetrics }: ResourceMetrics): ResourceMetrics {
  return {
    resource,
    scopeMetrics: scopeMetrics.map(({ scope, metrics }) => ({
      scope,
      metrics: metrics.map((metric) => ({
        ...metric,
        descriptor: { ...metric.descriptor, name: prometheusName(metric.descriptor), unit: '' },
      })),
    })),
  }
}

function pushReader({ target, intervalMs, isScraped, emit }: OtlpMetricsOptions): MetricReader {
  const timeoutMs = Math.min(intervalMs, limits.metricExportMsMax)
  const exporter = new OTLPMetricExporter({
    url: target.url,
    headers: parseKeyPairsIntoRecord(target.headers),
    timeoutMillis: timeoutMs,
    // Otherwise OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, which the exporter reads.
    ...(isScraped ? { temporalityPreference: AggregationTemporalityPreference.CUMULATIVE } : {}),
  })
  return new PeriodicExportingMetricReader({
    exporter: reportingFailures(exporter, emit),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: timeoutMs,
  })
}

function reportingFailures(exporter: OTLPMetricExporter, emit: EmitEvent): PushMetricExporter {
  return {
    export: (metrics, done) => {
      exporter.export(metrics, (result) => {
        if (result.code !== ExportResultCode.SUCCESS) {
          emit({ kind: 'metrics-unsent', cause: result.error?.message ?? 'the collector rejected them' })
        }
        done(result)
      })
    },
    selectAggregation: (type) => exporter.selectAggregation(type),
    selectAggregationTemporality: (type) => exporter.selectAggregationTemporality(type),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  }
}
