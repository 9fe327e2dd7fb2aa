import type { Context } from '../../../verification/src/check.ts'
import { Client } from '../../../verification/src/client.ts'
import type { Benchmark, BenchOutcome } from '../benchmark.ts'
import { percentile } from '../numbers.ts'
import { bar, type Run, sideBySide, timesAtMost } from '../side-by-side.ts'
import { Wrk } from '../wrk.ts'
import { type Fixture, smallRecords, standOf } from './fixture.ts'
import { forgetAll, forgottenMs } from './forget.ts'
import { forms } from './rates.ts'

const boundMax = 1.3
const clients = 8
const path = '/api/v1/inventory/product'

const few = standOf('few', (context) => ({ records: 10_000, accounts: context.size(1_000, 500) }))

/** One account that is large and many that are not, so that the data are loaded once for both benchmarks. */
const many = standOf('many', (context) => ({
  records: context.size(10_000_000, 200_000),
  accounts: context.size(100_000, 5_000),
}))

export const growAccounts: Benchmark = {
  name: 'grow_accounts',
  bound: `≤ ${boundMax}`,
  run: (context) =>
    grown(context, 'list, never asked before', 'accounts', async (fixture) => {
      const { small: accounts, orders } = fixture.files
      const pages = smallRecords / 10
      const requests = { shape: 'cold', path, accounts, orders, forms, pages } as const
      const wrk = new Wrk(fixture.server.port, requests, clients)
      // A name that a process has not met yet is looked up first: with many accounts as with few, each was met.
      await wrk.prove('200', fixture.small.length)
      return async (seconds) => {
        await forgetAll(fixture)
        return (await wrk.measure(seconds)).p95Ms
      }
    }),
}

export const growRecords: Benchmark = {
  name: 'grow_records',
  bound: `≤ ${boundMax}`,
  run: (context) =>
    grown(context, 'first page, after a change', 'records', async (fixture) => {
      const client = new Client(1)
      context.atEnd(async () => client.close())
      const count = context.size(1_000, 200)
      const run = async () => percentile(await forgottenMs(fixture, client, count, () => path), 95)
      await run()
      return run
    }),
}

/** p95 with many of something, held against p95 with few, under the same load. */
async function grown(
  context: Context,
  label: string,
  ofWhat: string,
  runOn: (fixture: Fixture) => Promise<Run>,
): Promise<BenchOutcome> {
  const other = await runOn(await few(context))
  const service = await runOn(await many(context))
  const runs = await sideBySide(context, { service, other })
  const pair = {
    service: bar(`many ${ofWhat}, p95`, runs.service),
    other: bar(`few ${ofWhat}, p95`, runs.other),
  }
  return timesAtMost(boundMax, [{ label, unit: 'ms', ...pair }])
}
