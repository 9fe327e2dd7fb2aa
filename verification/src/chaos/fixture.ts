import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Check, type Context, type Outcome, type Stoppable, shared } from '../check.ts'
import { Random } from '../random.ts'
import { type Happened, happen } from './chaos-run.ts'
import { Cluster } from './cluster/cluster.ts'
import { prepareMachine } from './cluster/packages.ts'
import { schedule } from './faults/fault.ts'
import { primaryKilled, switchover } from './faults/processes.ts'
import { diskFull } from './faults/resources.ts'
import { allFaults } from './faults/table.ts'
import { checkLedger, type LedgerResult } from './load/ledger-check.ts'
import { Load } from './load/load.ts'
import type { Event } from './load/messages.ts'
import { plot } from './report/plot.ts'

const plots = fileURLToPath(new URL('../../../docs/chaos/', import.meta.url))

/** The cluster that all checks of a run use, or why there is none. */
export const clusterFixture = shared(async (context: Context) => {
  const unable = prepareMachine()
  const cluster = unable === undefined ? await Cluster.start((line) => context.log(line)) : undefined
  return { cluster, unable, stop: async () => cluster?.stop() }
})

/** A check that needs the cluster, and is skipped where the machine does not allow it. */
export function onCluster(
  check: Omit<Check, 'run'> & { run(context: Context, cluster: Cluster): Promise<Outcome> },
): Check {
  return {
    ...check,
    async run(context) {
      const { cluster, unable } = await clusterFixture(context)
      if (cluster === undefined) return { value: `skipped: ${unable}`, ok: true }
      return await check.run(context, cluster)
    },
  }
}

export interface Trial extends Stoppable {
  readonly happened: readonly Happened[]
  readonly events: readonly Event[]
  readonly ledger: LedgerResult
}

/** Lets all faults of the schedule happen under load, once for all checks that judge it. */
export const trialFixture = shared(async (context: Context): Promise<Trial> => {
  const { cluster } = await clusterFixture(context)
  if (cluster === undefined) throw new Error('there is no cluster')
  const count = context.faults ?? context.size(60, 10)
  const kinds = { killed: primaryKilled, planned: switchover, once: diskFull }
  const faults = schedule(allFaults, kinds, count, new Random(context.seed, 95))
  const trial = await runFaults(context, cluster, 'chaos', (load) => happen(cluster, load, faults, context))
  if (context.plots) keepPlot('faults', trial, context)
  return trial
})

/** Runs the load while `work` lets faults happen, ends it, and compares the tables with its ledger. */
export async function runFaults(
  context: Context,
  cluster: Cluster,
  label: string,
  work: (load: Load) => Promise<Happened[]>,
): Promise<Trial> {
  const load = await Load.start(cluster, label, context.seed)
  try {
    await load.writesAgain(Date.now())
    const happened = await work(load)
    await load.end()
    const ledger = await checkLedger(cluster.ownerUrl, load.ledger())
    return { happened, events: load.events(), ledger, stop: async () => {} }
  } finally {
    load.kill()
  }
}

export function keepPlot(name: string, { events, happened }: Trial, context: Context): void {
  mkdirSync(plots, { recursive: true })
  const caption = `${happened.length} faults, seed ${context.seed}`
  writeFileSync(`${plots}${name}.svg`, plot(events, happened, caption))
}
