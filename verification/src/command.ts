import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { faultsNamed } from './chaos/faults/table.ts'
import type { Check, Outcome } from './check.ts'
import {
  type ChaosOptions,
  commit,
  contextOf,
  exitCodeOf,
  messageOf,
  type Result,
  runChecks,
} from './runner.ts'

type Suites = Readonly<Record<string, readonly Check[]>>

/** Where the results of a suite are written. */
const results = fileURLToPath(new URL('../../verification/out/', import.meta.url))

const usage = (
  suites: Suites,
) => `npm run verify -- SUITE [--quick] [--only NAME,NAME] [--seed N] [--retry] [--complete] [--faults N] [--kinds NAME,NAME] [--plots]

--retry runs a check that stopped with an error once more, after the others. A check that finds something wrong fails at once, except on a page of the console.
--complete fails if a check is skipped, because this machine lacks what it needs.
--faults is the number of faults of the suite chaos, --kinds their names, in this order. --plots replaces its plots in docs/chaos.

Suites: ${Object.keys(suites).join(', ')}
`

interface Options {
  readonly suite: string
  readonly checks: readonly Check[]
  readonly quick: boolean
  readonly seed: number
  readonly retry: boolean
  /** Nothing may be skipped. */
  readonly complete: boolean
  readonly chaos: ChaosOptions
}

/** `npm run verify`: runs the checks of a suite, and returns the exit code. */
export async function verify(args: string[], suites: Suites, folder = results): Promise<number> {
  const options = readOptions(args, suites)
  if (options === undefined) {
    process.stderr.write(usage(suites))
    return 2
  }
  const outcomes = await runAll(options)
  writeResults(options, outcomes, folder)
  const isIncomplete = options.complete && outcomes.some(({ state }) => state === 'skipped')
  return isIncomplete ? 1 : exitCodeOf(outcomes)
}

function readOptions(args: string[], suites: Suites): Options | undefined {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        only: { type: 'string' },
        seed: { type: 'string' },
        retry: { type: 'boolean' },
        complete: { type: 'boolean' },
        faults: { type: 'string' },
        kinds: { type: 'string' },
        plots: { type: 'boolean' },
      },
    })
    const suite = positionals[0] ?? ''
    const all = suites[suite]
    if (all === undefined || positionals.length > 1) return undefined
    const only = values.only?.split(',')
    const unknown = only?.filter((name) => !all.some((check) => check.name === name)) ?? []
    if (unknown.length > 0) {
      const known = all.map(({ name }) => name).join(', ')
      throw new Error(`no check ${unknown.join(', ')} in ${suite}: there are ${known}`)
    }
    const seed = Number(values.seed ?? 1)
    if (!Number.isSafeInteger(seed)) throw new Error(`--seed takes an integer, not ${values.seed}`)
    const faults = values.faults === undefined ? undefined : Number(values.faults)
    if (faults !== undefined && !(Number.isSafeInteger(faults) && faults > 0))
      throw new Error(`--faults takes a positive integer, not ${values.faults}`)
    const kinds = values.kinds?.split(',')
    if (kinds !== undefined) faultsNamed(kinds)
    const chaos = {
      ...(faults === undefined ? {} : { faults }),
      ...(kinds === undefined ? {} : { kinds }),
      plots: values.plots ?? false,
    }
    const checks = only ? all.filter(({ name }) => only.includes(name)) : all
    const { quick = false, retry = false, complete = false } = values
    return { suite, checks, quick, seed, retry, complete, chaos }
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n\n`)
    return undefined
  }
}

async function runAll({ suite, checks, quick, seed, retry, chaos }: Options): Promise<Result<Outcome>[]> {
  const { context, stop } = contextOf(quick, seed, chaos)
  try {
    return await runChecks(checks, context, (outcome) => outcome, { retry, suite })
  } finally {
    await stop()
  }
}

function writeResults(
  { suite, quick, seed }: Options,
  checks: readonly Result<Outcome>[],
  folder: string,
): void {
  mkdirSync(folder, { recursive: true })
  const machine = { node: process.version, cores: availableParallelism() }
  const written = { suite, ...commit(), quick, seed, at: new Date().toISOString(), machine, checks }
  writeFileSync(join(folder, `${suite}.json`), `${JSON.stringify(written, null, 2)}\n`)
}
