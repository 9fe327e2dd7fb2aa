import type { Row } from '../api/read.ts'

/** Usage of one day or minute, over all selected keys and routes. */
export interface UsagePoint {
  /** Seconds since 1970, as uPlot expects. */
  readonly at: number
  readonly requests: number
  readonly errors: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface Share {
  readonly name: string
  readonly requests: number
  readonly errors: number
  readonly p95: number
}

/**
 * One point per time, in ascending order. Percentiles of several keys and routes cannot be merged exactly: the result is
 * their mean, weighted by requests.
 */
export function pointsOf(rows: readonly Row[]): readonly UsagePoint[] {
  const byTime = Map.groupBy(rows, (row) => String(row['at']))
  return [...byTime]
    .map(([at, group]) => ({ at: Date.parse(at) / 1_000, ...merged(group) }))
    .toSorted((one, other) => one.at - other.at)
}

/** Requests by key or by route, most first. */
export function sharesOf(rows: readonly Row[], field: 'key_id' | 'route'): readonly Share[] {
  return [...Map.groupBy(rows, (row) => String(row[field]))]
    .map(([name, group]) => ({ name, ...merged(group) }))
    .toSorted((one, other) => other.requests - one.requests)
}

function merged(rows: readonly Row[]) {
  const requests = sum(rows, 'requests')
  const weighted = (name: string) =>
    requests === 0
      ? 0
      : rows.reduce((total, row) => total + Number(row[name]) * Number(row['requests']), 0) / requests
  return {
    requests,
    errors: sum(rows, 'errors'),
    p50: weighted('p50_ms'),
    p95: weighted('p95_ms'),
    p99: weighted('p99_ms'),
  }
}

function sum(rows: readonly Row[], name: string): number {
  return rows.reduce((total, row) => total + Number(row[name]), 0)
}
