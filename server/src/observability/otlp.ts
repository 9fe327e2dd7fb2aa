import type { Config } from '../config/config.ts'

/** Where metrics or traces are sent. */
export interface OtlpTarget {
  readonly url: string
  /** As in OTEL_EXPORTER_OTLP_HEADERS. */
  readonly headers: string | undefined
}

/** Names this service in metrics and traces. */
export interface TelemetryIdentity {
  readonly serviceName: string | undefined
  /** As in OTEL_RESOURCE_ATTRIBUTES. */
  readonly attributes: string | undefined
  /** With `serve --processes`: the number of the worker, or `primary`. */
  readonly worker?: string | undefined
}

export function telemetryIdentity(config: Config): TelemetryIdentity {
  return { serviceName: config.OTEL_SERVICE_NAME, attributes: config.OTEL_RESOURCE_ATTRIBUTES }
}

/** The default of OpenTelemetry, used only if an exporter is set to `otlp`. */
const defaultEndpoint = 'http://localhost:4318'

/**
 * As the specification of OpenTelemetry defines it, with one difference: if neither an endpoint nor an exporter is set, nothing
 * is sent. https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export function otlpTarget(config: Config, signal: 'traces' | 'metrics'): OtlpTarget | undefined {
  const [exporter, ownUrl] =
    signal === 'traces'
      ? [config.OTEL_TRACES_EXPORTER, config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT]
      : [config.OTEL_METRICS_EXPORTER, config.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT]
  const base = config.OTEL_EXPORTER_OTLP_ENDPOINT
  const isSent = exporter === undefined ? (ownUrl ?? base) !== undefined : exporter.includes('otlp')
  if (!isSent) return undefined
  const url = ownUrl ?? `${withoutTrailingSlashes(base ?? defaultEndpoint)}/v1/${signal}`
  return { url, headers: config.OTEL_EXPORTER_OTLP_HEADERS }
}

/** Whether a text is a list of `key=value`, separated by commas, as in OTEL_RESOURCE_ATTRIBUTES. */
export function isKeyValueList(text: string): boolean {
  return text
    .split(',')
    .filter((pair) => pair.trim() !== '')
    .every((pair) => pair.slice(0, Math.max(0, pair.indexOf('='))).trim() !== '')
}

function withoutTrailingSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}
