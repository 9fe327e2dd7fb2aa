import { describe, expect, it } from 'vitest'
import {
  cachedSharesOf,
  percentileBound,
  pointsOf,
  routeOf,
  sharesOf,
  sumOf,
  type UsageRow,
  usageRowOf,
} from './usage.ts'

const row = (more: Partial<UsageRow>): UsageRow => ({
  atMs: 0,
  key: 'a',
  route: 'GET /x',
  requests: 1,
  errors: 0,
  unlogged: 0,
  p50: 1,
  p95: 2,
  p99: 3,
  ...more,
})

/** The nearest rank, as the service computes it. */
function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? Number.NaN
}

function rowOf(values: readonly number[]): UsageRow {
  const [p50, p95, p99] = [50, 95, 99].map((percent) => percentile(values, percent))
  return row({ requests: values.length, p50: p50 ?? 0, p95: p95 ?? 0, p99: p99 ?? 0 })
}

describe('percentileBound', () => {
  it('is exact for one row, and null for none', () => {
    const one = [row({ requests: 700, p50: 4, p95: 9, p99: 31 })]
    expect(([50, 95, 99] as const).map((percent) => percentileBound(one, percent))).toEqual([4, 9, 31])
    expect(percentileBound([], 95)).toBeNull()
    expect(percentileBound([row({ requests: 0 })], 95)).toBeNull()
  })

  it('is not raised by a slow row with few requests', () => {
    const rows = [
      row({ requests: 990, p50: 1, p95: 2, p99: 3 }),
      row({ requests: 10, p50: 900, p95: 901, p99: 902 }),
    ]
    expect(percentileBound(rows, 50)).toBe(2)
    expect(percentileBound(rows, 95)).toBe(3)
    expect(percentileBound(rows, 99)).toBe(901)
  })

  it('is never below the percentile of all requests', () => {
    let seed = 7
    const random = () => {
      seed = (seed * 16_807) % 2_147_483_647
      return seed / 2_147_483_647
    }
    for (let round = 0; round < 500; round++) {
      const groups = Array.from({ length: 1 + Math.floor(random() * 6) }, () => {
        const scale = 10 ** (random() * 3)
        return Array.from({ length: 1 + Math.floor(random() ** 3 * 300) }, () => random() * scale)
      })
      const rows = groups.map(rowOf)
      for (const percent of [50, 95, 99] as const) {
        expect(percentileBound(rows, percent)).toBeGreaterThanOrEqual(percentile(groups.flat(), percent))
      }
    }
  })
})

describe('pointsOf', () => {
  it('has a point for every interval, with zeros and no latency where there were no requests', () => {
    const minute = 60_000
    const rows = [
      row({ atMs: 10 * minute, requests: 3, errors: 1 }),
      row({ atMs: 11 * minute, requests: 4 }),
      row({ atMs: 25 * minute, requests: 5, key: 'b' }),
    ]
    const points = pointsOf(rows, { fromMs: 7 * minute, toMs: 26 * minute }, 5 * minute)
    expect(points.map(({ atMs, requests, errors }) => [atMs / minute, requests, errors])).toEqual([
      [5, 0, 0],
      [10, 7, 1],
      [15, 0, 0],
      [20, 0, 0],
      [25, 5, 0],
    ])
    expect(points[0]?.p95).toBeNull()
    expect(points[1]).toMatchObject({ p95: 2, isExact: false })
    expect(points[4]).toMatchObject({ p95: 2, isExact: true })
  })
})

describe('sharesOf', () => {
  it('adds up by key and by route, most requests first', () => {
    const rows = [
      row({ key: 'a', route: 'GET /x', requests: 2, errors: 1 }),
      row({ key: 'b', route: 'GET /x', requests: 5 }),
      row({ key: 'a', route: 'GET /y', requests: 1, unlogged: 1 }),
    ]
    expect(sharesOf(rows, 'key').map(({ name, requests }) => [name, requests])).toEqual([
      ['b', 5],
      ['a', 3],
    ])
    expect(sharesOf(rows, 'route').map(({ name, errors }) => [name, errors])).toEqual([
      ['GET /x', 1],
      ['GET /y', 0],
    ])
    expect(sumOf(rows)).toMatchObject({ requests: 8, errors: 1, unlogged: 1 })
  })
})

describe('the request log', () => {
  it('has paths, usage has routes', () => {
    expect(routeOf('GET', '/api/v1/inventory/product')).toBe('GET /api/v1/inventory/product')
    expect(routeOf('GET', '/api/v1/inventory/product/17')).toBe('GET /api/v1/inventory/product/{id}')
    expect(routeOf('GET', '/api/v1/resources/partner/x')).toBe('GET /api/v1/resources/partner/{id}')
  })

  it('gives the cached share of each interval, and none without reads', () => {
    const read = (atMs: number, isCached: boolean) => ({ atMs, key: 'a', route: 'GET /x', isCached })
    const points = pointsOf([], { fromMs: 0, toMs: 300 }, 100)
    expect(cachedSharesOf([read(5, true), read(99, false), read(200, true)], points, 100)).toEqual([
      0.5,
      null,
      1,
    ])
  })
})

it('reads a row of the service', () => {
  const { atMs, key, p99 } = usageRowOf({
    at: '2026-11-16T01:51:00.000Z',
    key_id: 'hiz3r72m',
    route: 'GET /api/v1/resources/partner',
    requests: 8,
    errors: 0,
    unlogged: 0,
    p50_ms: 1.218,
    p95_ms: 13.196,
    p99_ms: 13.196,
  })
  expect([atMs, key, p99]).toEqual([Date.UTC(2026, 10, 16, 1, 51), 'hiz3r72m', 13.196])
})
