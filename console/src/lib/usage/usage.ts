import type { Row } from '../../api/read.ts'

/** The requests of a key on a route in a day or minute. */
export interface UsageRow {
  readonly atMs: number
  readonly key: string
  readonly route: string
  readonly requests: number
  readonly errors: number
  readonly unlogged: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/** Several rows together. Latencies are null without requests. */
export interface UsageSum {
  readonly requests: number
  readonly errors: number
  readonly unlogged: number
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
  /** Whether the percentiles are those of one row. Otherwise they are upper bounds. */
  readonly isExact: boolean
}

export interface UsagePoint extends UsageSum {
  readonly atMs: number
}

export interface UsageShare extends UsageSum {
  readonly name: string
}

export function usageRowOf(row: Row): UsageRow {
  const number = (name: string) => Number(row[name])
  return {
    atMs: Date.parse(String(row['at'])),
    key: String(row['key_id']),
    route: String(row['route']),
    requests: number('requests'),
    errors: number('errors'),
    unlogged: number('unlogged'),
    p50: number('p50_ms'),
    p95: number('p95_ms'),
    p99: number('p99_ms'),
  }
}

export function sumOf(rows: readonly UsageRow[]): UsageSum {
  const total = (name: 'requests' | 'errors' | 'unlogged') => rows.reduce((sum, row) => sum + row[name], 0)
  return {
    requests: total('requests'),
    errors: total('errors'),
    unlogged: total('unlogged'),
    p50: percentileBound(rows, 50),
    p95: percentileBound(rows, 95),
    p99: percentileBound(rows, 99),
    isExact: rows.length <= 1,
  }
}

/**
 * The smallest duration that the percentile of all requests certainly does not exceed. The percentiles of several rows
 * cannot be averaged: of a row, only these are known: at least half of its requests took at most p50, 95 % at most p95, and
 * 99 % at most p99. For one row, the bound is its own percentile.
 */
export function percentileBound(rows: readonly UsageRow[], percent: 50 | 95 | 99): number | null {
  const requests = rows.reduce((sum, row) => sum + row.requests, 0)
  if (requests === 0) return null
  const steps = rows.flatMap((row) => {
    const upTo = (share: number) => Math.ceil((row.requests * share) / 100)
    return [
      { ms: row.p50, count: upTo(50) },
      { ms: row.p95, count: upTo(95) - upTo(50) },
      { ms: row.p99, count: upTo(99) - upTo(95) },
    ]
  })
  let count = 0
  for (const step of steps.toSorted((one, other) => one.ms - other.ms)) {
    count += step.count
    if (count * 100 >= requests * percent) return step.ms
  }
  return Math.max(...rows.map(({ p99 }) => p99))
}

/** One point per interval from `fromMs` on, also for those without requests. */
export function pointsOf(
  rows: readonly UsageRow[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
  intervalMs: number,
): readonly UsagePoint[] {
  const first = Math.floor(fromMs / intervalMs)
  const groups = Map.groupBy(rows, ({ atMs }) => Math.floor(atMs / intervalMs))
  const count = Math.max(Math.ceil(toMs / intervalMs) - first, 1)
  return Array.from({ length: count }, (_, index) => ({
    atMs: (first + index) * intervalMs,
    ...sumOf(groups.get(first + index) ?? []),
  }))
}

/** By key or by route, most requests first. */
export function sharesOf(rows: readonly UsageRow[], by: 'key' | 'route'): readonly UsageShare[] {
  return [...Map.groupBy(rows, (row) => row[by])]
    .map(([name, group]) => ({ name, ...sumOf(group) }))
    .toSorted((one, other) => other.requests - one.requests || (one.name < other.name ? -1 : 1))
}

/** A read in the request log, and whether its response was cached. */
export interface LoggedRead {
  readonly atMs: number
  readonly key: string
  readonly route: string
  readonly isCached: boolean
}

export function loggedReadOf(row: Row): LoggedRead {
  return {
    atMs: Date.parse(String(row['at'])),
    key: String(row['key_id']),
    route: routeOf(String(row['method']), String(row['path'])),
    isCached: row['cached'] === true,
  }
}

/** The route as in usage: the log has the path. */
export function routeOf(method: string, path: string): string {
  return `${method} ${path.replace(/^(\/api\/v1\/\w+\/\w+)\/[^/]+$/, '$1/{id}')}`
}

/** Null without reads: nothing is known. */
export function cachedShareOf(reads: readonly LoggedRead[]): number | null {
  return reads.length === 0 ? null : reads.filter(({ isCached }) => isCached).length / reads.length
}

/** The cached share of the reads of each point. */
export function cachedSharesOf(
  reads: readonly LoggedRead[],
  points: readonly UsagePoint[],
  intervalMs: number,
): readonly (number | null)[] {
  const groups = Map.groupBy(reads, ({ atMs }) => Math.floor(atMs / intervalMs))
  return points.map(({ atMs }) => cachedShareOf(groups.get(Math.floor(atMs / intervalMs)) ?? []))
}
