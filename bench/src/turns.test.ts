import { expect, it } from 'vitest'
import { alternately, describeTurns, type Side, turn } from './turns.ts'

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

it('turn: CPU time per request, without that of the preparation', async () => {
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
  const measured = await turn(side, 2, { seconds: () => postgres })
  expect(measured).toMatchObject({ rate: 5_000, p50Ms: 2, p99Ms: 8 })
  expect([measured.serverUs, measured.databaseUs]).toEqual([50, 25].map((us) => expect.closeTo(us, 3)))
  expect(describeTurns(side, [measured])).toMatch(
    /^service: 5,000 \/s, 50 µs of its process and 25 µs of PostgreSQL per request, p99 8\.00 ms, steal /,
  )
})
