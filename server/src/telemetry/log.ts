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
}

/** One JSON line an event, on stderr: stdout belongs to data. Neither keys nor filters are in any event. */
export function logTo(level: string, destination?: DestinationStream): Tell {
  const log = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination ?? pino.destination(2),
  )
  return (event: Event) => {
    if (!log.isLevelEnabled(levels[event.kind])) return
    const { kind, ...facts } = event
    log[levels[kind]](event.kind === 'request-failed' ? { ...facts, cause: causeOf(event) } : facts, kind)
  }
}

/** The stack only where it helps: a database that is away fails every request in the same place. */
function causeOf({ code, cause }: Extract<Event, { kind: 'request-failed' }>): unknown {
  const error = cause instanceof Error ? cause : new Error(String(cause))
  return code === 'internal' ? pino.stdSerializers.errWithCause(error) : error.message
}
