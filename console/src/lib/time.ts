import { t } from '../texts/texts.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const relativeWords = new Map<string, Intl.RelativeTimeFormat>()

function inWords(amount: number, unit: Intl.RelativeTimeFormatUnit): string {
  const known = relativeWords.get(t.locale) ?? new Intl.RelativeTimeFormat(t.locale, { numeric: 'auto' })
  relativeWords.set(t.locale, known)
  return known.format(amount, unit)
}

/** "in 3 months", "5 minutes ago". */
export function relativeTime(atMs: number, nowMs: number): string {
  const ms = atMs - nowMs
  const size = Math.abs(ms)
  if (size < 45_000) return ms <= 0 ? t.time.justNow : t.time.soon
  if (size < 45 * minuteMs) return inWords(Math.round(ms / minuteMs), 'minute')
  if (size < 22 * hourMs) return inWords(Math.round(ms / hourMs), 'hour')
  if (size < 60 * dayMs) return inWords(Math.round(ms / dayMs), 'day')
  if (size < 700 * dayMs) return inWords(Math.round(ms / (30.4 * dayMs)), 'month')
  return inWords(Math.round(ms / (365.25 * dayMs)), 'year')
}

/** "today", "yesterday", "5 days ago": for a day in UTC, which has no time. */
export function relativeDay(day: string, nowMs: number): string {
  const days = Math.round((Date.parse(day) - (nowMs - (nowMs % dayMs))) / dayMs)
  if (Math.abs(days) < 60) return inWords(days, 'day')
  return relativeTime(Date.parse(day), nowMs)
}

/** "2026-11-16 09:30:00 UTC" */
export function exactTime(value: string): string {
  const match = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d))?/.exec(value)
  if (match === null) return value
  const day = t.time.day(match[1] ?? '')
  return match[2] === undefined ? `${day} (UTC)` : `${day} ${match[2]} UTC`
}

/** The time after a number of days, as the service takes it. */
export function inDays(days: number, nowMs: number): string {
  return new Date(nowMs + days * dayMs).toISOString()
}

/** A timestamp in the time zone of this browser: day and time. Undefined if the text is not a timestamp. */
export function localParts(value: unknown): readonly [string, string] | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value))
    return undefined
  const date = new Date(value)
  if (Number.isNaN(date.getTime())) return undefined
  const two = (number: number) => String(number).padStart(2, '0')
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return [day, `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`]
}

/** "2026-11-16 10:30:00", for a day "2026-11-16 (UTC)". */
export function localTime(value: string): string {
  const [day, time] = localParts(value) ?? []
  return day === undefined ? exactTime(value) : `${t.time.day(day)} ${time}`
}

/** "09:30:00" in the time zone of this browser. */
export function clockTime(ms: number): string {
  return new Date(ms).toLocaleTimeString('en-GB')
}
