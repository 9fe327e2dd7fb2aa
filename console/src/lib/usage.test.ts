import { expect, it } from 'vitest'
import { pointsOf, sharesOf } from './usage.ts'

const row = (at: string, key_id: string, requests: number, errors: number, p95_ms: number) => ({
  at,
  key_id,
  route: 'GET /x',
  requests,
  errors,
  p50_ms: 1,
  p95_ms,
  p99_ms: 9,
})
const rows = [
  row('2026-11-15T00:00:00.000Z', 'a', 30, 1, 2),
  row('2026-11-15T00:00:00.000Z', 'b', 10, 0, 6),
  row('2026-11-14T00:00:00.000Z', 'a', 5, 0, 4),
]

it('adds up the keys and routes of each time, oldest first', () => {
  expect(pointsOf(rows)).toEqual([
    { at: 1_794_614_400, requests: 5, errors: 0, p50: 1, p95: 4, p99: 9 },
    { at: 1_794_700_800, requests: 40, errors: 1, p50: 1, p95: 3, p99: 9 },
  ])
})

it('sorts keys by requests', () => {
  expect(sharesOf(rows, 'key_id').map(({ name, requests }) => [name, requests])).toEqual([
    ['a', 35],
    ['b', 10],
  ])
})
