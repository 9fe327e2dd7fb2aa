import type { Check, Context, Outcome } from '../../verification/src/check.ts'
import type { Interval } from './intervals.ts'

export interface BenchContext extends Context {
  /** Servers write a CPU profile into `bench/out` when they end. */
  readonly profile: boolean
}

/** A check that measures time and also returns its measurements. */
export interface Benchmark extends Check {
  run(context: Context): Promise<BenchOutcome>
}

export interface BenchOutcome extends Outcome {
  readonly series: readonly Series[]
  /** The intervals of each side, for the JSON results. */
  readonly intervals?: Readonly<Record<string, readonly Interval[]>>
  /** Replaces the bound of the benchmark for a quick run, which has less data. */
  readonly bound?: string
}

/** The medians of two measurements in the same unit, for the chart. */
export interface Series {
  readonly label: string
  readonly unit: '/s' | 'ms' | 's' | 'MB'
  readonly service: Bar
  /** The baseline: plain PostgreSQL, or the service with less data. */
  readonly other?: Bar
  /** The bound of the service's value, calculated from the baseline. */
  readonly limit: number
}

export interface Bar {
  readonly name: string
  readonly value: number
  readonly runs: readonly number[]
}
