/** A span of time in milliseconds since 1970 UTC, from `start` (inclusive) to `end` (exclusive). */
export interface TimeSpan {
  readonly start: number
  readonly end: number
}

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i

const firstMs = utc(1, 1, 1)
const endMs = utc(10_000, 1, 1)
const minuteMs = 60_000

/**
 * The span of an ISO 8601 date or date-time: a day, a minute, a second, or a fraction of a second. UTC if it has no
 * zone. Undefined if the text is not a date or date-time, or is outside the years 0001 to 9999.
 *
 * Stored times have millisecond precision, so a bound within a millisecond is rounded up to the next one.
 */
export function parseTimeSpan(text: string): TimeSpan | undefined {
  const match = pattern.exec(text)
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second, fraction, zone] = match
  const date = utc(Number(year), Number(month), Number(day))
  if (new Date(date).getUTCDate() !== Number(day) || new Date(date).getUTCMonth() !== Number(month) - 1)
    return undefined
  if (Number(hour ?? 0) > 23 || Number(minute ?? 0) > 59 || Number(second ?? 0) > 59) return undefined
  const offset = zoneMs(zone)
  if (offset === undefined) return undefined
  const secondsMs =
    date + Number(hour ?? 0) * 60 * minuteMs + Number(minute ?? 0) * minuteMs + Number(second ?? 0) * 1000
  const span = within(
    fraction,
    second !== undefined ? 1000 : hour !== undefined ? minuteMs : 24 * 60 * minuteMs,
  )
  const start = secondsMs - offset + span.start
  const end = secondsMs - offset + span.end
  return start >= firstMs && end <= endMs ? { start, end } : undefined
}

/** ISO 8601 as PostgreSQL parses it: it accepts five-digit years, but not the sign that JavaScript puts before them. */
export function timestampText(ms: number): string {
  return new Date(ms).toISOString().replace(/^\+0/, '')
}

/** The span of a fraction such as `.5`, `.25` or `.123456` within its second, rounded up to milliseconds. */
function within(fraction: string | undefined, unitMs: number): TimeSpan {
  if (fraction === undefined) return { start: 0, end: unitMs }
  const nanos = Number(fraction.padEnd(9, '0'))
  const width = 10 ** (9 - fraction.length)
  return { start: Math.ceil(nanos / 1e6), end: Math.ceil((nanos + width) / 1e6) }
}

function zoneMs(zone: string | undefined): number | undefined {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(3).replace(':', '') || 0)
  if (hours > 15 || minutes > 59) return undefined
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * minuteMs
}

/** `Date.UTC` interprets the years 0 to 99 as 1900 to 1999. */
function utc(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day)
}
