/** Milliseconds since 1970 in UTC, from `start` up to but not including `end`. */
export interface TimeSpan {
  readonly start: bigint
  readonly end: bigint
}

const pattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3}))?)?(Z|[+-]\d{2}:\d{2})?)?$/

const dayMs = 86_400_000n

/** The span that a literal names: a day, a minute, a second, or down to a millisecond. */
export function timeSpan(text: string): TimeSpan {
  const parts = pattern.exec(text)
  if (parts === null) throw new Error(`not a timestamp: ${JSON.stringify(text)}`)
  const [, year = '', month = '', day = '', hour, minute, second, fraction, zone] = parts
  const midnight = daysSince1970(Number(year), Number(month), Number(day)) * dayMs
  if (hour === undefined) return { start: midnight, end: midnight + dayMs }
  const start =
    midnight +
    BigInt(hour) * 3_600_000n +
    BigInt(minute ?? 0) * 60_000n +
    BigInt(second ?? 0) * 1000n +
    BigInt((fraction ?? '').padEnd(3, '0')) -
    zoneMs(zone)
  return { start, end: start + widthMs(second, fraction) }
}

/** The start of the span, which is the time of a record's timestamp. */
export function timestampMs(text: string): bigint {
  return timeSpan(text).start
}

/** The format of timestamps in responses. */
export function isoText(ms: bigint): string {
  const days = ms >= 0n ? ms / dayMs : (ms - dayMs + 1n) / dayMs
  const { year, month, day } = civil(days)
  const rest = Number(ms - days * dayMs)
  const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
  const time = `${two(rest / 3_600_000)}:${two((rest / 60_000) % 60)}:${two((rest / 1000) % 60)}`
  return `${date}T${time}.${String(rest % 1000).padStart(3, '0')}Z`
}

/** The integer part, with two digits. */
export function two(value: number): string {
  return String(Math.floor(value)).padStart(2, '0')
}

function widthMs(second: string | undefined, fraction: string | undefined): bigint {
  if (second === undefined) return 60_000n
  return [1000n, 100n, 10n, 1n][(fraction ?? '').length] ?? 1n
}

function zoneMs(zone: string | undefined): bigint {
  if (zone === undefined || zone === 'Z') return 0n
  const ms = BigInt(zone.slice(1, 3)) * 3_600_000n + BigInt(zone.slice(4, 6)) * 60_000n
  return zone.startsWith('-') ? -ms : ms
}

const isLeap = (year: number) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
const monthDays = (year: number) => [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Days from 0001-01-01 to the first day of the year: 365 a year, and one for every leap year before. */
function daysBefore(year: number): number {
  const past = year - 1
  return past * 365 + Math.floor(past / 4) - Math.floor(past / 100) + Math.floor(past / 400)
}

const epoch = daysBefore(1970)

function daysSince1970(year: number, month: number, day: number): bigint {
  const lengths = monthDays(year)
  const length = lengths[month - 1]
  if (length === undefined || day < 1 || day > length) throw new Error(`no such day: ${year}-${month}-${day}`)
  const months = lengths.slice(0, month - 1).reduce((sum, days) => sum + days, 0)
  return BigInt(daysBefore(year) + months + day - 1 - epoch)
}

function civil(daysFrom1970: bigint): { year: number; month: number; day: number } {
  const days = Number(daysFrom1970) + epoch
  let year = Math.floor(days / 365.2425) + 1
  while (daysBefore(year) > days) year -= 1
  while (daysBefore(year + 1) <= days) year += 1
  let day = days - daysBefore(year)
  let month = 0
  for (const length of monthDays(year)) {
    month += 1
    if (day < length) break
    day -= length
  }
  return { year, month, day: day + 1 }
}
