import { availableParallelism } from 'node:os'
import type { Check } from '../../../verification/src/check.ts'
import { encoded, type Fixture, ms, products, standOf, withServers } from './fixture.ts'
import { answered, type Load, others, runLoad } from './load.ts'

const calmRate = 20
/** As docs/operating.md advises: an account leaves the others a processor of the database. */
const environment = { ACCOUNT_READS_MAX: String(Math.max(1, availableParallelism() - 1)) }

/** Every record is looked at, several times over, and nearly all of them match; none of these comes twice. */
const dear = `${products}?limit=1000&fields=id&filter=${encoded('name!*q{n}z&default_code!*q{n}z&name!*z{n}q')}`

/** One account asks for ten times what it can get, with the most expensive filters; another goes about its business. */
export const noisyNeighbour: Check = {
  name: 'noisy_neighbour',
  bound: '≤ 2 × alone, 0 errors (quick: 20 ×)',
  async run(context) {
    const fixture = await standOf(context)
    return await withServers(fixture, 1, environment, async ([server]) => {
      const port = server?.port ?? 0
      const seconds = context.size(60, 10)
      const calm = { ...calmLoad(fixture, port), seconds }
      await runLoad({ ...calm, seconds: 3 })
      const alone = await runLoad({ ...calm, start: 10_000 })

      const noise = { ports: [port], requests: [{ ...fixture.large, path: dear }] }
      const capacity = await runLoad({
        ...noise,
        rate: 0,
        seconds: context.size(20, 4),
        connectionsMax: Number(environment.ACCOUNT_READS_MAX),
      })
      const each = (answered(capacity, 200).count + answered(capacity, 504).count) / capacity.seconds
      const rate = Math.max(10, each * 10)
      const noisy = runLoad({ ...noise, rate, seconds: seconds + 2, connectionsMax: 1000, start: 1_000_000 })
      const beside = await runLoad({ ...calm, start: 20_000 })
      const noise2 = await noisy

      const [quiet, loud] = [answered(alone, 200), answered(beside, 200)]
      const ratio = loud.p99Ms / quiet.p99Ms
      const errors = others(beside, 200)
      return {
        value: `${ratio.toFixed(2)} × (${ms(quiet.p99Ms)} → ${ms(loud.p99Ms)}), ${errors === '' ? '0 errors' : errors}`,
        ok: ratio <= context.size(2, 20) && errors === '' && answered(noise2, 429).count > 0,
        note:
          `the noise: ${rate.toFixed(0)} requests/s where ${each.toFixed(1)} can be done; ` +
          `${others(noise2)}; medians of the other ${ms(quiet.p50Ms)} → ${ms(loud.p50Ms)}`,
      }
    })
  },
}

/** Lists, records and filters on accounts of 100 products, none of them asked before. */
function calmLoad({ small }: Fixture, port: number): Load {
  const paths = [
    `${products}?limit=20`,
    `${products}?fields=id,name&filter=${encoded('list_price<{n}')}`,
    `${products}/7`,
  ]
  const requests = small.slice(0, 20).flatMap((caller) => paths.map((path) => ({ ...caller, path })))
  return { ports: [port], rate: calmRate, seconds: 1, connectionsMax: 32, requests }
}
