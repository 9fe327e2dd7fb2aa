import { Client } from '../../figures/src/client.ts'
import { Random } from '../../figures/src/random.ts'
import { pageAt } from './bare.ts'
import type { BenchFigure } from './figure.ts'
import { forgottenMs } from './forget.ts'
import { median } from './numbers.ts'
import { pgbenchTimesMs } from './pgbench.ts'
import { provenStand } from './rates.ts'
import { bar, sideBySide, timesAtMost } from './side-by-side.ts'

const limit = 1000
const jumpsPerRun = 7

/** Pages in the last fifth of the large account, before each of which everything is forgotten. */
export const jump: BenchFigure = {
  name: 'jump',
  bound: '≤ 1.0',
  async run(context) {
    const stand = await provenStand(context)
    const all = context.size(1_000_000, 100_000) / limit
    const pages = { first: all * 0.8, last: all - 1 }
    const random = new Random(context.seed)
    const client = new Client(1)
    const pathOf = () =>
      `/api/v1/inventory/product?limit=${limit}&page=${random.integer(pages.first, pages.last)}`
    const service = async () => median(await forgottenMs(stand, client, jumpsPerRun, pathOf))
    const other = async () =>
      median(await pgbenchTimesMs(stand.url, pageAt(stand, limit, pages), jumpsPerRun))
    try {
      await service()
      await other()
      const runs = await sideBySide(context, { service, other })
      const label = `one page of ${limit}, far away`
      const [ours, bare] = [bar('service', runs.service), bar('bare OFFSET', runs.other)]
      return timesAtMost(1, [{ label, unit: 'ms', service: ours, other: bare }])
    } finally {
      client.close()
    }
  },
}
