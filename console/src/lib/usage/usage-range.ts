import { t } from '../../texts/texts.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

export type Per = 'minute' | 'day'

export interface Range {
  readonly fromMs: number
  readonly toMs: number
}

/** How far back a person can look. The service keeps minutes for 2 days and days for 400. */
export const rangesOf = {
  minute: [
    { value: '1h', ms: hourMs },
    { value: '6h', ms: 6 * hourMs },
    { value: '24h', ms: dayMs },
    { value: '48h', ms: 2 * dayMs },
  ],
  day: [
    { value: '7d', ms: 7 * dayMs },
    { value: '30d', ms: 30 * dayMs },
    { value: '90d', ms: 90 * dayMs },
    { value: '400d', ms: 400 * dayMs },
  ],
} as const satisfies Record<Per, readonly { value: string; ms: number }[]>

const defaultRange: Record<Per, string> = { minute: '6h', day: '30d' }

export function perOf(text: string | undefined): Per {
  return text === 'day' ? 'day' : 'minute'
}

/** The chosen range of this resolution, or its default. */
export function rangeOf(per: Per, value: string | undefined) {
  const ranges: readonly { value: string; ms: number }[] = rangesOf[per]
  const found = ranges.find((range) => range.value === value)
  return found ?? ranges.find((range) => range.value === defaultRange[per]) ?? rangesOf[per][0]
}

export function unitMs(per: Per): number {
  return per === 'day' ? dayMs : minuteMs
}

/** The range that ends now, in full days or minutes. */
export function fullRange(per: Per, rangeMs: number, nowMs: number): Range {
  const unit = unitMs(per)
  const toMs = (Math.floor(nowMs / unit) + 1) * unit
  return { fromMs: toMs - rangeMs, toMs }
}

/** The zoomed range of the URL within the full one; undefined if the URL has none, or not a valid one. */
export function zoomOf(from: string | undefined, to: string | undefined, full: Range): Range | undefined {
  const fromMs = Math.max(Date.parse(from ?? ''), full.fromMs)
  const toMs = Math.min(Date.parse(to ?? ''), full.toMs)
  return toMs > fromMs ? { fromMs, toMs } : undefined
}

const intervals = [1, 2, 5, 10, 15, 30, 60].map((minutes) => minutes * minuteMs)
/** Points of a chart: more bars are too thin to see. */
const pointsMax = 120

/** The time of one bar. */
export function intervalOf(per: Per, { fromMs, toMs }: Range): number {
  if (per === 'day') return dayMs
  return intervals.find((interval) => (toMs - fromMs) / interval <= pointsMax) ?? hourMs
}

export function intervalText(intervalMs: number): string {
  if (intervalMs >= dayMs) return t.usage.day
  if (intervalMs >= hourMs) return t.usage.hour
  return intervalMs === minuteMs ? t.usage.minute : t.usage.minutes(intervalMs / minuteMs)
}

/** Makes a range larger or smaller around its centre, and moves it by a share of its length, within the full range. */
export function changed(
  range: Range,
  full: Range,
  change: { scale?: number; move?: number },
  per: Per,
): Range {
  const { scale = 1, move = 0 } = change
  const unit = unitMs(per)
  const fullMs = full.toMs - full.fromMs
  const length = Math.min(Math.max((range.toMs - range.fromMs) * scale, 4 * unit), fullMs)
  const centre = (range.fromMs + range.toMs) / 2 + move * (range.toMs - range.fromMs)
  const fromMs = Math.min(Math.max(centre - length / 2, full.fromMs), full.toMs - length)
  return snapped({ fromMs, toMs: fromMs + length }, per)
}

/** In full days or minutes, and at least two of them. */
export function snapped({ fromMs, toMs }: Range, per: Per): Range {
  const unit = unitMs(per)
  const first = Math.floor(fromMs / unit)
  return { fromMs: first * unit, toMs: Math.max(Math.ceil(toMs / unit), first + 2) * unit }
}

export function isSame(one: Range, other: Range): boolean {
  return one.fromMs <= other.fromMs && one.toMs >= other.toMs
}

/** As in the URL: 2026-11-16T09:30:00Z */
export function isoTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
