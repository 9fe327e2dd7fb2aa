import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../check.ts'
import { Random } from '../random.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { Fault, Scene } from './faults/fault.ts'
import type { Load } from './load/load.ts'

/** One fault, as it happened. Times in milliseconds. */
export interface Happened {
  readonly name: string
  readonly beganAt: number
  endedAt: number
  /** When the cluster was healthy again, and writes worked. */
  settledAt: number
  /** From the beginning until every server has acknowledged a create that was sent after it. */
  backMs: number
  /** The longest time without an acknowledged create at a server. */
  gapMs: number
}

/** How long the load runs before each fault without one. */
const calmMs = 2_000

/** Patroni does not always rewind a standby that was ahead of the promoted one. After this time, an operator would reinitialise it. */
const rejoinMsMax = 180_000

export interface HappenOptions {
  /** The number of the first fault. */
  readonly first?: number
  /** After this time, no further fault begins. */
  readonly lastsMsMax?: number
}

/** Lets one fault after the other happen while the load runs, and waits after each until the cluster is healthy. */
export async function happen(
  cluster: Cluster,
  load: Load,
  faults: readonly Fault[],
  context: Context,
  { first = 0, lastsMsMax = Number.POSITIVE_INFINITY }: HappenOptions = {},
): Promise<Happened[]> {
  const happened: Happened[] = []
  const started = performance.now()
  for (const [n, fault] of faults.entries()) {
    if (performance.now() - started > lastsMsMax) {
      context.log(`${faults.length - n} of ${faults.length} faults are left out: the machine is busy`)
      break
    }
    const random = new Random(context.seed, 96, first + n)
    await sleep(calmMs)
    const one = await happenOnce(cluster, load, fault, random, context)
    happened.push(one)
    context.log(
      `${n + 1} of ${faults.length}: ${fault.name}, ${seconds(one.endedAt - one.beganAt)}; writes back after ${seconds(one.backMs)}, ` +
        `gap ${seconds(one.gapMs)}; healthy after ${seconds(one.settledAt - one.beganAt)}; ${load.acknowledged.length} probes`,
    )
  }
  return happened
}

async function happenOnce(
  cluster: Cluster,
  load: Load,
  fault: Fault,
  random: Random,
  context: Context,
): Promise<Happened> {
  const primary = await cluster.primary()
  const [standby, other] = await cluster.standbys()
  if (standby === undefined || other === undefined) throw new Error('the cluster has no two standbys')
  const scene: Scene = { cluster, primary, standby, other, random }
  const beganAt = Date.now()
  const end = await fault.begin(scene)
  let backAt: number | undefined
  // Not `beganAt`: on a busy machine, writes are acknowledged between it and the moment at which the fault has taken effect.
  const back = load.writesAgain(Date.now()).then((at) => (backAt = at))
  back.catch(() => {})
  try {
    if (fault.lasts === 'until-writes') await back
    else await sleep(random.integer(...fault.lasts))
  } finally {
    await end()
  }
  const endedAt = Date.now()
  for (const server of cluster.servers) await cluster.ready(server)
  await cluster.settled(true, rejoinMsMax).catch(async () => {
    const names = await cluster.reinitialiseStandbys()
    for (const name of names) context.log(`${fault.name}: ${name} did not rejoin, and is reinitialised`)
    await cluster.settled()
  })
  await load.writesAgain(Math.max(endedAt, Date.now() - 500))
  await back
  const settledAt = Date.now()
  return {
    name: fault.name,
    beganAt,
    endedAt,
    settledAt,
    backMs: (backAt ?? settledAt) - beganAt,
    gapMs: load.longestGap(beganAt, settledAt),
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
