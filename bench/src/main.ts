import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { progressTo } from '../../figures/src/progress.ts'
import type { BenchContext, BenchFigure, BenchOutcome } from './figure.ts'
import { figures } from './figures.ts'
import { plot } from './plot.ts'

const usage = `npm run bench -- [--quick] [--only NAME,NAME] [--profile]

Figures: ${figures.map(({ name }) => name).join(', ')}
`

interface Options {
  readonly figures: readonly BenchFigure[]
  readonly quick: boolean
  readonly profile: boolean
}

type Result = BenchOutcome & { readonly name: string; readonly bound: string; readonly seconds: number }

const options = readOptions(process.argv.slice(2))
if (options === undefined) {
  process.stderr.write(usage)
  process.exitCode = 2
} else {
  const results = await runAll(options)
  writeResults(options, results)
  process.exitCode = results.every(({ ok }) => ok) ? 0 : 1
}

function readOptions(args: string[]): Options | undefined {
  try {
    const { values } = parseArgs({
      args,
      options: { quick: { type: 'boolean' }, only: { type: 'string' }, profile: { type: 'boolean' } },
    })
    const only = values.only?.split(',') ?? figures.map(({ name }) => name)
    const unknown = only.filter((name) => !figures.some((figure) => figure.name === name))
    if (unknown.length > 0) throw new Error(`no figure ${unknown.join(', ')}`)
    return {
      figures: figures.filter(({ name }) => only.includes(name)),
      quick: values.quick ?? false,
      profile: values.profile ?? false,
    }
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n`)
    return undefined
  }
}

async function runAll({ figures: wanted, quick, profile }: Options): Promise<Result[]> {
  const stops: (() => Promise<void>)[] = []
  const context: BenchContext = {
    quick,
    profile,
    seed: 1,
    size: (full, small) => (quick ? small : full),
    progress: (label, total) => progressTo(process.stderr, label, total),
    log: (line) => void process.stderr.write(`${line}\n`),
    atEnd: (stop) => void stops.push(stop),
  }
  const results: Result[] = []
  const nameWidth = Math.max(...wanted.map(({ name }) => name.length))
  const boundWidth = Math.max(...wanted.map(({ bound }) => bound.length))
  try {
    for (const figure of wanted) {
      context.log(`— ${figure.name}`)
      const result = await measure(figure, context)
      results.push(result)
      const { name, value, bound, ok, note } = result
      if (note !== undefined) context.log(note)
      process.stdout.write(
        `${name.padEnd(nameWidth)}  ${value.padEnd(34)}  ${bound.padEnd(boundWidth)}  ${ok ? 'ok' : 'SHORT'}\n`,
      )
    }
  } finally {
    for (const stop of stops.toReversed()) await stop()
  }
  return results
}

/** A figure that breaks is short: what could not be measured was not shown. */
async function measure(figure: BenchFigure, context: BenchContext): Promise<Result> {
  const { name, bound } = figure
  const started = performance.now()
  const seconds = () => Math.round((performance.now() - started) / 100) / 10
  try {
    return { name, bound, ...(await figure.run(context)), seconds: seconds() }
  } catch (error) {
    const note = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { name, bound, value: 'not measured', ok: false, note, series: [], seconds: seconds() }
  }
}

/** The plot in `docs` is of whole runs in full size; others stay beside their results. */
function writeResults(chosen: Options, results: readonly Result[]): void {
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

function commit(): { commit: string | null; clean: boolean } {
  try {
    return { commit: git('rev-parse', 'HEAD').trim(), clean: git('status', '--porcelain') === '' }
  } catch {
    return { commit: null, clean: false }
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}
