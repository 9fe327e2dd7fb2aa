import { availableParallelism } from 'node:os'
import type { Check } from '../../../verification/src/check.ts'
import { encoded, type Fixture, loadFixture, ms, products, withServers } from './fixture.ts'
import { type Load, otherStatuses, runLoad, withStatus } from './load.ts'

const calmRate = 20
/** Recommended by docs/operating/configure.md: one account leaves one CPU of the database to the others. */
const environment = { QUARTERMASTER_ACCOUNT_READS_MAX: String(Math.max(1, availableParallelism() - 1)) }

/** Filters that evaluate three conditions on every record and match nearly all. None is repeated. */
const expensivePath = `${products}?limit=1000&fields=id&filter=${encoded('name!*q{n}z&default_code!*q{n}z&name!*z{n}q')}`

/** One account sends expensive filters at ten times its capacity, while small accounts send a normal load. */
export const noisyNeighbour: Check = {
  name: 'noisy_neighbour',
  bound: '≤ 2 × alone, 0 errors (quick: 20 ×)',
  async run(context) {
    const fixture = await loadFixture(context)
    return await withServers(fixture, 1, environment, async ([server]) => {
      const port = server?.port ?? 0
      const seconds = context.size(60, 10)
      const calm = { ...calmLoad(fixture, port), seconds }
      await runLoad({ ...calm, seconds: 3 })
      const unloaded = await runLoad({ ...calm, start: 10_000 })

      const noise = { ports: [port], requests: [{ ...fixture.large, path: expensivePath }] }
      const capacity = await runLoad({
        ...noise,
        rate: 0,
        seconds: context.size(20, 4),
        connectionsMax: Number(environment.QUARTERMASTER_ACCOUNT_READS_MAX),
      })
      const capacityRate =
        (withStatus(capacity, 200).count + withStatus(capacity, 504).count) / capacity.seconds
      const rate = Math.max(10, capacityRate * 10)
      const noisy = runLoad({ ...noise, rate, seconds: seconds + 2, connectionsMax: 1000, start: 1_000_000 })
      const loaded = await runLoad({ ...calm, start: 20_000 })
      const noiseResult = await noisy

      const [baseline, during] = [withStatus(unloaded, 200), withStatus(loaded, 200)]
      const ratio = during.p99Ms / baseline.p99Ms
      const errors = otherStatuses(loaded, 200)
      return {
        value: `${ratio.toFixed(2)} × (${ms(baseline.p99Ms)} → ${ms(during.p99Ms)}), ${errors === '' ? '0 errors' : errors}`,
        samples: Math.min(baseline.count, during.count),
        ok: ratio <= context.size(2, 20) && errors === '' && withStatus(noiseResult, 429).count > 0,
        note:
          `the noise: ${rate.toFixed(0)} requests/s with a capacity of ${capacityRate.toFixed(1)}; ` +
          `${otherStatuses(noiseResult)}; medians of the small accounts ${ms(baseline.p50Ms)} → ${ms(during.p50Ms)}`,
      }
    })
  },
}

/** Lists, records and new filters on accounts of 100 products. */
function calmLoad({ small }: Fixture, port: number): Load {
  const paths = [
    `${products}?limit=20`,
    `${products}?fields=id,name&filter=${encoded('list_price<{n}')}`,
    `${products}/7`,
  ]
  const requests = small.slice(0, 20).flatMap((caller) => paths.map((path) => ({ ...caller, path })))
  return { ports: [port], rate: calmRate, seconds: 1, connectionsMax: 32, requests }
}
