import { type DestinationStream, pino } from 'pino'
import type { Event, Tell } from './events.ts'

type Level = 'error' | 'warn' | 'info' | 'debug'

const levels: Record<Event['kind'], Level> = {
  listening: 'info',
  stopping: 'info',
  stopped: 'info',
  'connection-broken': 'warn',
  'request-failed': 'error',
  'request-answered': 'info',
  'requests-unlogged': 'warn',
  'activity-unwritten': 'warn',
}

/** One JSON line an event, on stderr: stdout belongs to data. Neither keys nor filters are in any line. */
export function logTo(level: string, destination?: DestinationStream): Tell {
  const log = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination ?? pino.destination(2),
  )
  return (event: Event) => {
    if (log.isLevelEnabled(levels[event.kind])) log[levels[event.kind]](loggable(event), event.kind)
  }
}

/** What the operator sees of an event. Of a request neither its filter nor its ids: they are the account's own. */
function loggable(event: Event): object {
  switch (event.kind) {
    case 'request-answered': {
      const { requestId, method, route, status, ms } = event
      return { requestId, method, route, status, ms }
    }
    case 'request-failed':
      return { requestId: event.requestId, code: event.code, cause: causeOf(event) }
    case 'activity-unwritten':
      return { cause: event.error instanceof Error ? event.error.message : String(event.error) }
    case 'connection-broken':
      return { error: event.error }
    case 'requests-unlogged':
      return { count: event.count }
    case 'listening':
      return { host: event.host, port: event.port }
    case 'stopping':
    case 'stopped':
      return {}
    default:
      return event satisfies never
  }
}

/** The stack only where it helps: a database that is away fails every request in the same place. */
function causeOf({ code, cause }: Extract<Event, { kind: 'request-failed' }>): unknown {
  const error = cause instanceof Error ? cause : new Error(String(cause))
  return code === 'internal' ? pino.stdSerializers.errWithCause(error) : error.message
}
