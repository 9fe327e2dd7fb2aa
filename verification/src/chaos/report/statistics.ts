import { type Event, readKinds, writeKinds } from '../load/messages.ts'

const isIn = (kinds: readonly string[]) => (event: Event) => kinds.includes(event.kind)
export const isRead = isIn(readKinds)
export const isWrite = isIn(writeKinds)

/** Without a response, or an error of the service. A conflict or a rate limit says nothing about the database. */
export function isFailed({ status }: Event): boolean {
  return status === 0 || status >= 500
}

export function isAnswered({ status }: Event): boolean {
  return status >= 200 && status < 500 && status !== 409 && status !== 429
}

export function longest(events: readonly Event[]): Event | undefined {
  return events.reduce<Event | undefined>(
    (worst, event) => (event.ms > (worst?.ms ?? -1) ? event : worst),
    undefined,
  )
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}

/** How often each value occurs, most often first. */
export function counted(values: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([value, count]) => `${count} × ${value}`)
    .join(', ')
}
