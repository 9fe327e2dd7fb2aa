import { withClient } from '../../../server/src/postgres/client.ts'
import type { Context } from '../../../verification/src/check.ts'
import type { Benchmark, BenchOutcome } from '../benchmark.ts'
import { DatabaseCpu } from '../cpu.ts'
import { column, describeIntervals, type Interval, inIntervals, type Side } from '../intervals.ts'
import { median, medianOfRatios, short } from '../numbers.ts'
import { type Peer, startPeers } from '../peers/peers.ts'
import { bar } from '../side-by-side.ts'
import { Wrk } from '../wrk.ts'
import { type Fixture, sharedFixture } from './fixture.ts'
import { invalidateCaches } from './invalidate-caches.ts'
import { pgbenchLoad } from './pgbench.ts'
import { verifySameWork } from './same-work.ts'
import { type Workload, type WorkloadName, workloads } from './workloads.ts'

export const mainFixture = sharedFixture('main', (context) => ({
  records: context.size(1_000_000, 100_000),
  accounts: context.size(10_000, 1_000),
}))

const verified = new WeakSet<Fixture>()

/** The fixture, after verifying that both sides do the same work on it. */
export async function verifiedFixture(context: Context): Promise<Fixture> {
  const fixture = await mainFixture(context)
  if (!verified.has(fixture)) await verifySameWork(fixture, context.seed)
  verified.add(fixture)
  return fixture
}

const peersOf = memoized(startPeers)

/** Each workload twice: compared with plain PostgreSQL, and with the fastest of the other servers. */
export const rates: readonly Benchmark[] = workloads.flatMap((workload: Workload): Benchmark[] => {
  // Both use the same intervals.
  const measured = memoized((context, fixture) => measure(context, fixture, workload))
  const { name, boundMin } = workload
  return [
    {
      name,
      bound: `≥ ${boundMin}`,
      run: async (context) => comparedWithBare(workload, await measured(context)),
    },
    {
      name: `${name}_peer`,
      bound: '> 1',
      run: async (context) => comparedWithPeers(workload, await measured(context)),
    },
  ]
})

/** Runs once for the fixture, for benchmarks that use the same measurement. */
export function memoized<T>(
  make: (context: Context, fixture: Fixture) => Promise<T>,
): (context: Context) => Promise<T> {
  const made = new WeakMap<Fixture, Promise<T>>()
  return async (context) => {
    const fixture = await verifiedFixture(context)
    const found = made.get(fixture) ?? make(context, fixture)
    made.set(fixture, found)
    return found
  }
}

/** A side and its intervals. */
interface Measured {
  readonly side: Side
  readonly intervals: readonly Interval[]
}

interface Measurement {
  readonly bare: Measured
  readonly service: Measured
  readonly peers: readonly Measured[]
}

async function measure(context: Context, fixture: Fixture, workload: Workload): Promise<Measurement> {
  const sides: Side[] = [
    {
      name: 'plain PostgreSQL',
      load: (seconds) => pgbenchLoad(fixture.url, workload.bare(fixture), workload.clients, seconds),
    },
    await sideOf(context, fixture, workload, { name: 'service', server: fixture.server }),
  ]
  for (const peer of await peersOf(context)) sides.push(await sideOf(context, fixture, workload, peer))
  const intervals = await inIntervals(sides, {
    rounds: context.size(15, 4),
    seconds: 1,
    database: await DatabaseCpu.of(fixture.url),
  })
  if (workload.name === ('create' satisfies WorkloadName)) await verifyCreated(fixture)
  const [bare, service, ...others] = sides.map((side, i) => ({ side, intervals: intervals[i] ?? [] }))
  if (bare === undefined || service === undefined) throw new Error('no measurements')
  return { bare, service, peers: others }
}

/** A server under the requests of a workload, after a warm-up that verifies their status. */
export async function sideOf(
  context: Context,
  fixture: Fixture,
  { requests, clients, status, isCold = false }: Workload,
  { name, server }: Peer,
): Promise<Side> {
  const wrk = new Wrk(server.port, await requests(fixture, server.port), clients)
  // Every list is cached after one request for each account.
  const requestsMin = !isCold && status === '200' ? fixture.small.length : 1
  await wrk.verify(status, { requestsMin, warmUpSeconds: context.size(5, 2) })
  return {
    name,
    ...(isCold ? { prepare: () => invalidateCaches(fixture) } : {}),
    load: (seconds) => wrk.measure(seconds),
    cpuSeconds: () => server.cpuSeconds(),
  }
}

function comparedWithBare({ label, boundMin }: Workload, { bare, service }: Measurement): BenchOutcome {
  const ratio = ratioOf(service, bare)
  return { ...outcomeOf(label, boundMin, service, [bare]), ok: ratio >= boundMin }
}

function comparedWithPeers({ label }: Workload, { service, peers }: Measurement): BenchOutcome {
  const fastestFirst = peers.toSorted((a, b) => rateOf(b) - rateOf(a))
  const [fastest] = fastestFirst
  if (fastest === undefined) throw new Error('no peers')
  return { ...outcomeOf(label, 1, service, fastestFirst), ok: ratioOf(service, fastest) > 1 }
}

/** Compares the service with the first of the others. The note has all of them. */
function outcomeOf(label: string, boundMin: number, service: Measured, others: readonly Measured[]) {
  const [first = service] = others
  const [measuredBar, other] = [service, first].map(({ side, intervals }) =>
    bar(side.name, column(intervals, 'rate')),
  )
  if (measuredBar === undefined || other === undefined) throw new Error('no measurements')
  return {
    value: `${ratioOf(service, first).toFixed(2)} (${short(measuredBar.value)} ÷ ${short(other.value)} /s)`,
    note: [
      ...[service, ...others].map(({ side, intervals }) => describeIntervals(side, intervals)),
      `CPU per request: ${medianOfRatios(cpuOf(service), cpuOf(first)).toFixed(2)} × that of ${first.side.name}`,
    ].join('\n'),
    samples: Math.min(
      ...[service, first].map(({ intervals }) => column(intervals, 'rate').filter((rate) => rate > 0).length),
    ),
    series: [{ label, unit: '/s' as const, service: measuredBar, other, limit: other.value * boundMin }],
    intervals: Object.fromEntries([service, ...others].map(({ side, intervals }) => [side.name, intervals])),
  }
}

function ratioOf(service: Measured, other: Measured): number {
  return medianOfRatios(column(service.intervals, 'rate'), column(other.intervals, 'rate'))
}

/** CPU time per request of each interval: of the process and of PostgreSQL. */
function cpuOf({ intervals }: Measured): number[] {
  return intervals.map(({ serverUs, databaseUs }) => serverUs + databaseUs)
}

function rateOf({ intervals }: Measured): number {
  return median(column(intervals, 'rate'))
}

/** The tallies must match the partners that all sides have created. */
async function verifyCreated({ url }: Fixture): Promise<void> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ stored: string; tallied: string }>(
      `select (select count(*) from partner) as stored,
              (select sum(total) from tally where resource = 'partner') as tallied`,
    ),
  )
  if (rows[0] === undefined || Number(rows[0].stored) === 0 || rows[0].stored !== rows[0].tallied) {
    throw new Error(`partners stored and tallied: ${JSON.stringify(rows[0])}`)
  }
}
