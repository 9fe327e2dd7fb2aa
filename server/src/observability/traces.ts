import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { ExportResultCode, parseKeyPairsIntoRecord, parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node'
import { limits } from '../limits/limits.ts'
import { withTimeout } from '../timeout.ts'
import type { EmitEvent, RequestCompleted } from './events.ts'
import type { OtlpTarget, TelemetryIdentity } from './otlp.ts'
import { resourceOf } from './resource.ts'

export interface Traces {
  readonly emit: EmitEvent
  /** Sends queued spans, or drops them after a timeout. */
  close(): Promise<void>
}

export interface TraceOptions {
  readonly target: OtlpTarget
  readonly identity: TelemetryIdentity
  /** The share of requests that are traced if no trusted proxy sent a traceparent. */
  readonly ratio: number
  /** Receives `spans-dropped`. */
  readonly emit: EmitEvent
  readonly exportMsMax: number
}

/**
 * Creates spans from the `request-completed` event: one for the request, one for the verification of its key, and one for its
 * read or write. So no response waits for tracing, no trace context is passed through the code, and no parameter of a
 * request can get into a span.
 */
export function tracesTo({ target, identity, ratio, emit, exportMsMax }: TraceOptions): Traces {
  const exporter = new OTLPTraceExporter({
    url: target.url,
    headers: parseKeyPairsIntoRecord(target.headers),
    timeoutMillis: exportMsMax,
  })
  const provider = new BasicTracerProvider({
    resource: resourceOf(identity),
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [
      new BatchSpanProcessor(reportingDrops(exporter, emit), {
        maxQueueSize: limits.spansWaitingMax,
        maxExportBatchSize: limits.spansBatchMax,
      }),
    ],
  })
  const tracer = provider.getTracer('quartermaster')
  return {
    emit: (event) => {
      if (event.kind !== 'request-completed') return
      const parent = contextOf(event.traceparent)
      // Sampled here: a sampler of OpenTelemetry would first create a trace id for every request.
      if (parent !== ROOT_CONTEXT || Math.random() < ratio) addSpans(tracer, event, parent)
    },
    close: () => closeWithTimeout(provider, exportMsMax),
  }
}

function addSpans(tracer: Tracer, event: RequestCompleted, parent: Context): void {
  const { verificationStartedAt, verificationMs, databaseStartedAt, databaseMs } = event.context ?? {}
  const now = performance.now()
  // The duration does not include the time until this event is handled, nor that of a response that waited for changes.
  const start = performance.timeOrigin + Math.min(now - event.ms, verificationStartedAt ?? now)
  const name = `${event.method} ${event.route}`
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime: start }, parent)
  if (span.isRecording()) {
    span.setAttributes(attributesOf(event))
    if (event.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    const context = trace.setSpan(parent, span)
    const child = (step: string, kind: SpanKind, startedAt: number, ms: number) => {
      const startTime = performance.timeOrigin + startedAt
      tracer.startSpan(step, { kind, startTime }, context).end(startTime + ms)
    }
    if (verificationStartedAt !== undefined && verificationMs !== undefined)
      child('auth', SpanKind.INTERNAL, verificationStartedAt, verificationMs)
    if (databaseStartedAt !== undefined && databaseMs !== undefined)
      child(event.method === 'POST' ? 'write' : 'read', SpanKind.CLIENT, databaseStartedAt, databaseMs)
  }
  span.end(performance.timeOrigin + now)
}

function attributesOf({ requestId, method, route, status, context, source }: RequestCompleted): Attributes {
  const code = context?.code
  return {
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
    'quartermaster.request_id': requestId,
    ...(code === undefined ? {} : { 'error.type': code }),
    ...(source === undefined ? {} : { 'quartermaster.source': source }),
  }
}

/** W3C Trace Context: an invalid traceparent is ignored, and the request starts a new trace. */
function contextOf(traceparent: string | undefined): Context {
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent)
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true })
}

function reportingDrops(exporter: OTLPTraceExporter, emit: EmitEvent): SpanExporter {
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        if (result.code !== ExportResultCode.SUCCESS) {
          const cause = result.error?.message ?? 'the collector did not accept them'
          emit({ kind: 'spans-dropped', spans: spans.length, cause })
        }
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
  }
}

/** A collector that does not respond must not delay the end of the process. */
async function closeWithTimeout(provider: BasicTracerProvider, ms: number): Promise<void> {
  const timedOut = () => new Error('The trace collector did not respond.')
  await withTimeout(ms, provider.shutdown(), timedOut).catch(() => {})
}
