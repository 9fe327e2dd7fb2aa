import type { Check, Context, Outcome } from '../../verification/src/check.ts'

export interface BenchContext extends Context {
  /** Servers write a CPU profile into `bench/out` when they end. */
  readonly profile: boolean
}

/** A benchmark of the bench also says which numbers it was made from. */
export interface Benchmark extends Check {
  run(context: Context): Promise<BenchOutcome>
}

export interface BenchOutcome extends Outcome {
  readonly series: readonly Series[]
  /** Instead of the benchmark's, where a quick run has less data than the bound was made for. */
  readonly bound?: string
}

/** Two things side by side, in the same unit; the medians of these runs. */
export interface Series {
  readonly label: string
  readonly unit: '/s' | 'ms' | 's' | 'MB'
  readonly service: Bar
  /** What it is held against: the bare engine, or the service with less to do. */
  readonly other?: Bar
  /** What the service's value may not fall below, or rise above, given the other. */
  readonly limit: number
}

export interface Bar {
  readonly name: string
  readonly value: number
  readonly runs: readonly number[]
}
