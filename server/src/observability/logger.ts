import { type DestinationStream, type Logger, pino } from 'pino'
import { limits } from '../limits.ts'
import type { EmitEvent, Event, RequestAnswered } from './events.ts'

type Level = 'error' | 'warn' | 'info' | 'debug'

const levels: Record<Event['kind'], Level> = {
  listening: 'info',
  stopping: 'info',
  stopped: 'info',
  'connection-acquired': 'debug',
  'connection-broken': 'warn',
  'primary-changed': 'warn',
  'keys-verified': 'debug',
  'statement-ended': 'debug',
  'spans-dropped': 'warn',
  'request-unreadable': 'warn',
  'rate-limits-shared': 'info',
  'rate-limits-local': 'warn',
  'requests-refused': 'warn',
  'requests-unlogged': 'warn',
  'requests-uncounted': 'warn',
  'activity-unwritten': 'warn',
  'request-failed': 'error',
  'export-truncated': 'warn',
  'request-completed': 'info',
}

export interface Log {
  readonly emit: EmitEvent
  /** Lines that were not written because nobody read them in time. */
  readonly dropped: () => number
}

/** One JSON line an event, on stderr: stdout belongs to data. Neither keys nor filters are in any line. */
export function logTo(levelMin: string, destination?: DestinationStream): Log {
  const lines = destination ?? new Pieces()
  const log = pino({ level: levelMin, base: null, timestamp: () => `,"time":"${time()}"` }, lines)
  const failures = new Failures(log)
  const emit: EmitEvent = (event) => {
    if (!log.isLevelEnabled(levels[event.kind])) return
    if (event.kind === 'request-completed') {
      lines.write(lineOf(event))
      return
    }
    const level = levels[event.kind]
    if (level === 'info' || level === 'debug') log[level](loggable(event), event.kind)
    else failures.note(event)
  }
  return { emit, dropped: () => (lines instanceof Pieces ? lines.dropped : 0) }
}

/**
 * Lines on their way to stderr, in pieces and off the request's way: handing each to the stream costs more than making
 * it. What a reader who is too slow leaves behind is dropped, not kept.
 */
class Pieces implements DestinationStream {
  dropped = 0
  #lines: string[] = []
  #length = 0
  readonly #stream = pino.destination({ dest: 2, sync: false, maxLength: limits.logWaitingBytesMax })

  constructor() {
    this.#stream.on('drop', (piece) => {
      this.dropped += String(piece).split('\n').length - 1
    })
    // Nobody is left to read. Neither is that a reason to end.
    this.#stream.on('error', () => {})
    setInterval(() => this.#flush(), limits.logFlushMs).unref()
    process.on('exit', () => this.#finish())
  }

  write(line: string): void {
    this.#lines.push(line)
    this.#length += line.length
    if (this.#length >= limits.logChunkBytes) this.#flush()
  }

  /** A write that is begun here in the usual way is never finished: nothing asynchronous happens any more. */
  #finish(): void {
    const last = pino.destination({ dest: 2, sync: true }).on('error', () => {})
    try {
      this.#stream.flushSync()
      last.write(this.#lines.join(''))
      last.flushSync()
    } catch {
      // Nobody is left to read.
    }
  }

  #flush(): void {
    if (this.#length > 0) this.#stream.write(this.#lines.join(''))
    this.#lines = []
    this.#length = 0
  }
}

const info = pino.levels.values['info']
let clock = { at: 0, text: '' }

/** ISO 8601. Written once a millisecond: the lines of a busy process share it. */
function time(): string {
  const at = Date.now()
  if (at !== clock.at) clock = { at, text: new Date(at).toISOString() }
  return clock.text
}

/**
 * A database that is away fails every request in the same way: the first lines tell all there is to tell. Of the
 * others one line tells how many they were; each of them has its own line as a request besides.
 */
class Failures {
  readonly #log: Logger
  readonly #lines = new Map<string, number>()

  constructor(log: Logger) {
    this.#log = log
  }

  note(event: Exclude<Event, RequestAnswered>): void {
    const { kind } = event
    const code = 'code' in event ? event.code : undefined
    const name = `${kind} ${code}`
    const lines = (this.#lines.get(name) ?? 0) + 1
    this.#lines.set(name, lines)
    if (lines === 1) setTimeout(() => this.#sum(name, kind, code), limits.failureLinesMs).unref()
    if (lines <= limits.failureLinesMax) this.#log[levels[kind]](loggable(event), kind)
  }

  #sum(name: string, kind: Event['kind'], code: string | undefined): void {
    const more = (this.#lines.get(name) ?? 0) - limits.failureLinesMax
    this.#lines.delete(name)
    if (more > 0) this.#log[levels[kind]]({ code, more, seconds: limits.failureLinesMs / 1000 }, kind)
  }
}

/**
 * As pino writes a line, but put together here: 0.3 µs instead of 2, for every request. Nothing in it needs escaping:
 * request ids have a pattern, and all other words are from lists of ours. Where the time of a request went is for metrics
 * and traces; the line says what an operator looks for.
 */
function lineOf({ requestId, method, route, status, ms, context, source, kind }: RequestAnswered): string {
  const code = context?.code === undefined ? '' : `,"code":"${context.code}"`
  const from = source === undefined ? '' : `,"source":"${source}"`
  return `{"level":${info},"time":"${time()}","requestId":"${requestId}","method":"${method}","route":"${route}","status":${status},"ms":${ms}${code}${from},"msg":"${kind}"}\n`
}

/** What the operator sees of an event, by name: nothing is written only because it is there. */
function loggable(event: Exclude<Event, RequestAnswered>): object {
  switch (event.kind) {
    case 'request-failed':
    case 'export-truncated':
      return { requestId: event.requestId, code: event.code, cause: causeOf(event) }
    case 'request-unreadable':
      return { code: event.code }
    case 'activity-unwritten':
      return { cause: messageOf(event.error) }
    case 'connection-broken':
      return { cause: event.error.message }
    case 'primary-changed':
      return { timeline: event.timeline }
    case 'connection-acquired':
      return { pool: event.pool, ms: event.ms }
    case 'statement-ended':
      return { operation: event.operation, ms: event.ms, failed: event.failed }
    case 'keys-verified':
      return { keys: event.keys }
    case 'rate-limits-local':
      return { reason: event.reason }
    case 'requests-refused':
    case 'requests-unlogged':
    case 'requests-uncounted':
      return { count: event.count }
    case 'spans-dropped':
      return { spans: event.spans, cause: event.cause }
    case 'listening':
      return { host: event.host, port: event.port, adminPort: event.adminPort }
    case 'rate-limits-shared':
    case 'stopping':
    case 'stopped':
      return {}
    default:
      return event satisfies never
  }
}

/** What an operator can act on: the database's own words, where an error of ours has them. */
function messageOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  return cause instanceof Error ? cause.message : String(cause)
}

/** The stack only where it helps: a database that is away fails every request in the same place. */
function causeOf({ code, cause }: Extract<Event, { kind: 'request-failed' | 'export-truncated' }>): unknown {
  const error = cause instanceof Error ? cause : new Error(String(cause))
  return code === 'internal' ? pino.stdSerializers.errWithCause(error) : error.message
}
