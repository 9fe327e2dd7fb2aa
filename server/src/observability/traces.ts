import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node'
import { limits } from '../limits.ts'
import { withTimeout } from '../timeout.ts'
import type { EmitEvent, RequestAnswered } from './events.ts'
import { resource } from './resource.ts'

export interface Traces {
  readonly emit: EmitEvent
  /** Sends what is waiting, or gives it up. */
  close(): Promise<void>
}

export interface TraceOptions {
  /** The collector: http://host:4318 */
  readonly endpoint: string
  /** The part of requests that is traced where no proxy has decided. */
  readonly ratio: number
  /** Told of spans that were lost. */
  readonly emit: EmitEvent
  readonly exportMsMax: number
}

/**
 * Spans are made of what is known of a request once it is answered: its own, its check, and its read or write. So an
 * answer waits for none of it, no context has to follow a request, and nothing of what a request asked for can be in one.
 */
export function tracesTo({ endpoint, ratio, emit, exportMsMax }: TraceOptions): Traces {
  const exporter = new OTLPTraceExporter({
    url: `${withoutLastSlashes(endpoint)}/v1/traces`,
    timeoutMillis: exportMsMax,
  })
  const provider = new BasicTracerProvider({
    resource,
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [
      new BatchSpanProcessor(toldOf(exporter, emit), {
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
      // Decided here rather than by a sampler, which would first make a trace id for every request.
      if (parent !== ROOT_CONTEXT || Math.random() < ratio) addSpans(tracer, event, parent)
    },
    close: () => closeWithTimeout(provider, exportMsMax),
  }
}

function withoutLastSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}

function addSpans(tracer: Tracer, event: RequestAnswered, parent: Context): void {
  const end = performance.timeOrigin + performance.now()
  const start = end - event.ms
  const name = `${event.method} ${event.route}`
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime: start }, parent)
  if (span.isRecording()) {
    span.setAttributes(attributesOf(event))
    if (event.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
    const inside = trace.setSpan(parent, span)
    const child = (step: string, kind: SpanKind, from: number, ms: number) =>
      tracer.startSpan(step, { kind, startTime: from }, inside).end(from + ms)
    const { checkMs, storeAt, storeMs } = event.context ?? {}
    if (checkMs !== undefined) child('auth', SpanKind.INTERNAL, start, checkMs)
    if (storeAt !== undefined && storeMs !== undefined) {
      const step = event.method === 'POST' ? 'write' : 'read'
      child(step, SpanKind.CLIENT, performance.timeOrigin + storeAt, storeMs)
    }
  }
  span.end(end)
}

function attributesOf({ requestId, method, route, status, context, source }: RequestAnswered): Attributes {
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

/** W3C Trace Context. What is not well-formed begins a trace of its own, as the recommendation has it. */
function contextOf(traceparent: string | undefined): Context {
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent)
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true })
}

function toldOf(exporter: OTLPTraceExporter, emit: EmitEvent): SpanExporter {
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        if (result.code !== ExportResultCode.SUCCESS) {
          const cause = result.error?.message ?? 'the collector did not take them'
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
