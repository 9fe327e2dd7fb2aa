import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Context, Figure, Outcome } from './figure.ts'
import { progressTo } from './progress.ts'
import { suites } from './suites.ts'

const usage = `npm run figures -- SUITE [--quick] [--only NAME,NAME] [--seed N]

Suites: ${Object.keys(suites).join(', ')}
`

interface Options {
  readonly suite: string
  readonly figures: readonly Figure[]
  readonly quick: boolean
  readonly seed: number
}

type Result = Outcome & { readonly name: string; readonly bound: string; readonly seconds: number }

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
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { quick: { type: 'boolean' }, only: { type: 'string' }, seed: { type: 'string' } },
    })
    const suite = positionals[0] ?? ''
    const all = suites[suite]
    if (all === undefined || positionals.length > 1) return undefined
    const only = values.only?.split(',')
    const unknown = only?.filter((name) => !all.some((figure) => figure.name === name)) ?? []
    if (unknown.length > 0) {
      const known = all.map(({ name }) => name).join(', ')
      throw new Error(`no figure ${unknown.join(', ')} in ${suite}: there are ${known}`)
    }
    const seed = Number(values.seed ?? 1)
    if (!Number.isSafeInteger(seed)) throw new Error(`--seed takes an integer, not ${values.seed}`)
    const figures = only ? all.filter(({ name }) => only.includes(name)) : all
    return { suite, figures, quick: values.quick ?? false, seed }
  } catch (error) {
    process.stderr.write(`${message(error)}\n\n`)
    return undefined
  }
}

async function runAll({ figures, quick, seed }: Options): Promise<Result[]> {
  const stops: (() => Promise<void>)[] = []
  const context: Context = {
    quick,
    seed,
    size: (full, small) => (quick ? small : full),
    progress: (label, total) => progressTo(process.stderr, label, total),
    log: (line) => void process.stderr.write(`${line}\n`),
    atEnd: (stop) => void stops.push(stop),
  }
  const results: Result[] = []
  const nameWidth = Math.max(...figures.map(({ name }) => name.length))
  const boundWidth = Math.max(...figures.map(({ bound }) => bound.length))
  try {
    for (const figure of figures) {
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
async function measure(figure: Figure, context: Context): Promise<Result> {
  const { name, bound } = figure
  const started = performance.now()
  const seconds = () => Math.round((performance.now() - started) / 100) / 10
  try {
    return { name, bound, ...(await figure.run(context)), seconds: seconds() }
  } catch (error) {
    return { name, bound, value: 'not measured', ok: false, note: message(error), seconds: seconds() }
  }
}

function writeResults({ suite, quick, seed }: Options, figures: readonly Result[]): void {
  const folder = fileURLToPath(new URL('../out/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  const machine = { node: process.version, cores: availableParallelism() }
  const results = { suite, ...commit(), quick, seed, at: new Date().toISOString(), machine, figures }
  writeFileSync(`${folder}${suite}.json`, `${JSON.stringify(results, null, 2)}\n`)
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

function message(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
