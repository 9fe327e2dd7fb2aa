import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Check } from '../../verification/src/check.ts'
import {
  commit,
  contextOf,
  exitCodeOf,
  messageOf,
  type Result,
  runChecks,
} from '../../verification/src/runner.ts'
import { comparable, compareWith } from './against.ts'
import type { BenchContext, BenchOutcome } from './benchmark.ts'
import { plot } from './plot.ts'

type Suites = Readonly<Record<string, readonly Check[]>>

/** Where the results and, except for complete runs in full size, the chart are written. */
const results = fileURLToPath(new URL('../out/', import.meta.url))

const usage = (suites: Suites) => `npm run bench -- [SUITE] [--quick] [--only NAME,NAME] [--profile]
npm run bench -- --against REVISION|FOLDER [--quick] [--only NAME,NAME]

Without a suite, all of them run. A name includes the benchmarks that begin with it: total_again is total_again_p50 and total_again_p99.
--against compares ${comparable.join(', ')}.
${Object.entries(suites)
  .map(([name, benchmarks]) => `${name}: ${benchmarks.map((benchmark) => benchmark.name).join(', ')}`)
  .join('\n')}
`

interface Options {
  readonly suite: string
  readonly benchmarks: readonly Check[]
  /** All benchmarks of `ratios`, in full size: the run that the chart in `docs` shows. */
  readonly isForChart: boolean
  readonly quick: boolean
  readonly profile: boolean
  /** The commit to compare with, instead of running the benchmarks. */
  readonly against: string | undefined
  /** The names of `--only`. */
  readonly only: readonly string[]
}

/** `npm run bench`: runs the benchmarks of a suite or of all, and returns the exit code. */
export async function bench(args: string[], suites: Suites, folder = results): Promise<number> {
  const options = readOptions(args, suites)
  if (options === undefined) {
    process.stderr.write(usage(suites))
    return 2
  }
  if (options.against === undefined) {
    const outcomes = await runAll(options)
    writeResults(options, outcomes, folder)
    return exitCodeOf(outcomes)
  }
  const { context, stop } = contextOf(options.quick, 1)
  try {
    return (await compareWith(options.against, context, options.only)) ? 0 : 1
  } finally {
    await stop()
  }
}

function readOptions(args: string[], suites: Suites): Options | undefined {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        only: { type: 'string' },
        profile: { type: 'boolean' },
        against: { type: 'string' },
      },
    })
    const [suite] = positionals
    const all = suite === undefined ? Object.values(suites).flat() : suites[suite]
    if (all === undefined || positionals.length > 1) return undefined
    const known = values.against === undefined ? all.map(({ name }) => name) : comparable
    const only = values.only?.split(',').flatMap((given) => namedBy(given, known)) ?? known
    const quick = values.quick ?? false
    return {
      suite: suite ?? 'bench',
      benchmarks: all.filter(({ name }) => only.includes(name)),
      isForChart: !quick && suites['ratios']?.every(({ name }) => only.includes(name)) === true,
      quick,
      profile: values.profile ?? false,
      against: values.against,
      only,
    }
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n\n`)
    return undefined
  }
}

/** The benchmarks with this name, or with one that begins with it and an underscore: they share a measurement or a subject. */
function namedBy(given: string, known: readonly string[]): string[] {
  const found = known.filter((name) => name === given || name.startsWith(`${given}_`))
  if (found.length === 0) throw new Error(`unknown benchmark: ${given}`)
  return found
}

type BenchResult = Result<Partial<BenchOutcome> & Awaited<ReturnType<Check['run']>>>

async function runAll({ suite, benchmarks, quick, profile }: Options): Promise<BenchResult[]> {
  const { context, stop } = contextOf(quick, 1)
  try {
    const benchContext: BenchContext = { ...context, profile }
    return await runChecks(benchmarks, benchContext, (outcome) => outcome, { suite })
  } finally {
    await stop()
  }
}

/** The chart in `docs` shows complete runs in full size; other runs write theirs next to their results. */
function writeResults({ isForChart, quick }: Options, outcomes: readonly BenchResult[], out: string): void {
  mkdirSync(out, { recursive: true })
  const at = new Date().toISOString()
  const machine = { node: process.version, cores: availableParallelism(), load: loadavg() }
  const written = { suite: 'bench', ...commit(), quick, at, machine, benchmarks: outcomes }
  writeFileSync(join(out, 'bench.json'), `${JSON.stringify(written, null, 2)}\n`)
  const chart = plot(
    outcomes.flatMap(({ name, bound, ok, series = [] }) =>
      series.map((one) => ({ name, bound, ok, ...one })),
    ),
    `${written.commit?.slice(0, 12) ?? 'no commit'}, ${at.slice(0, 10)}, ${machine.cores} cores${quick ? ', quick' : ''}`,
  )
  const folder = isForChart ? fileURLToPath(new URL('../../docs/', import.meta.url)) : out
  writeFileSync(join(folder, 'bench.svg'), chart)
}
