import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { commit, contextOf, messageOf, type Result, runFigures } from '../../figures/src/runner.ts'
import { compareWith } from './against.ts'
import type { BenchContext, BenchFigure, BenchOutcome } from './figure.ts'
import { figures } from './figures.ts'
import { plot } from './plot.ts'

const usage = `npm run bench -- [--quick] [--only NAME,NAME] [--profile]
npm run bench -- --against REVISION [--quick]

Figures: ${figures.map(({ name }) => name).join(', ')}
`

interface Options {
  readonly figures: readonly BenchFigure[]
  readonly quick: boolean
  readonly profile: boolean
  /** The commit to compare with, instead of measuring the figures. */
  readonly against: string | undefined
}

const options = readOptions(process.argv.slice(2))
if (options === undefined) {
  process.stderr.write(usage)
  process.exitCode = 2
} else if (options.against !== undefined) {
  const { context, stop } = contextOf(options.quick, 1)
  try {
    await compareWith(options.against, context)
  } finally {
    await stop()
  }
} else {
  const results = await runAll(options)
  writeResults(options, results)
  process.exitCode = results.every(({ ok }) => ok) ? 0 : 1
}

function readOptions(args: string[]): Options | undefined {
  try {
    const { values } = parseArgs({
      args,
      options: {
        quick: { type: 'boolean' },
        only: { type: 'string' },
        profile: { type: 'boolean' },
        against: { type: 'string' },
      },
    })
    const only = values.only?.split(',') ?? figures.map(({ name }) => name)
    const unknown = only.filter((name) => !figures.some((figure) => figure.name === name))
    if (unknown.length > 0) throw new Error(`no figure ${unknown.join(', ')}`)
    return {
      figures: figures.filter(({ name }) => only.includes(name)),
      quick: values.quick ?? false,
      profile: values.profile ?? false,
      against: values.against,
    }
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n\n`)
    return undefined
  }
}

async function runAll({ figures: wanted, quick, profile }: Options): Promise<Result<BenchOutcome>[]> {
  const { context, stop } = contextOf(quick, 1)
  try {
    const benchContext: BenchContext = { ...context, profile }
    return await runFigures(wanted, benchContext, (outcome) => ({ ...outcome, series: [] }))
  } finally {
    await stop()
  }
}

/** The plot in `docs` is of whole runs in full size; others stay beside their results. */
function writeResults(chosen: Options, results: readonly Result<BenchOutcome>[]): void {
  const out = fileURLToPath(new URL('../out/', import.meta.url))
  mkdirSync(out, { recursive: true })
  const at = new Date().toISOString()
  const machine = { node: process.version, cores: availableParallelism(), load: loadavg() }
  const { quick } = chosen
  const written = { suite: 'bench', ...commit(), quick, at, machine, figures: results }
  writeFileSync(`${out}bench.json`, `${JSON.stringify(written, null, 2)}\n`)
  const picture = plot(
    results.flatMap(({ name, bound, ok, series }) => series.map((one) => ({ name, bound, ok, ...one }))),
    `${written.commit?.slice(0, 12) ?? 'no commit'}, ${at.slice(0, 10)}, ${machine.cores} cores${quick ? ', quick' : ''}`,
  )
  const whole = !quick && chosen.figures.length === figures.length
  const place = whole ? fileURLToPath(new URL('../../docs/', import.meta.url)) : out
  writeFileSync(`${place}bench.svg`, picture)
}
