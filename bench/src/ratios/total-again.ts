import { withClient } from '../../../server/src/postgres/client.ts'
import type { Benchmark } from '../benchmark.ts'
import { median, short } from '../numbers.ts'
import { bar, sideBySide } from '../side-by-side.ts'
import { Wrk } from '../wrk.ts'
import { type Fixture, half } from './fixture.ts'
import { forms, provenFixture } from './rates.ts'

const boundFull = 50
const countsPerRun = 5

/** Other pages of a filter whose total is known, none asked before, by one client: the total is all that is known. */
export const totalAgain: Benchmark = {
  name: 'total_again',
  bound: `≥ ${boundFull}`,
  async run(context) {
    const fixture = await provenFixture(context)
    // The time of a count grows with the matches, of which a quick run has a tenth.
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
    await wrk.prove('200')
    const halfWithin: number[] = []
    const runs = await sideBySide(context, {
      service: async (seconds) => {
        const { p50Ms, p99Ms } = await wrk.measure(seconds)
        halfWithin.push(p50Ms)
        return p99Ms
      },
      other: () => countMs(fixture),
    })
    const [service, other] = [bar('service, p99', runs.service), bar('bare count', runs.other)]
    const ratio = other.value / service.value
    return {
      value: `${ratio.toFixed(1)} (${short(other.value)} ÷ ${short(service.value)} ms)`,
      bound: `≥ ${boundMin}`,
      ok: ratio >= boundMin,
      note: `half of the answers within ${short(median(halfWithin))} ms`,
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
