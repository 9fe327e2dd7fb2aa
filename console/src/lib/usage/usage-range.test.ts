import { describe, expect, it } from 'vitest'
import {
  changed,
  fullRange,
  intervalOf,
  intervalText,
  isoTime,
  perOf,
  rangeOf,
  snapped,
  zoomOf,
} from './usage-range.ts'

const minute = 60_000
const now = Date.parse('2026-11-16T09:30:20Z')
const full = fullRange('minute', 360 * minute, now)
const text = ({ fromMs, toMs }: { fromMs: number; toMs: number }) => [isoTime(fromMs), isoTime(toMs)]

describe('the range of the usage page', () => {
  it('ends with the current minute or day', () => {
    expect(text(full)).toEqual(['2026-11-16T03:31:00Z', '2026-11-16T09:31:00Z'])
    expect(text(fullRange('day', 7 * 1440 * minute, now))).toEqual([
      '2026-11-10T00:00:00Z',
      '2026-11-17T00:00:00Z',
    ])
  })

  it('falls back to the default', () => {
    expect(perOf(undefined)).toBe('minute')
    expect(perOf('day')).toBe('day')
    expect(rangeOf('minute', undefined).value).toBe('6h')
    expect(rangeOf('day', '6h').value).toBe('30d')
    expect(rangeOf('day', '90d').ms).toBe(90 * 86_400_000)
  })

  it('is zoomed by the URL, within the full range', () => {
    expect(zoomOf(undefined, undefined, full)).toBeUndefined()
    expect(zoomOf('2026-11-16T04:00:00Z', 'nonsense', full)).toBeUndefined()
    expect(zoomOf('2026-11-15T00:00:00Z', '2026-11-15T01:00:00Z', full)).toBeUndefined()
    expect(text(zoomOf('2026-11-16T00:00:00Z', '2026-11-16T04:00:00Z', full) ?? full)).toEqual([
      '2026-11-16T03:31:00Z',
      '2026-11-16T04:00:00Z',
    ])
  })

  it('has an interval that gives at most 120 bars', () => {
    expect(intervalOf('minute', { fromMs: 0, toMs: 60 * minute })).toBe(minute)
    expect(intervalOf('minute', full)).toBe(5 * minute)
    expect(intervalOf('minute', { fromMs: 0, toMs: 2880 * minute })).toBe(30 * minute)
    expect(intervalOf('day', full)).toBe(1440 * minute)
    expect([minute, 5 * minute, 60 * minute, 1440 * minute].map(intervalText)).toEqual([
      'minute',
      '5 minutes',
      'hour',
      'day',
    ])
  })

  it('is zoomed and moved with the keyboard, and stays within the full range', () => {
    expect(text(changed(full, full, { scale: 0.5 }, 'minute'))).toEqual([
      '2026-11-16T05:01:00Z',
      '2026-11-16T08:01:00Z',
    ])
    expect(changed(full, full, { scale: 2 }, 'minute')).toEqual(full)
    expect(changed(full, full, { move: 0.5 }, 'minute')).toEqual(full)
    const zoomed = { fromMs: full.fromMs, toMs: full.fromMs + 60 * minute }
    expect(changed(zoomed, full, { move: 0.5 }, 'minute').fromMs).toBe(full.fromMs + 30 * minute)
    expect(changed(zoomed, full, { move: -0.5 }, 'minute')).toEqual(zoomed)
  })

  it('has full minutes', () => {
    expect(snapped({ fromMs: 90_000, toMs: 95_000 }, 'minute')).toEqual({ fromMs: minute, toMs: 3 * minute })
  })
})
