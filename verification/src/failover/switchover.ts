import { setTimeout as sleep } from 'node:timers/promises'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context, Stoppable } from '../check.ts'
import { Client } from '../client.ts'
import { grouped } from '../progress.ts'
import { MovableAddress, type OldConnections } from '../replication/movable-address.ts'
import { PrimaryAndStandby } from '../replication/primary-and-standby.ts'
import { messageOf } from '../runner.ts'
import { Service } from '../service.ts'
import { SwitchoverLoad } from './switchover-load.ts'

/** How long a paused primary is silent before the standby is promoted. */
const pausedMs = [2_000, 500, 4_000, 1_000]

const account = 'moved'
const database = 'quartermaster'

/**
 * What becomes of the old primary. `shutdown`: cleanly, before the promotion. `killed`: SIGKILL, with a synchronous standby.
 * `paused`: SIGSTOP, and it wakes up once the new one serves. `alive`: it runs on beside the new one, as when whatever
 * should have ended it is dead; it can acknowledge nothing, because its standby is synchronous and gone.
 */
type OldPrimary = 'shutdown' | 'killed' | 'paused' | 'alive'

interface Switchover {
  readonly primary: OldPrimary
  readonly connections: OldConnections
}

const moving: readonly Switchover[] = [
  { primary: 'shutdown', connections: 'cut' },
  { primary: 'killed', connections: 'leave' },
  { primary: 'alive', connections: 'leave' },
  { primary: 'paused', connections: 'leave' },
  { primary: 'shutdown', connections: 'leave' },
  { primary: 'killed', connections: 'cut' },
  { primary: 'paused', connections: 'cut' },
  { primary: 'alive', connections: 'cut' },
  { primary: 'alive', connections: 'leave' },
  { primary: 'paused', connections: 'leave' },
  { primary: 'shutdown', connections: 'leave' },
  { primary: 'killed', connections: 'leave' },
]
/** Without `alive`: how long an old primary is still read is a matter of time, which a busy machine cannot promise. */
const movingQuick: readonly Switchover[] = [
  { primary: 'paused', connections: 'leave' },
  { primary: 'shutdown', connections: 'leave' },
  { primary: 'killed', connections: 'leave' },
]

/** Of two that both take writes, a URL with both hosts may find either, so none is left alive here. */
const hosts: readonly Switchover[] = (
  ['shutdown', 'killed', 'paused', 'shutdown', 'killed', 'paused', 'shutdown', 'killed'] as const
).map((primary) => ({ primary, connections: 'leave' }))
const hostsQuick: readonly Switchover[] = [{ primary: 'paused', connections: 'leave' }]

/** A streaming standby is promoted while two processes serve; then the old primary is made its standby. */
export const switchover: Check = {
  name: 'switchover',
  bound: '0 lost, stale, doubled, ≤ 5 s, ≤ 2 s (quick: times not judged)',
  async run(context) {
    const fixture = await startFixture()
    try {
      return await measure(context, fixture)
    } finally {
      await fixture.stop()
    }
  },
}

interface Fixture extends Stoppable {
  readonly pair: PrimaryAndStandby
  readonly address: MovableAddress
  readonly service: Service
  readonly client: Client
  readonly headers: readonly string[]
}

async function startFixture(): Promise<Fixture> {
  const pair = await PrimaryAndStandby.start()
  const address = await MovableAddress.listen()
  const client = new Client(400)
  const stopAll = async () => {
    client.close()
    await address.stop()
    await pair.stop()
  }
  try {
    const { primary, nodes } = pair
    await nodes.run('psql', ['-q', '-c', `create database ${database}`, primary.url('postgres')])
    address.moveTo(primary.port, 'cut')
    const url = `postgres://postgres@127.0.0.1:${address.port}/${database}`
    const service = await Service.on({ url, folder: nodes.folder, stop: stopAll })
    const key = await service.account(account)
    const headers = ['Host', `${account}.localhost`, 'Authorization', `Bearer ${key}`]
    return { pair, address, service, client, headers, stop: () => service.stop() }
  } catch (error) {
    await stopAll()
    throw error
  }
}

interface Sums {
  switchovers: number
  lost: number
  stale: number
  doubled: number
  tolerated: number
  hangMs: number
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
    doubled: 0,
    tolerated: 0,
    hangMs: 0,
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
  const { lost, stale, doubled, hangMs, writesMs } = sums
  const inTime = context.quick || (hangMs <= 5_000 && writesMs <= 2_000)
  return {
    value: `${sums.switchovers}: ${lost} lost, ${stale} stale, ${doubled} doubled, ${seconds(hangMs)}, ${seconds(writesMs)}`,
    ok: sums.switchovers === planned && lost + stale + doubled === 0 && inTime,
    note: [
      `${sums.switchovers} of ${planned} switchovers, ${grouped(sums.requests)} requests, ${grouped(sums.created)} creates acknowledged; ` +
        `${sums.tolerated} stale answers while the old primary was alive and the move less than ${seconds(believedMsMax)} ago`,
      ...sums.faults,
    ].join('\n'),
  }
}

/** An old primary that is still there is believed no longer than this once the address has moved. */
const believedMsMax = 2_000

async function switchOver(
  context: Context,
  { pair, address, client, headers }: Fixture,
  sums: Sums,
  label: string,
  ports: readonly number[],
  { primary: becomes, connections }: Switchover,
): Promise<void> {
  await pair.setSynchronous(becomes !== 'shutdown')
  const load = new SwitchoverLoad({ client, ports, headers, seed: context.seed, label })
  // Every connection of the pools is in use once, and answers are cached.
  await load.writesAgain(performance.now())
  await sleep(1_000)
  const old = pair.primary
  if (becomes === 'shutdown' && (await old.stop()) === 'killed')
    throw new Error('the primary did not shut down')
  if (becomes === 'killed') await old.kill()
  if (becomes === 'paused') {
    old.pause()
    // Whoever decides that it is gone takes some time, in which new connections are opened to it, and silent, too.
    await sleep(pausedMs[sums.switchovers % pausedMs.length])
  }
  await pair.promote()
  const promotedAt = performance.now()
  const believedMs = becomes === 'alive' && connections === 'leave' ? believedMsMax : 0
  load.tolerate(believedMs)
  address.moveTo(pair.primary.port, connections)
  const writesMs = await load.writesAgain(promotedAt)
  await sleep(believedMs + 2_000)
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
  sums.doubled += load.doubled
  sums.tolerated += load.tolerated
  sums.hangMs = Math.max(sums.hangMs, load.slowestMs)
  sums.writesMs = Math.max(sums.writesMs, writesMs)
  sums.created += load.created.size
  sums.requests += load.requests
  const name = `${label}, old primary ${becomes}, connections ${connections}`
  context.log(
    `${name}: ${lost} lost, ${load.stale} stale (${load.tolerated} tolerated), ${load.doubled} doubled, ` +
      `writes after ${seconds(writesMs)}, slowest ${seconds(load.slowestMs)} (${load.slowest.slice(0, 200)}), ` +
      `${load.unavailable} of ${load.requests} unavailable`,
  )
  sums.faults.push(...load.faults.slice(0, 4).map((fault) => `${name}: ${fault}`))
}

/** Acknowledged creates that are not on the primary under their id. One that is there twice is counted as doubled. */
async function lostOf(url: string, load: SwitchoverLoad, sums: Sums): Promise<number> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ name: string; ids: number[] }>(
      `select name, array_agg(id::float8 order by id) as ids from partner
       where account_id = (select account_id from account where name = $1) group by name`,
      [account],
    ),
  )
  const there = new Map(rows.map(({ name, ids }) => [name, ids]))
  for (const [name, ids] of there) {
    if (ids.length === 1) continue
    sums.doubled += 1
    sums.faults.push(`${name} is there as ${ids.join()}`)
  }
  const lost = [...load.created].filter(([name, id]) => there.get(name)?.includes(id) !== true)
  for (const [name, id] of lost.slice(0, 3))
    sums.faults.push(`${name} (${id}) was acknowledged and is not there`)
  return lost.length
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
