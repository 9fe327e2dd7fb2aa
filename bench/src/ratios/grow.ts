import type { Context } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import type { Benchmark, BenchOutcome } from '../benchmark.ts'
import { percentile } from '../numbers.ts'
import { bar, type Run, sideBySide, timesAtMost } from '../side-by-side.ts'
import { Wrk } from '../wrk.ts'
import { type Fixture, sharedFixture, smallRecords } from './fixture.ts'
import { invalidateCaches, uncachedMs } from './invalidate-caches.ts'
import { forms } from './workloads.ts'

const boundMax = 1.3
const clients = 8
const path = '/api/v1/inventory/product'

const smallFixture = sharedFixture('small', (context) => ({
  records: 10_000,
  accounts: context.size(1_000, 500),
}))

/** Both benchmarks use the same data: one large account and 100,000 small ones. */
const largeFixture = sharedFixture('large', (context) => ({
  records: context.size(10_000_000, 200_000),
  accounts: context.size(100_000, 5_000),
}))

export const growAccounts: Benchmark = {
  name: 'grow_accounts',
  bound: `≤ ${boundMax}`,
  run: (context) =>
    grown(context, 'list, not cached', 'accounts', async (fixture) => {
      const { small: accounts, orders } = fixture.files
      const pages = smallRecords / 10
      const requests = { shape: 'cold', path, accounts, orders, forms, pages } as const
      const wrk = new Wrk(fixture.server.port, requests, clients)
      // A process looks up the id of an account once. Sending a request for every account excludes that from the measurement.
      await wrk.verify('200', { requestsMin: fixture.small.length })
      return async (seconds) => {
        await invalidateCaches(fixture)
        return (await wrk.measure(seconds)).p95Ms
      }
    }),
}

export const growRecords: Benchmark = {
  name: 'grow_records',
  bound: `≤ ${boundMax}`,
  run: (context) =>
    grown(context, 'first page after a write', 'records', async (fixture) => {
      const client = new Client(1)
      context.atEnd(async () => client.close())
      const count = context.size(1_000, 200)
      const run = async () => percentile(await uncachedMs(fixture, client, count, () => path), 95)
      await run()
      return run
    }),
}

/** p95 on the large data set divided by p95 on the small one, under the same load. */
async function grown(
  context: Context,
  label: string,
  dimension: string,
  runOn: (fixture: Fixture) => Promise<Run>,
): Promise<BenchOutcome> {
  const other = await runOn(await smallFixture(context))
  const service = await runOn(await largeFixture(context))
  const runs = await sideBySide(context, { service, other })
  const pair = {
    service: bar(`more ${dimension}, p95`, runs.service),
    other: bar(`fewer ${dimension}, p95`, runs.other),
  }
  return timesAtMost(boundMax, [{ label, unit: 'ms', ...pair }])
}
