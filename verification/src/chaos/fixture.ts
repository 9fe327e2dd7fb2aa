import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Check, type Context, type Outcome, type Stoppable, shared } from '../check.ts'
import { Random } from '../random.ts'
import { messageOf } from '../runner.ts'
import { type Happened, happen } from './chaos-run.ts'
import { Cluster } from './cluster/cluster.ts'
import { type Fault, schedule } from './faults/fault.ts'
import { primaryKilled, switchover } from './faults/processes.ts'
import { diskFull } from './faults/resources.ts'
import { allFaults, faultsNamed } from './faults/table.ts'
import { checkLedger, type LedgerResult } from './load/ledger-check.ts'
import { Load } from './load/load.ts'
import type { Event } from './load/messages.ts'
import { plot } from './report/plot.ts'

const plots = fileURLToPath(new URL('../../../docs/chaos/', import.meta.url))

/** With --quick, no fault begins later: on a busy machine, there are fewer of them. */
const quickMsMax = 240_000

/** The cluster that all checks of a run use. */
const clusterFixture = shared((context) => Cluster.start((line) => context.log(line)))

/**
 * A check that needs the cluster. With --quick, it is skipped if the cluster does not become healthy in minutes: on a machine
 * on which other proofs run, this may be for lack of CPU time, and only wrong data must fail then.
 */
export function onCluster(
  check: Omit<Check, 'run'> & { run(context: Context, cluster: Cluster): Promise<Outcome> },
): Check {
  return {
    ...check,
    async run(context) {
      try {
        return await check.run(context, await clusterFixture(context))
      } catch (error) {
        if (!context.quick) throw error
        const [reason = ''] = String(error)
          .replace(/^Error: /, '')
          .split(/[:\n]/)
        return { value: `skipped: ${reason}`, ok: true, note: messageOf(error) }
      }
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
  const cluster = await clusterFixture(context)
  const faults = faultsOf(context)
  const trial = await runFaults(context, cluster, 'chaos', (load) =>
    happen(cluster, load, faults, context, {
      lastsMsMax: context.size(Number.POSITIVE_INFINITY, quickMsMax),
    }),
  )
  if (context.plots) keepPlot('faults', trial, context)
  return trial
})

/** The faults of --kinds in this order, or those that the seed selects. */
function faultsOf(context: Context): readonly Fault[] {
  const kinds = { killed: primaryKilled, planned: switchover, once: diskFull }
  if (context.kinds !== undefined) return faultsNamed(context.kinds, context.faults)
  const count = context.faults ?? context.size(60, 10)
  return schedule(allFaults, kinds, count, new Random(context.seed, 95))
}

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
