import type { Context } from '../../verification/src/check.ts'
import type { Bar, BenchOutcome, Series } from './benchmark.ts'
import { median, short } from './numbers.ts'

export type Run = (seconds: number) => Promise<number>

export interface Sides {
  readonly service: Run
  readonly other: Run
  /** Fewer if each run takes long. */
  readonly repeats?: number
}

/** Runs both sides alternately, each first as often as second, so that other work of the machine affects both. */
export async function sideBySide(
  context: Context,
  { service, other, repeats = context.size(5, 3) }: Sides,
): Promise<{ service: number[]; other: number[] }> {
  const seconds = context.size(5, 2)
  const runs: { service: number[]; other: number[] } = { service: [], other: [] }
  for (let i = 0; i < repeats; i++) {
    if (i % 2 === 1) runs.other.push(await other(seconds))
    runs.service.push(await service(seconds))
    if (i % 2 === 0) runs.other.push(await other(seconds))
  }
  return runs
}

export function bar(name: string, runs: readonly number[]): Bar {
  return { name, value: median(runs), runs }
}

/** The rate of the service divided by that of plain PostgreSQL, with a lower bound. */
export async function ratesAtLeast(
  context: Context,
  label: string,
  boundMin: number,
  sides: Sides,
): Promise<BenchOutcome> {
  const runs = await sideBySide(context, sides)
  const [service, other] = [bar('service', runs.service), bar('plain PostgreSQL', runs.other)]
  const ratio = service.value / other.value
  return {
    value: `${ratio.toFixed(2)} (${short(service.value)} ÷ ${short(other.value)} /s)`,
    ok: ratio >= boundMin,
    series: [{ label, unit: '/s', service, other, limit: other.value * boundMin }],
  }
}

/** A time divided by the time of the baseline, with an upper bound. The worst of several pairs counts. */
export function timesAtMost(boundMax: number, pairs: readonly Omit<Series, 'limit'>[]): BenchOutcome {
  const series = pairs.map((pair) => ({ ...pair, limit: (pair.other?.value ?? Number.NaN) * boundMax }))
  const worst = series.toSorted((a, b) => ratioOf(b) - ratioOf(a))[0]
  if (worst?.other === undefined) throw new Error('no measurements')
  const ratio = ratioOf(worst)
  return {
    value: `${ratio.toFixed(2)} (${short(worst.service.value)} ÷ ${short(worst.other.value)} ${worst.unit})`,
    ok: ratio <= boundMax,
    note: series.map((one) => `${one.label}: ${ratioOf(one).toFixed(2)}`).join('\n'),
    series,
  }
}

function ratioOf({ service, other }: Pick<Series, 'service' | 'other'>): number {
  return service.value / (other?.value ?? Number.NaN)
}
