import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context } from '../check.ts'
import { headersFor } from '../client.ts'
import { grouped } from '../progress.ts'
import type { OldConnections } from '../replication/movable-address.ts'
import { PrimaryAndStandby } from '../replication/primary-and-standby.ts'
import { messageOf } from '../runner.ts'
import { database, type MovableService, startMovableService } from './movable-service.ts'
import { SwitchoverLoad } from './switchover-load.ts'

/** How long a primary is paused before the standby is promoted. */
const pausedMs = [2_000, 500, 4_000, 1_000]

const account = 'moved'

/**
 * What happens to the old primary. `shutdown`: a clean shutdown before the promotion. `killed`: SIGKILL, with a synchronous
 * standby. `paused`: SIGSTOP, and SIGCONT when the new one serves. `alive`: it continues to run next to the new one, as
 * when fencing fails; it cannot acknowledge a commit, because its synchronous standby is disconnected.
 */
type OldPrimary = 'shutdown' | 'killed' | 'paused' | 'alive'

interface Switchover {
  readonly primary: OldPrimary
  readonly connections: OldConnections
}

const moving: readonly Switchover[] = [
  { primary: 'shutdown', connections: 'close' },
  { primary: 'killed', connections: 'leave' },
  { primary: 'alive', connections: 'leave' },
  { primary: 'paused', connections: 'leave' },
  { primary: 'shutdown', connections: 'leave' },
  { primary: 'killed', connections: 'close' },
  { primary: 'paused', connections: 'close' },
  { primary: 'alive', connections: 'close' },
  { primary: 'alive', connections: 'leave' },
  { primary: 'paused', connections: 'leave' },
  { primary: 'shutdown', connections: 'leave' },
  { primary: 'killed', connections: 'leave' },
]
/** Without `alive`: how long an old primary is still read depends on the speed of the machine. */
const movingQuick: readonly Switchover[] = [
  { primary: 'paused', connections: 'leave' },
  { primary: 'shutdown', connections: 'leave' },
  { primary: 'killed', connections: 'leave' },
]

/** With a URL that names both hosts, a process may connect to any writable one, so `alive` is not tested here. */
const hosts: readonly Switchover[] = (
  ['shutdown', 'killed', 'paused', 'shutdown', 'killed', 'paused', 'shutdown', 'killed'] as const
).map((primary) => ({ primary, connections: 'leave' }))
const hostsQuick: readonly Switchover[] = [{ primary: 'paused', connections: 'leave' }]

/** Promotes a streaming standby while two processes serve, then rebuilds the old primary as its standby. */
export const switchover: Check = {
  name: 'switchover',
  bound: '0 lost, stale, duplicated, ≤ 5 s, ≤ 2 s (quick: no time bound)',
  async run(context) {
    const fixture = await startFixture()
    try {
      return await measure(context, fixture)
    } finally {
      await fixture.stop()
    }
  },
}

interface Fixture extends MovableService {
  readonly pair: PrimaryAndStandby
}

async function startFixture(): Promise<Fixture> {
  const pair = await PrimaryAndStandby.start()
  return { ...(await startMovableService(pair.nodes, pair.primary, account)), pair }
}

interface Sums {
  switchovers: number
  lost: number
  stale: number
  duplicated: number
  tolerated: number
  slowestMs: number
  writesMs: number
  created: number
  requests: number
  readonly faults: string[]
}

async function measure(context: Context, fixture: Fixture) {
  const { pair, service } = fixture
  const sums: Sums = {
    switchovers: 0,
    lost: 0,
    stale: 0,
    duplicated: 0,
    tolerated: 0,
    slowestMs: 0,
    writesMs: 0,
    created: 0,
    requests: 0,
    faults: [],
  }
  const both = [pair.primary, pair.standby].map(({ port }) => `127.0.0.1:${port}`).join()
  const url = `postgres://postgres@${both}/${database}?target_session_attrs=read-write`
  const phases = [
    { label: 'address', plan: context.quick ? movingQuick : moving, environment: {} },
    { label: 'hosts', plan: context.quick ? hostsQuick : hosts, environment: { DATABASE_URL: url } },
  ]
  for (const { label, plan, environment } of phases) {
    try {
      const servers = [await service.serve(environment), await service.serve(environment)]
      const ports = servers.map(({ port }) => port)
      for (const one of plan) {
        if (sums.switchovers > 0) await pair.rebuildStandby()
        await switchOver(context, fixture, sums, `${label}${sums.switchovers}`, ports, one)
      }
      await Promise.all(servers.map((server) => server.kill()))
    } catch (error) {
      sums.faults.push(`${label}: ${messageOf(error).slice(0, 1500)}`)
    }
  }
  const planned = phases.reduce((sum, { plan }) => sum + plan.length, 0)
  const { lost, stale, duplicated, slowestMs, writesMs } = sums
  const inTime = context.quick || (slowestMs <= 5_000 && writesMs <= 2_000)
  return {
    value: `${sums.switchovers}: ${lost} lost, ${stale} stale, ${duplicated} duplicated, ${seconds(slowestMs)}, ${seconds(writesMs)}`,
    samples: Math.min(sums.requests, sums.created),
    ok: sums.switchovers === planned && lost + stale + duplicated === 0 && inTime,
    note: [
      `${sums.switchovers} of ${planned} switchovers, ${grouped(sums.requests)} requests, ${grouped(sums.created)} creates acknowledged; ` +
        `${sums.tolerated} stale responses while the old primary was alive, within ${seconds(noticeMsMax)} after the move`,
      ...sums.faults,
    ].join('\n'),
  }
}

/** A process must notice within this time that the address no longer leads to the old primary. */
const noticeMsMax = 2_000

async function switchOver(
  context: Context,
  { pair, address, client, key }: Fixture,
  sums: Sums,
  label: string,
  ports: readonly number[],
  { primary: becomes, connections }: Switchover,
): Promise<void> {
  await pair.setSynchronous(becomes !== 'shutdown')
  const headers = headersFor(account, key)
  const load = new SwitchoverLoad({ client, ports, headers, seed: context.seed, label })
  // After this second every pooled connection has been used, and responses are cached.
  await load.writesAgain(performance.now())
  await sleep(1_000)
  const old = pair.primary
  if (becomes === 'shutdown' && (await old.stop()) === 'killed')
    throw new Error('the primary did not shut down')
  if (becomes === 'killed') await old.kill()
  if (becomes === 'paused') {
    old.pause()
    // Failure detection takes time. Meanwhile processes open new connections to the paused server, which get no response, either.
    await sleep(pausedMs[sums.switchovers % pausedMs.length])
  }
  await pair.promote()
  const promotedAt = performance.now()
  const noticeMs = becomes === 'alive' && connections === 'leave' ? noticeMsMax : 0
  load.tolerate(noticeMs)
  address.moveTo(pair.primary.port, connections)
  const writesMs = await load.writesAgain(promotedAt)
  await sleep(noticeMs + 2_000)
  if (becomes === 'paused' && label.startsWith('address')) {
    old.resume()
    await sleep(1_500)
  }
  await old.kill()
  await sleep(500)
  await load.end()
  const lost = await lostOf(pair.primary.url(database), load, sums)
  sums.switchovers += 1
  sums.lost += lost
  sums.stale += load.stale
  sums.duplicated += load.duplicated
  sums.tolerated += load.tolerated
  sums.slowestMs = Math.max(sums.slowestMs, load.slowestMs)
  sums.writesMs = Math.max(sums.writesMs, writesMs)
  sums.created += load.created.size
  sums.requests += load.requests
  const name = `${label}, old primary ${becomes}, connections ${connections}`
  context.log(
    `${name}: ${lost} lost, ${load.stale} stale (${load.tolerated} tolerated), ${load.duplicated} duplicated, ` +
      `writes after ${seconds(writesMs)}, slowest ${seconds(load.slowestMs)} (${load.slowest.slice(0, 200)}), ` +
      `${load.unavailable} of ${load.requests} unavailable`,
  )
  sums.faults.push(...load.faults.slice(0, 4).map((fault) => `${name}: ${fault}`))
}

/** The number of acknowledged creates that the primary does not have. Records that it has twice are counted as duplicated. */
async function lostOf(url: string, load: SwitchoverLoad, sums: Sums): Promise<number> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ name: string; ids: number[] }>(
      `select name, array_agg(id::float8 order by id) as ids from partner
       where account_id = (select account_id from account where name = $1) group by name`,
      [account],
    ),
  )
  const stored = new Map(rows.map(({ name, ids }) => [name, ids]))
  for (const [name, ids] of stored) {
    if (ids.length === 1) continue
    sums.duplicated += 1
    sums.faults.push(`${name} is stored as ${ids.join()}`)
  }
  const lost = [...load.created].filter(([name, id]) => stored.get(name)?.includes(id) !== true)
  for (const [name, id] of lost.slice(0, 3))
    sums.faults.push(`${name} (${id}) was acknowledged and is missing`)
  return lost.length
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
