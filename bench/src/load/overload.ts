import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../../../verification/src/check.ts'
import { encoded, type Fixture, loadFixture, ms, products, residentMb, withServers } from './fixture.ts'
import { type Load, otherStatuses, runLoad, withStatus } from './load.ts'

/** Recommended by docs/operating/overload.md if process and database share the CPUs: one CPU is left to the process. */
const environment = { QUARTERMASTER_DATABASE_POOL_MAX: String(Math.max(1, availableParallelism() - 1)) }
const memoryMbMax = 768
const recoveryMs = 5_000

/** Sends three times the capacity of one process and its database, without waiting for responses. */
export const overload: Check = {
  name: 'overload',
  bound: '≥ 90 %, rejected ≤ 20 ms, ≤ 5 s (quick: 30 %, 250 ms)',
  async run(context) {
    const fixture = await loadFixture(context)
    return await withServers(fixture, 1, environment, async ([server]) => {
      if (server === undefined) throw new Error('no server')
      const load: Omit<Load, 'rate' | 'seconds'> = {
        ports: [server.port],
        connectionsMax: 500,
        requests: newFilters(fixture),
      }
      let start = 1
      const next = async (rate: number, seconds: number, connectionsMax = load.connectionsMax) => {
        const connectionsReady = rate === 0 ? 0 : connectionsMax
        const result = await runLoad({ ...load, rate, seconds, connectionsMax, connectionsReady, start })
        start += result.sent
        return result
      }
      await next(0, 2, 64)
      // Measured before and after, because other work of the machine changes the capacity.
      const peaks: number[] = []
      const measurePeak = async () => {
        const run = await next(0, context.size(10, 3), 64)
        peaks.push((run.inTime['200'] ?? 0) / run.seconds)
      }
      await measurePeak()
      await measurePeak()
      const saturation = Math.max(...peaks)
      const calm = await next(saturation / 5, context.size(10, 3))

      const memoryBefore = residentMb(server.pid)
      const storm = await next(saturation * 3, context.size(60, 6))
      const memory = residentMb(server.pid)
      const ended = performance.now()
      let again = await next(saturation / 5, 1)
      while (otherStatuses(again, 200) !== '' && performance.now() - ended < recoveryMs * 2) {
        await sleep(100)
        again = await next(saturation / 5, 1)
      }
      const recovered = performance.now() - ended - 1000

      await measurePeak()
      const peak = peaks.toSorted((a, b) => a - b)[1] ?? 0
      const share = (storm.inTime['200'] ?? 0) / storm.seconds / peak
      const rejected = withStatus(storm, 503)
      const unexpected = otherStatuses(storm, 200, 503)
      return {
        value: `${(share * 100).toFixed(0)} %, rejected in ${ms(rejected.p99Ms)}, ${memory} MB, ${(recovered / 1000).toFixed(1)} s`,
        samples: Math.min(storm.sent, rejected.count, withStatus(storm, 200).count),
        ok:
          share >= context.size(0.9, 0.3) &&
          rejected.count > 0 &&
          storm.unsent <= storm.sent / context.size(100, 5) &&
          rejected.p99Ms <= context.size(20, 250) &&
          memory <= memoryMbMax &&
          recovered <= recoveryMs,
        note:
          `peak ${peaks.map((one) => one.toFixed(0)).join(', ')}/s, offered ${(storm.sent / storm.seconds).toFixed(0)}/s, rejected ${rejected.count} ` +
          `(p50 ${ms(rejected.p50Ms)}); accepted p50 ${ms(withStatus(storm, 200).p50Ms)}, p99 ${ms(withStatus(storm, 200).p99Ms)}, ` +
          `calm p99 ${ms(withStatus(calm, 200).p99Ms)}; memory ${memoryBefore} → ${memory} MB${unexpected === '' ? '' : `; ${unexpected}`}`,
      }
    })
  },
}

/** Filters of 12 conditions, none of them repeated: more work for the database than for the process. */
function newFilters({ small }: Fixture): Load['requests'] {
  const conditions = Array.from({ length: 12 }, (_, i) => `name!*q{n}z${i}`).join('&')
  return small.map((caller) => ({ ...caller, path: `${products}?filter=${encoded(conditions)}` }))
}
