import { exactTime, localTime, relativeDay, relativeTime } from '../lib/time.ts'

/** A time relative to now. The exact time in UTC is in the tooltip, and the local one next to it in a side panel. */
export function TimeView({ value }: { readonly value: string }) {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(value)
  const now = Date.now()
  return (
    <span className="relative-time">
      <time dateTime={value} title={exactTime(value)}>
        {isDay ? relativeDay(value, now) : relativeTime(Date.parse(value), now)}
      </time>{' '}
      <span className="exact-time">{localTime(value)}</span>
    </span>
  )
}

const soonMs = 14 * 24 * 60 * 60_000

/** Emphasized if it is soon. */
export function ExpiryView({ value }: { readonly value: string }) {
  const leftMs = Date.parse(value) - Date.now()
  const isSoon = leftMs > 0 && leftMs < soonMs
  return (
    <span className={isSoon ? 'soon' : undefined}>
      <TimeView value={value} />
    </span>
  )
}
