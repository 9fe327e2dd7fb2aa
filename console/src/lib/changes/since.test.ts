import { expect, it } from 'vitest'
import { changesText, countText, sinceTime } from './since.ts'

const now = new Date(2026, 10, 19, 15, 30).getTime()
const local = (day: number) => new Date(2026, 10, day).toISOString()

it('resolves a choice to a time; days begin at midnight here', () => {
  expect(sinceTime('hour', now)).toBe(new Date(now - 3_600_000).toISOString())
  expect(sinceTime('today', now)).toBe(local(19))
  expect(sinceTime('yesterday', now)).toBe(local(18))
  expect(sinceTime('week', now)).toBe(new Date(now - 7 * 86_400_000).toISOString())
  expect(sinceTime('2026-11-01T08:00', now)).toBe(new Date('2026-11-01T08:00').toISOString())
  expect(sinceTime('last summer', now)).toBe(undefined)
})

it('counts changes in words', () => {
  expect([countText(1, 'company'), countText(1_200, 'company')]).toEqual(['1 company', '1,200 companies'])
  expect([changesText(1, false), changesText(3, false), changesText(100, true)]).toEqual([
    '1 change',
    '3 changes',
    '100 or more changes',
  ])
})
