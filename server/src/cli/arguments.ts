import { availableParallelism } from 'node:os'
import { InvalidArgumentError, Option } from 'commander'
import { type Scope, scopes } from '../accounts/key-format.ts'
import type { MaxDelete } from '../import/import-rows.ts'
import { limits } from '../limits/limits.ts'

/** Parsers of options and arguments. Each throws an error that says what the value must be. */

export function parseScopes(text: string): Scope[] {
  return text.split(',').map((part) => {
    const found = scopes.find((scope) => scope === part.trim())
    if (found === undefined) {
      throw new InvalidArgumentError(
        `${JSON.stringify(part)} is not a scope. Scopes are ${scopes.join(', ')}.`,
      )
    }
    return found
  })
}

/** `2027-01-01` (00:00 UTC), an ISO 8601 time in UTC, or `90d` from now. */
export function parseExpiry(text: string, now: Date = new Date()): Date {
  const days = /^(\d{1,5})d$/.exec(text)?.[1]
  const time = days === undefined ? parseIsoTime(text) : new Date(now.getTime() + Number(days) * 86_400_000)
  if (time === undefined) {
    throw new InvalidArgumentError(
      'It must be a date such as 2027-01-01, a time such as 2027-01-01T12:00:00Z, or a number of days such as 90d.',
    )
  }
  if (time <= now) throw new InvalidArgumentError('It must be in the future.')
  return time
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** Parses `7d`, `12h`, `30m`, `90s` or `0` to seconds. */
export function parseOverlap(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const seconds = text === '0' ? 0 : Number(count) * (secondsOf[unit ?? ''] ?? Number.NaN)
  if (seconds >= 0 && seconds <= limits.keyOverlapSecondsMax) return seconds
  const daysMax = limits.keyOverlapSecondsMax / 86_400
  throw new InvalidArgumentError(`It must be a duration such as 7d, 12h or 30m, at most ${daysMax}d, or 0.`)
}

export function integerBetween(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (number >= min && number <= max) return number
    throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`)
  }
}

/** `--processes 4`, or `auto` for one per CPU that this process may use. */
export function parseProcesses(text: string): number {
  const max = limits.processesMax
  if (text === 'auto') return Math.min(availableParallelism(), max)
  const number = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN
  if (number >= 1 && number <= max) return number
  throw new InvalidArgumentError(`It must be a number from 1 to ${max}, or auto.`)
}

/** A limit of an account, or its default. */
export type LimitValue = number | 'default'

export function parsePerMinute(text: string): LimitValue {
  return text === 'default' ? text : integerBetween(1, limits.requestsPerMinuteMax)(text)
}

/** `--max-delete 500` or `25%`. */
export function parseMaxDelete(text: string): MaxDelete {
  const [, digits, percent] = /^(\d{1,12})(%?)$/.exec(text) ?? []
  const number = Number(digits)
  if (percent === '') return { records: number }
  if (percent === '%' && number <= 100) return { percent: number }
  throw new InvalidArgumentError('It must be a number of records such as 500, or a percentage such as 25%.')
}

/** For commands that list something. */
export const listLimit = () =>
  new Option('--limit <count>', 'maximum number of results')
    .argParser(integerBetween(1, limits.commandRowsMax))
    .default(limits.commandRowsDefault)

/** 0 stores nothing. */
export function parseQuota(text: string): LimitValue {
  return text === 'default' ? text : integerBetween(0, limits.quotaMax)(text)
}

/** `-c name=value`, which can be repeated. */
export function collectSetting(text: string, previous: Record<string, string>): Record<string, string> {
  const [, name, value] = /^([a-z_.]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError('It must be a PostgreSQL setting such as work_mem=64MB.')
  }
  return { ...previous, [name]: value }
}

/** `Date` parses 2027-02-30 as 2 March, so the result is compared with the text. */
function parseIsoTime(text: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/.test(text)) return undefined
  const time = new Date(text)
  return Number.isNaN(time.getTime()) || !time.toISOString().startsWith(text.slice(0, 10)) ? undefined : time
}
