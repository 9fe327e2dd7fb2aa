import { InvalidArgumentError } from 'commander'
import { type Scope, scopes } from '../accounts/key-format.ts'
import { limits } from '../limits.ts'

/** What options and arguments are made of. Each takes the text of the command line, or says what it has to be. */

export function parseScopes(text: string): Scope[] {
  return text.split(',').map((part) => {
    const found = scopes.find((scope) => scope === part.trim())
    if (found === undefined) {
      throw new InvalidArgumentError(`${JSON.stringify(part)} is no scope. Scopes are ${scopes.join(', ')}.`)
    }
    return found
  })
}

/** `2027-01-01` (its first moment, UTC), a full ISO moment, or `90d` from now. */
export function parseExpiry(text: string, now: Date = new Date()): Date {
  const days = /^(\d{1,5})d$/.exec(text)?.[1]
  const moment = days === undefined ? isoMoment(text) : new Date(now.getTime() + Number(days) * 86_400_000)
  if (moment === undefined) {
    throw new InvalidArgumentError(
      'It is a date such as 2027-01-01, a moment such as 2027-01-01T12:00:00Z, or 90d.',
    )
  }
  if (moment <= now) throw new InvalidArgumentError('It has to be in the future.')
  return moment
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** `7d`, `12h`, `30m`, `90s` or 0, in seconds. */
export function parseOverlap(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const seconds = text === '0' ? 0 : Number(count) * (secondsOf[unit ?? ''] ?? Number.NaN)
  if (seconds >= 0 && seconds <= limits.keyOverlapSecondsMax) return seconds
  const most = limits.keyOverlapSecondsMax / 86_400
  throw new InvalidArgumentError(`It is a time such as 7d, 12h or 30m, at most ${most}d, or 0.`)
}

export function integerBetween(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least && number <= most) return number
    throw new InvalidArgumentError(`It is an integer from ${least} to ${most}.`)
  }
}

/** Requests a minute, or what the deployment gives every account. */
export type PerMinute = number | 'default'

export function parsePerMinute(text: string): PerMinute {
  return text === 'default' ? text : integerBetween(1, limits.requestsPerMinuteMax)(text)
}

/** `-c name=value`, as often as needed. */
export function collectSetting(text: string, before: Record<string, string>): Record<string, string> {
  const [, name, value] = /^([a-z_.]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) {
    throw new InvalidArgumentError('It is a setting of PostgreSQL, such as work_mem=64MB.')
  }
  return { ...before, [name]: value }
}

/** `Date` takes 2027-02-30 for 2 March: what it makes of a date has to begin with that date again. */
function isoMoment(text: string): Date | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/.test(text)) return undefined
  const moment = new Date(text)
  return Number.isNaN(moment.getTime()) || !moment.toISOString().startsWith(text.slice(0, 10))
    ? undefined
    : moment
}
