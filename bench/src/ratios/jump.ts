import { Client } from '../../../verification/src/client.ts'
import { Random } from '../../../verification/src/random.ts'
import type { Benchmark } from '../benchmark.ts'
import { median } from '../numbers.ts'
import { bar, sideBySide, timesAtMost } from '../side-by-side.ts'
import { pageAt } from './bare.ts'
import { uncachedMs } from './invalidate-caches.ts'
import { pgbenchTimesMs } from './pgbench.ts'
import { verifiedFixture } from './rates.ts'

const limit = 1000
const jumpsPerRun = 7

/** Pages in the last fifth of the large account, each with all caches invalidated. */
export const jump: Benchmark = {
  name: 'jump',
  bound: '≤ 1.0',
  async run(context) {
    const fixture = await verifiedFixture(context)
    const all = context.size(1_000_000, 100_000) / limit
    const pages = { first: all * 0.8, last: all - 1 }
    const random = new Random(context.seed)
    const client = new Client(1)
    const pathOf = () =>
      `/api/v1/inventory/product?limit=${limit}&page=${random.integer(pages.first, pages.last)}`
    const service = async () => median(await uncachedMs(fixture, client, jumpsPerRun, pathOf))
    const other = async () =>
      median(await pgbenchTimesMs(fixture.url, pageAt(fixture, limit, pages), jumpsPerRun))
    try {
      await service()
      await other()
      const runs = await sideBySide(context, { service, other })
      const label = `one page of ${limit}, in the last fifth`
      const [measured, baseline] = [bar('service', runs.service), bar('plain OFFSET', runs.other)]
      return timesAtMost(1, [{ label, unit: 'ms', service: measured, other: baseline }])
    } finally {
      client.close()
    }
  },
}
