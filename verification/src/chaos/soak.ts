import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../check.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { type Happened, happen } from './chaos-run.ts'
import type { Cluster } from './cluster/cluster.ts'
import { allFaults } from './faults/table.ts'
import { keepPlot, onCluster, runFaults } from './fixture.ts'
import { fillCaches } from './load/fill-caches.ts'
import type { Load } from './load/load.ts'
import { type MemorySample, MemoryWatch, megabyte, slope } from './report/memory.ts'

const minuteMs = 60_000
/** In a shorter soak, the memory of requests in flight hides growth. */
const slopeMinutesMin = 20
const slopeMax = 5

/** Not `server killed`: the memory of one process is watched. */
const faults = allFaults.filter(({ name }) => name !== 'server killed')

/** Mixed load with a fault a minute: nothing is lost or wrong, and memory does not grow. */
export const soak = onCluster({
  name: 'soak',
  bound: '0 wrong, ≤ 5 MB/h (quick: no bound)',
  async run(context, cluster) {
    const minutes = context.size(30, 3)
    if (minutes >= slopeMinutesMin) await fillCaches(cluster)
    const watches = cluster.servers.map((server) => new MemoryWatch(server))
    const trial = await runFaults(context, cluster, 'soak', (load) =>
      soakFor(minutes, context, cluster, load),
    ).finally(() => {
      for (const watch of watches) watch.stop()
    })
    if (context.plots) keepPlot('soak', trial, context)
    const { ledger, events, happened } = trial
    const wrong = events.filter((event) => event.wrong !== undefined)
    const sum = wrong.length + ledger.lost + ledger.doubled + ledger.feedDifferences
    const heap = Math.max(...watches.map(({ samples }) => slope(samples, 'heap')))
    const megabytes = watches.map(({ samples }) => [samples[0], samples.at(-1)].map(rounded).join(' → '))
    const resident = Math.max(...watches.map(({ samples }) => slope(samples, 'resident')))
    return {
      value: `${sum} wrong of ${grouped(events.length)}, ${heap.toFixed(1)} MB/h`,
      samples: Math.min(
        events.length,
        happened.length,
        ledger.acknowledged,
        ...watches.map(({ samples }) => samples.length),
      ),
      ok: sum === 0 && (minutes < slopeMinutesMin || heap <= slopeMax),
      note: [
        `${minutes} min, ${happened.length} faults, ${grouped(ledger.acknowledged)} writes acknowledged`,
        `heap ${megabytes.join(' MB, ')} MB; resident memory ${resident.toFixed(1)} MB/h`,
        ...ledger.findings.slice(0, 5),
        ...wrong.slice(0, 5).map((event) => event.wrong),
      ].join('\n'),
    }
  },
})

function rounded(sample: MemorySample | undefined): string {
  return sample === undefined ? '?' : (sample.heap / megabyte).toFixed(0)
}

async function soakFor(minutes: number, context: Context, cluster: Cluster, load: Load): Promise<Happened[]> {
  const until = Date.now() + minutes * minuteMs
  const happened: Happened[] = []
  for (let n = 0; Date.now() < until; n++) {
    const next = Date.now() + minuteMs
    happened.push(
      ...(await happen(cluster, load, [new Random(context.seed, 98, n).pick(faults)], context, { first: n })),
    )
    await sleep(Math.max(0, Math.min(next, until) - Date.now()))
  }
  return happened
}
