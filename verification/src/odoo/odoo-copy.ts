import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Check, type Context, shared } from '../check.ts'
import { Random } from '../random.ts'
import { NaiveCopy } from './naive-copy.ts'
import {
  comparedResources,
  type Difference,
  differenceOf,
  OdooPair,
  polling,
  valuesHere,
  valuesOfOdoo,
} from './odoo-pair.ts'
import { OdooWriter } from './odoo-writer.ts'

/** The checks of the suite share one Odoo and one service. */
export const pairOf = shared((context) => OdooPair.start(context))

/**
 * People write to a real Odoo, with transactions that commit up to a minute late, while the connector, the service and workers of Odoo are
 * killed again and again, and the connector twice loses its state. When all have ended and the polls have passed, every record here is that of Odoo. The usual rule, which
 * follows the same writes, must differ.
 */
export const odooCopy: Check = {
  name: 'odoo_copy',
  bound: '0 missing, stale or ghosts; control > 0',
  needs: ['odoo'],
  async run(context) {
    const pair = await pairOf(context)
    const { odoo } = pair
    const [seconds, rate] = [context.size(1_800, 90), 20]
    const random = new Random(context.seed, 1)
    const naive = new NaiveCopy(odoo)
    await naive.poll()
    await pair.once()
    const writer = await OdooWriter.open(odoo, random)
    const done = new AbortController()
    const holds = context.quick ? [5, 12, 25] : [5, 12, 25, 60]
    const until = Date.now() + seconds * 1000
    const following = naive.follow(done.signal)
    // It is awaited below, and must not end the process before.
    following.catch(() => undefined)
    const late = [0, 1].map((number) => odoo.late(number, seconds, holds))
    const times = [context.size(200, 6), context.size(20, 2), context.size(20, 2)] as const
    pair.run()
    const killing = Promise.all([
      atRandom(until, times[0], new Random(context.seed, 2), (time) =>
        killConnector(pair, time === Math.ceil(times[0] / 3) || time === Math.ceil((2 * times[0]) / 3)),
      ),
      atRandom(until, times[1], new Random(context.seed, 5), () => pair.killService()),
      atRandom(until, times[2], new Random(context.seed, 6), () => odoo.killWorker(random)),
    ])
    killing.catch(() => undefined)
    await writer.run(until, rate, 4)
    const kills = await killing
    const lateWrites = (await Promise.all(late)).reduce((total, one) => total + one, 0)
    await settle(pair, context)
    done.abort()
    await following
    await naive.poll()
    const found = await compare(pair, naive)
    await pair.end('SIGTERM')
    const { refused = 0, ...counts } = writer.counts
    const writes = Object.values(counts).reduce((total, one) => total + one, 0)
    return {
      value: `${found.faults.length} of ${found.records}; control ${found.control}`,
      ok: found.faults.length === 0 && found.control > 0,
      samples: Math.min(found.records, writes, lateWrites, ...kills),
      note: [
        `${writes} writes in ${seconds} s (${refused} refused), ${lateWrites} in late transactions; ${kills.join(', ')} kills of the connector, the service and workers of Odoo`,
        JSON.stringify(counts),
        ...found.faults.slice(0, 20),
      ].join('\n'),
    }
  },
}

/** Does this so many times at random moments. Returns how often it was done. */
async function atRandom(
  until: number,
  times: number,
  random: Random,
  act: (time: number) => Promise<void> | void,
): Promise<number> {
  const pauseMs = (until - Date.now()) / times
  for (let time = 1; time <= times; time++) {
    await sleep(random.integer(0, Math.floor(1.8 * pauseMs)))
    if (Date.now() > until) return time - 1
    await act(time)
  }
  return times
}

async function killConnector(pair: OdooPair, isStateLost: boolean): Promise<void> {
  await pair.end('SIGKILL')
  if (isStateLost) pair.loseState()
  pair.run()
}

/** Two late scans and two sweeps, on a machine that may be busy. */
async function settle(pair: OdooPair, context: Context): Promise<void> {
  const progress = context.progress('settling', 2)
  for (let round = 0; round < 2; round++) {
    const before = sweptAt(pair)
    const end = Date.now() + 600_000
    while (sweptAt(pair) === before && Date.now() < end) await sleep(1000)
    progress.step()
  }
  await sleep((polling.late + polling.hot) * 1000)
  progress.end()
}

function sweptAt({ statePath }: OdooPair): string {
  try {
    const { status } = JSON.parse(readFileSync(statePath, 'utf8'))
    return comparedResources.map((name) => String(status.resources[name]?.sweptAt)).join()
  } catch {
    return ''
  }
}

async function compare(pair: OdooPair, naive: NaiveCopy) {
  const faults: string[] = []
  let [records, control] = [0, 0]
  for (const resource of comparedResources) {
    const truth = await valuesOfOdoo(pair.odoo, resource)
    const found = differenceOf(truth, await valuesHere(pair, resource))
    faults.push(...textsOf(resource, found))
    control += textsOf(resource, differenceOf(truth, naive.copies[resource])).length
    records += truth.size
  }
  return { faults, records, control }
}

function textsOf(resource: string, { missing, ghosts, stale }: Difference): string[] {
  return [
    ...missing.map((id) => `${resource} ${id} is missing`),
    ...ghosts.map((id) => `${resource} ${id} is a ghost`),
    ...stale.map((text) => `${resource} ${text}`),
  ]
}
