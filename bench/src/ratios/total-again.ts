import { withClient } from '../../../server/src/postgres/client.ts'
import type { Context } from '../../../verification/src/check.ts'
import type { Benchmark, BenchOutcome } from '../benchmark.ts'
import { machineCpu, stealPercentSince } from '../cpu.ts'
import { alternately } from '../intervals.ts'
import { median, medianOfRatios, short } from '../numbers.ts'
import { bar } from '../side-by-side.ts'
import { Wrk, type WrkResult } from '../wrk.ts'
import { type Fixture, half } from './fixture.ts'
import { memoized } from './rates.ts'
import { forms, productPath } from './workloads.ts'

const countsPerInterval = 5

/** Pages of a filter that were not requested before, by one client: only the total of the filter is cached. */
interface Measurement {
  readonly pages: readonly WrkResult[]
  /** The time of the plain count, in ms. */
  readonly counts: readonly number[]
  readonly stealPercent: number
}

const measured = memoized(measure)

/** Separate bounds, because p99 is the latency of the machine's scheduler and of the garbage collector, not of the total. */
export const totalAgain: readonly Benchmark[] = (
  [
    { percentile: 'p50', boundFull: 100 },
    { percentile: 'p99', boundFull: 5 },
  ] as const
).map(({ percentile, boundFull }) => ({
  name: `total_again_${percentile}`,
  bound: `≥ ${boundFull}`,
  // The time of a count is proportional to the matches, of which a quick run has a tenth.
  run: async (context) =>
    outcome(percentile, context.size(boundFull, boundFull / 10), await measured(context)),
}))

async function measure(context: Context, fixture: Fixture): Promise<Measurement> {
  const wrk = new Wrk(
    fixture.server.port,
    {
      shape: 'cold',
      path: productPath,
      query: `filter=${encodeURIComponent(half.filter)}&`,
      accounts: fixture.files.large,
      orders: fixture.files.orders,
      forms,
      pages: context.size(3500, 2000),
    },
    1,
  )
  await wrk.verify('200', { warmUpSeconds: context.size(5, 2) })
  const pages: WrkResult[] = []
  const before = machineCpu()
  const [, counts = []] = await alternately(
    [async () => pages.push(await wrk.measure(1)), () => countMs(fixture)],
    context.size(8, 4),
  )
  return { pages, counts, stealPercent: stealPercentSince(before) }
}

function outcome(
  percentile: 'p50' | 'p99',
  boundMin: number,
  { pages, counts, stealPercent }: Measurement,
): BenchOutcome {
  const service = bar(
    `service, ${percentile}`,
    pages.map((page) => page[`${percentile}Ms`]),
  )
  const other = bar('plain count', counts)
  const ratio = medianOfRatios(other.runs, service.runs)
  const label = 'total of half the products'
  return {
    value: `${ratio.toFixed(1)} (${short(other.value)} ÷ ${short(service.value)} ms)`,
    bound: `≥ ${boundMin}`,
    samples: Math.min(pages.length, counts.length),
    ok: ratio >= boundMin,
    note: `steal ${stealPercent.toFixed(1)} %`,
    series: [{ label, unit: 'ms', service, other, limit: other.value / boundMin }],
  }
}

async function countMs({ url, large }: Fixture): Promise<number> {
  return withClient(url, async (client) => {
    const text = `select count(*) from product where account_id = $1 and ${half.condition}`
    const times: number[] = []
    for (let i = 0; i < countsPerInterval; i++) {
      const started = performance.now()
      await client.query({ name: 'count', text, values: [large.id] })
      times.push(performance.now() - started)
    }
    return median(times)
  })
}
