import { expect, it } from 'vitest'
import {
  alternately,
  column,
  describeIntervals,
  type Interval,
  measureInterval,
  quietRounds,
  type Side,
} from './intervals.ts'

it('alternately: each run is first as often as last', async () => {
  const order: string[] = []
  const run = (name: string) => async () => order.push(name)
  const results = await alternately([run('a'), run('b'), run('c')], 2)
  expect(order).toEqual(['a', 'b', 'c', 'c', 'b', 'a'])
  expect(results).toEqual([
    [1, 6],
    [2, 5],
    [3, 4],
  ])
})

const intervalWith = (rate: number, stealPercent: number): Interval => ({
  rate,
  stealPercent,
  serverUs: 0,
  databaseUs: 0,
  p50Ms: 0,
  p99Ms: 0,
  otherPercent: 0,
  timesMs: [],
})

it('quietRounds: repeats rounds in which a side lost CPU time, and keeps pairs together', async () => {
  const steal = [0, 40, 0, 0, 3, 0]
  const order: string[] = []
  const side = (name: string, rates: number) => {
    let intervals = 0
    return async () => {
      order.push(name)
      intervals += 1
      // Only the second round of the first side is noisy.
      return intervalWith(rates + intervals, name === 'a' ? (steal[intervals - 1] ?? 0) : 0)
    }
  }
  const [a = [], b = []] = await quietRounds([side('a', 100), side('b', 200)], 3)
  expect(order.join('')).toBe('abbaabba')
  expect(column(a, 'rate')).toEqual([101, 103, 104])
  expect(column(b, 'rate')).toEqual([201, 203, 204])
})

it('quietRounds: ends on a machine that is always noisy, with the quietest rounds', async () => {
  let intervals = 0
  const noisy = async () => {
    intervals += 1
    return intervalWith(intervals, 60 - intervals)
  }
  const [measured = []] = await quietRounds([noisy], 2)
  expect(intervals).toBe(6)
  expect(column(measured, 'rate')).toEqual([6, 5])
})

it('measureInterval: CPU time per request, without that of the preparation', async () => {
  let [server, postgres] = [100, 200]
  const side: Side = {
    name: 'service',
    prepare: async () => {
      server += 50
      postgres += 50
    },
    load: async (seconds) => {
      server += 0.5
      postgres += 0.25
      return { requests: 10_000, seconds, p50Ms: 2, p99Ms: 8 }
    },
    cpuSeconds: () => server,
  }
  const measured = await measureInterval(side, 2, { seconds: () => postgres })
  expect(measured).toMatchObject({ rate: 5_000, p50Ms: 2, p99Ms: 8 })
  expect([measured.serverUs, measured.databaseUs]).toEqual([50, 25].map((us) => expect.closeTo(us, 3)))
  expect(describeIntervals(side, [measured])).toMatch(
    /^service: 5,000 \/s, 50 µs of its process and 25 µs of PostgreSQL per request, p99 8\.00 ms, steal /,
  )
})
