import { setTimeout as sleep } from 'node:timers/promises'
import type { Check, Context } from '../../../verification/src/check.ts'
import { machineCpu, stealPercentSince } from '../cpu.ts'
import { ms, products } from '../load/fixture.ts'
import { type LoadResult, otherStatuses, runLoad, withStatus } from '../load/load.ts'
import type { Attack } from './attacks/attack.ts'
import { attacks } from './attacks/table.ts'
import { AttackProcess, type Fixture, guardFixture, withServer } from './fixture.ts'

const ratioMax = 3
const delayMsMax = 100
/** Beyond it, a measurement says more about the host of this machine than about the service. It is then repeated, up to twice. */
const stealPercentMax = 3
const attemptsMax = 3
/** The other account: a request every 10 ms, on connections that it keeps. */
const requestsPerSecond = 100

interface Measured {
  readonly quiet: LoadResult
  readonly attacked: LoadResult
  readonly stealPercent: number
}

/** Two figures for each attack on one process and on two: how much slower another account is, and what it is denied. */
export const attackBenchmarks: readonly Check[] = [1, 2].flatMap((processes) =>
  attacks.flatMap((attack) => figuresOf(attack, processes)),
)

function figuresOf(attack: Attack, processes: number): Check[] {
  const measurements = new WeakMap<Context, Promise<Measured>>()
  const measured = (context: Context) => {
    const found = measurements.get(context) ?? measureUndisturbed(context, attack, processes)
    measurements.set(context, found)
    return found
  }
  const name = `guard_${attack.name}${processes === 1 ? '' : `_${processes}`}`
  return [
    {
      name: `${name}_p99`,
      bound: `≤ ${ratioMax} × or + ${delayMsMax} ms`,
      async run(context) {
        const { quiet, attacked, stealPercent } = await measured(context)
        const [before, during] = [withStatus(quiet, 200), withStatus(attacked, 200)]
        const ratio = during.p99Ms / before.p99Ms
        return {
          value: `${ratio.toFixed(1)} × (${ms(before.p99Ms)} → ${ms(during.p99Ms)})`,
          samples: Math.min(before.count, during.count),
          ok: ratio <= ratioMax || during.p99Ms - before.p99Ms <= delayMsMax,
          note: `p50 ${ms(before.p50Ms)} → ${ms(during.p50Ms)}, longest ${ms(before.maxMs)} → ${ms(during.maxMs)}, steal ${stealPercent.toFixed(1)} %`,
        }
      },
    },
    {
      name: `${name}_errors`,
      bound: '0',
      async run(context) {
        const { quiet, attacked } = await measured(context)
        // Requests that found every connection occupied and those without a response are denied as well.
        const denied = otherStatuses(attacked, 200)
        return {
          value: denied === '' ? `0 of ${attacked.sent}` : denied,
          samples: withStatus(quiet, 200).count,
          ok: denied === '',
        }
      },
    },
  ]
}

async function measureUndisturbed(context: Context, attack: Attack, processes: number): Promise<Measured> {
  let measured = await measure(context, attack, processes)
  for (let attempt = 1; attempt < attemptsMax && measured.stealPercent > stealPercentMax; attempt++)
    measured = await measure(context, attack, processes)
  return measured
}

async function measure(context: Context, attack: Attack, processes: number): Promise<Measured> {
  const fixture = await guardFixture(context)
  return await withServer(fixture, processes, async ({ port }) => {
    const { attacker, createOnly, grower, service } = fixture
    const running = await AttackProcess.prepare(attack, {
      port,
      processes,
      databaseUrl: service.postgres.url,
      attacker,
      createOnly,
      grower,
      isQuick: context.quick,
    })
    // The first requests compile code and fill caches.
    await victimOf(fixture, port, 1)
    const cpuBefore = machineCpu()
    const quiet = await victimOf(fixture, port, context.size(10, 2))
    running.start()
    await sleep(context.size(1_000, 300))
    const attacked = await victimOf(fixture, port, context.size(20, 4))
    await running.stop()
    return { quiet, attacked, stealPercent: stealPercentSince(cpuBefore) }
  })
}

function victimOf({ victim }: Fixture, port: number, seconds: number): Promise<LoadResult> {
  return runLoad({
    ports: [port],
    rate: requestsPerSecond,
    seconds,
    connectionsMax: 200,
    connectionsReady: 32,
    requests: [
      { ...victim, path: `${products}?limit=1` },
      { ...victim, path: `${products}/7` },
    ],
  })
}
