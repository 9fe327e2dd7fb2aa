import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Check, Context, Outcome } from './check.ts'
import { progressTo } from './progress.ts'

export type Result<O extends Outcome> = O & {
  readonly name: string
  readonly bound: string
  readonly seconds: number
}

/** A check whose outcome has additional properties. */
export interface Measured<O extends Outcome, C extends Context> extends Omit<Check, 'run'> {
  run(context: C): Promise<O>
}

export type ChaosOptions = Pick<Context, 'faults' | 'kinds' | 'plots'>

/** A context that writes progress and notes to stderr, and `stop`, which stops the fixtures in reverse order of their start. */
export function contextOf(
  quick: boolean,
  seed: number,
  options: ChaosOptions = {},
): { context: Context; stop: () => Promise<void> } {
  const stops: (() => Promise<void>)[] = []
  // process.exit runs the exit handlers, which kill the processes that this run started.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  return {
    context: {
      ...options,
      quick,
      seed,
      size: (full, small) => (quick ? small : full),
      progress: (label, total) => progressTo(process.stderr, label, total),
      log: (line) => void process.stderr.write(`${line}\n`),
      atEnd: (stop) => void stops.push(stop),
    },
    stop: async () => {
      for (const stop of stops.toReversed()) await stop()
    },
  }
}

/**
 * Runs checks one after the other and prints a line for each. A check that throws fails, with the properties that `broken` adds.
 * With `retry`, it runs once more after the others: throwing shows nothing, neither that the claim holds nor that it does not. A
 * check that depends on time also runs once more if it was wrong.
 */
export async function runChecks<O extends Outcome, C extends Context>(
  checks: readonly Measured<O, C>[],
  context: C,
  broken: (outcome: Outcome) => O,
  { retry = false } = {},
): Promise<Result<O>[]> {
  const results: Result<O>[] = []
  const unstable: string[] = []
  const nameWidth = Math.max(...checks.map(({ name }) => name.length))
  const boundWidth = Math.max(...checks.map(({ bound }) => bound.length))
  const run = async (check: Measured<O, C>) => {
    context.log(`— ${check.name}`)
    return await measure(check, context, broken)
  }
  const report = (result: Result<O>) => {
    results.push(result)
    const { name, value, bound, ok, note } = result
    if (note !== undefined) context.log(note)
    process.stdout.write(
      `${name.padEnd(nameWidth)}  ${value.padEnd(34)}  ${bound.padEnd(boundWidth)}  ${ok ? 'ok' : 'SHORT'}\n`,
    )
  }
  const again: Measured<O, C>[] = []
  for (const check of checks) {
    const result = await run(check)
    const showsNothing = result.value === notMeasured || (!result.ok && check.dependsOnTime === true)
    if (showsNothing && retry) {
      context.log(`${result.note}\n${check.name} runs again after the other checks`)
      again.push(check)
    } else report(result)
  }
  if (again.length > 0) await untilNothingElseRuns()
  for (const check of again) {
    const result = await run(check)
    if (result.ok) unstable.push(check.name)
    report(result)
  }
  if (unstable.length > 0) context.log(`UNSTABLE, completed only when run again: ${unstable.join(', ')}`)
  return results
}

const notMeasured = 'not measured'

/** In `.ci/run`, which then removes the file. Elsewhere nothing else is expected to run. */
async function untilNothingElseRuns(): Promise<void> {
  const folder = process.env['WAIT_IN']
  if (folder === undefined) return
  const file = join(folder, String(process.pid))
  writeFileSync(file, '')
  while (existsSync(file)) await sleep(1000)
}

/** A check that throws has failed: nothing was shown. */
async function measure<O extends Outcome, C extends Context>(
  check: Measured<O, C>,
  context: C,
  broken: (outcome: Outcome) => O,
): Promise<Result<O>> {
  const { name, bound } = check
  const started = performance.now()
  const seconds = () => Math.round((performance.now() - started) / 100) / 10
  try {
    return { name, bound, ...(await check.run(context)), seconds: seconds() }
  } catch (error) {
    const outcome = broken({ value: notMeasured, ok: false, note: messageOf(error) })
    return { name, bound, ...outcome, seconds: seconds() }
  }
}

/** The current commit, and whether the working tree is clean. */
export function commit(): { commit: string | null; clean: boolean } {
  try {
    return { commit: git('rev-parse', 'HEAD').trim(), clean: git('status', '--porcelain') === '' }
  } catch {
    return { commit: null, clean: false }
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
