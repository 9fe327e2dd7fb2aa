import { withClient } from '../../../server/src/postgres/client.ts'
import type { Benchmark } from '../benchmark.ts'
import { median, short } from '../numbers.ts'
import { bar, sideBySide } from '../side-by-side.ts'
import { Wrk } from '../wrk.ts'
import { type Fixture, half } from './fixture.ts'
import { forms, verifiedFixture } from './rates.ts'

const boundFull = 50
const countsPerRun = 5

/** Pages of a filter that were not requested before, by one client: only the total of the filter is cached. */
export const totalAgain: Benchmark = {
  name: 'total_again',
  bound: `≥ ${boundFull}`,
  async run(context) {
    const fixture = await verifiedFixture(context)
    // The time of a count is proportional to the matches, of which a quick run has a tenth.
    const boundMin = context.size(boundFull, boundFull / 10)
    const wrk = new Wrk(
      fixture.server.port,
      {
        shape: 'cold',
        path: '/api/v1/inventory/product',
        query: `filter=${encodeURIComponent(half.filter)}&`,
        accounts: fixture.files.large,
        orders: fixture.files.orders,
        forms,
        pages: context.size(3500, 2000),
      },
      1,
    )
    await wrk.verify('200')
    const medians: number[] = []
    const runs = await sideBySide(context, {
      service: async (seconds) => {
        const { p50Ms, p99Ms } = await wrk.measure(seconds)
        medians.push(p50Ms)
        return p99Ms
      },
      other: () => countMs(fixture),
    })
    const [service, other] = [bar('service, p99', runs.service), bar('plain count', runs.other)]
    const ratio = other.value / service.value
    return {
      value: `${ratio.toFixed(1)} (${short(other.value)} ÷ ${short(service.value)} ms)`,
      bound: `≥ ${boundMin}`,
      ok: ratio >= boundMin,
      note: `median ${short(median(medians))} ms`,
      series: [
        { label: 'total of half the products', unit: 'ms', service, other, limit: other.value / boundMin },
      ],
    }
  },
}

async function countMs({ url, large }: Fixture): Promise<number> {
  return withClient(url, async (client) => {
    const text = `select count(*) from product where account_id = $1 and ${half.condition}`
    const times: number[] = []
    for (let i = 0; i < countsPerRun; i++) {
      const started = performance.now()
      await client.query({ name: 'count', text, values: [large.id] })
      times.push(performance.now() - started)
    }
    return median(times)
  })
}
