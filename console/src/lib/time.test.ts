import { afterAll, describe, expect, it, vi } from 'vitest'
import { exactTime, inDays, localParts, localTime, relativeDay, relativeTime } from './time.ts'

const now = Date.parse('2026-11-16T09:30:00Z')
const at = (text: string) => relativeTime(Date.parse(text), now)

describe('relativeTime', () => {
  it('uses the unit that a person would use', () => {
    expect(at('2026-11-16T09:29:50Z')).toBe('just now')
    expect(at('2026-11-16T09:25:00Z')).toBe('5 minutes ago')
    expect(at('2026-11-16T12:30:00Z')).toBe('in 3 hours')
    expect(at('2026-11-15T09:30:00Z')).toBe('yesterday')
    expect(at('2026-12-16T09:30:00Z')).toBe('in 30 days')
    expect(at('2027-02-14T09:30:00Z')).toBe('in 3 months')
    expect(at('2029-11-16T09:30:00Z')).toBe('in 3 years')
  })
})

describe('relativeDay', () => {
  it('compares days in UTC', () => {
    expect(relativeDay('2026-11-16', now)).toBe('today')
    expect(relativeDay('2026-11-15', Date.parse('2026-11-16T00:00:01Z'))).toBe('yesterday')
    expect(relativeDay('2026-11-01', Date.parse('2026-11-16T23:59:59Z'))).toBe('15 days ago')
    expect(relativeDay('2026-05-01', now)).toBe('7 months ago')
  })
})

describe('exactTime', () => {
  it('shows seconds and the time zone', () => {
    expect(exactTime('2026-11-16T09:30:00.114Z')).toBe('2026-11-16 09:30:00 UTC')
    expect(exactTime('2026-11-16')).toBe('2026-11-16 (UTC)')
    expect(exactTime('soon')).toBe('soon')
  })
})

describe('inDays', () => {
  it('counts from now', () => {
    expect(inDays(90, now)).toBe('2027-02-14T09:30:00.000Z')
  })
})

describe('localParts', () => {
  afterAll(() => {
    vi.unstubAllEnvs()
  })

  it('shows the day and time of the zone, with daylight saving', () => {
    vi.stubEnv('TZ', 'Europe/Berlin')
    expect(localParts('2026-11-16T23:30:00.114Z')).toEqual(['2026-11-17', '00:30:00'])
    expect(localParts('2026-06-16T21:30:00Z')).toEqual(['2026-06-16', '23:30:00'])
    vi.stubEnv('TZ', 'America/St_Johns')
    expect(localTime('2026-11-16T01:00:00Z')).toBe('2026-11-15 21:30:00')
  })

  it('leaves a day, which has no zone, and other texts', () => {
    expect(localParts('2026-11-16')).toBeUndefined()
    expect(localTime('2026-11-16')).toBe('2026-11-16 (UTC)')
    expect(localTime('soon')).toBe('soon')
  })
})
