import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Check, Context, Outcome } from '../check.ts'
import { Random } from '../random.ts'
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

/** The cluster that the checks of a run use until one of them fails on it. */
const clusters = new WeakMap<Context, Promise<Cluster>>()

function startCluster(context: Context): Promise<Cluster> {
  const starting = Cluster.start((line) => context.log(line))
  clusters.set(context, starting)
  // Nothing that runs is left of a cluster whose start has failed, or that was stopped before.
  context.atEnd(() => starting.then((cluster) => cluster.stop()).catch(() => {}))
  return starting
}

/** Runs `work` on the cluster. If it fails, the cluster may be in any state, so that the next check gets a new one. */
async function withCluster<T>(context: Context, work: (cluster: Cluster) => Promise<T>): Promise<T> {
  const starting = clusters.get(context) ?? startCluster(context)
  try {
    return await work(await starting)
  } catch (error) {
    clusters.delete(context)
    await starting.then(
      (cluster) => cluster.stop(),
      () => {},
    )
    throw error
  }
}

/** A check that needs the cluster. */
export function onCluster(
  check: Omit<Check, 'run'> & { run(context: Context, cluster: Cluster): Promise<Outcome> },
): Check {
  return {
    ...check,
    needs: ['namespaces'],
    run: (context) => withCluster(context, (cluster) => check.run(context, cluster)),
  }
}

export interface Trial {
  readonly happened: readonly Happened[]
  readonly events: readonly Event[]
  readonly ledger: LedgerResult
}

/** By run: the trial, and in which attempt it was begun. */
const trials = new WeakMap<Context, { readonly attempt: number; readonly trial: Promise<Trial> }>()

/**
 * Lets all faults of the schedule happen under load, once for all checks that judge it. If that fails, all of them fail, and it is
 * repeated only by --retry.
 */
export function trialOf(context: Context): Promise<Trial> {
  const { attempt } = context
  const begun = trials.get(context)
  if (begun?.attempt === attempt) return begun.trial
  const trial = begun === undefined ? runTrial(context) : begun.trial.catch(() => runTrial(context))
  trials.set(context, { attempt, trial })
  return trial
}

async function runTrial(context: Context): Promise<Trial> {
  const faults = faultsOf(context)
  const lastsMsMax = context.size(Number.POSITIVE_INFINITY, quickMsMax)
  const trial = await withCluster(context, (cluster) =>
    runFaults(context, cluster, 'chaos', (load) => happen(cluster, load, faults, context, { lastsMsMax })),
  )
  if (context.plots) keepPlot('faults', trial, context)
  return trial
}

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
    return { happened, events: load.events(), ledger }
  } finally {
    load.kill()
  }
}

export function keepPlot(name: string, { events, happened }: Trial, context: Context): void {
  mkdirSync(plots, { recursive: true })
  const caption = `${happened.length} faults, seed ${context.seed}`
  writeFileSync(`${plots}${name}.svg`, plot(events, happened, caption))
}
