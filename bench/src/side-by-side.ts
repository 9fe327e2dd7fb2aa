import type { Context } from '../../verification/src/check.ts'
import type { Bar, BenchOutcome, Series } from './benchmark.ts'
import { alternately } from './intervals.ts'
import { median, medianOfRatios, short } from './numbers.ts'

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
  const [measured = [], baseline = []] = await alternately(
    [() => service(seconds), () => other(seconds)],
    repeats,
  )
  return { service: measured, other: baseline }
}

export function bar(name: string, runs: readonly number[]): Bar {
  return { name, value: median(runs), runs }
}

/** A time divided by the time of the baseline, with an upper bound. The worst of several pairs counts. */
export function timesAtMost(boundMax: number, pairs: readonly Omit<Series, 'limit'>[]): BenchOutcome {
  const series = pairs.map((pair) => ({ ...pair, limit: (pair.other?.value ?? Number.NaN) * boundMax }))
  const worst = series.toSorted((a, b) => ratioOf(b) - ratioOf(a))[0]
  if (worst?.other === undefined) throw new Error('no measurements')
  const ratio = ratioOf(worst)
  return {
    value: `${ratio.toFixed(2)} (${short(worst.service.value)} ÷ ${short(worst.other.value)} ${worst.unit})`,
    samples: Math.min(
      ...series.flatMap(({ service, other }) => [service.runs.length, other?.runs.length ?? 0]),
    ),
    ok: ratio <= boundMax,
    note: series.map((one) => `${one.label}: ${ratioOf(one).toFixed(2)}`).join('\n'),
    series,
  }
}

function ratioOf({ service, other }: Pick<Series, 'service' | 'other'>): number {
  return other === undefined ? Number.NaN : medianOfRatios(service.runs, other.runs)
}
