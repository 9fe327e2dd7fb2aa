import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { missingFor } from './capabilities.ts'
import type { Check, Context, Outcome } from './check.ts'
import { progressTo } from './progress.ts'

/**
 * `SHORT`: the bound is missed. `FAILED`: the check ended with an error, or has seen nothing, so that nothing is known. `skipped`:
 * the machine lacks what the check needs.
 */
export type State = 'ok' | 'SHORT' | 'FAILED' | 'skipped'

export type Result<O extends Outcome> = O & {
  readonly name: string
  readonly bound: string
  readonly seconds: number
  readonly state: State
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
      attempt: 1,
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
 * Runs checks one after the other and prints a line for each, and a last line with their numbers. A check that throws fails, with the
 * properties that `broken` adds. With `retry`, it runs once more after the others: throwing shows nothing, neither that the claim
 * holds nor that it does not. A check that depends on time also runs once more if it was wrong.
 */
export async function runChecks<O extends Outcome, C extends Context>(
  checks: readonly Measured<O, C>[],
  context: C,
  broken: (outcome: Outcome) => O,
  { retry = false, suite = 'all' } = {},
): Promise<Result<O>[]> {
  if (checks.length === 0) throw new Error('There is no check to run.')
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
    const { name, value, bound, state, note } = result
    if (note !== undefined) context.log(note)
    process.stdout.write(
      `${name.padEnd(nameWidth)}  ${value.padEnd(34)}  ${bound.padEnd(boundWidth)}  ${state}\n`,
    )
  }
  const again: Measured<O, C>[] = []
  for (const check of checks) {
    const result = await run(check)
    const showsNothing =
      result.state === 'FAILED' || (result.state === 'SHORT' && check.dependsOnTime === true)
    if (showsNothing && retry) {
      context.log(`${result.note}\n${check.name} runs again after the other checks`)
      again.push(check)
    } else report(result)
  }
  if (again.length > 0) await untilNothingElseRuns()
  // The same object, because it identifies the fixtures of the run.
  Object.assign(context, { attempt: 2 })
  for (const check of again) {
    const result = await run(check)
    if (result.state === 'ok') unstable.push(check.name)
    report(result)
  }
  if (unstable.length > 0) context.log(`UNSTABLE, completed only when run again: ${unstable.join(', ')}`)
  process.stdout.write(`${suite}: ${summary(results)}\n`)
  return results
}

/** The exit code of a command: 0 only if nothing has failed. */
export function exitCodeOf(results: readonly { readonly state: State }[]): 0 | 1 {
  return results.length > 0 && results.every(({ state }) => state === 'ok' || state === 'skipped') ? 0 : 1
}

function summary(results: readonly { readonly state: State }[]): string {
  const count = (...states: State[]) => results.filter(({ state }) => states.includes(state)).length
  return `${count('ok')} passed, ${count('SHORT', 'FAILED')} failed, ${count('skipped')} skipped`
}

/** In `.ci/run`, which then removes the file. Elsewhere nothing else is expected to run. */
async function untilNothingElseRuns(): Promise<void> {
  const folder = process.env['WAIT_IN']
  if (folder === undefined) return
  const file = join(folder, String(process.pid))
  writeFileSync(file, '')
  while (existsSync(file)) await sleep(1000)
}

/** A check that throws, or has compared nothing, has failed: nothing was shown. */
async function measure<O extends Outcome, C extends Context>(
  check: Measured<O, C>,
  context: C,
  broken: (outcome: Outcome) => O,
): Promise<Result<O>> {
  const { name, bound } = check
  const started = performance.now()
  const result = (outcome: O, state: State) => {
    const seconds = Math.round((performance.now() - started) / 100) / 10
    return { name, bound, ...outcome, ok: state === 'ok', state, seconds }
  }
  try {
    const reason = missingFor(check)
    if (reason !== undefined)
      return result(broken({ value: `skipped: ${reason}`, ok: false, samples: 0 }), 'skipped')
    const outcome = await check.run(context)
    if (outcome.samples > 0) return result(outcome, outcome.ok ? 'ok' : 'SHORT')
    const note = [`it has compared nothing: ${outcome.samples} samples`, outcome.note ?? ''].join('\n')
    return result({ ...outcome, note }, 'FAILED')
  } catch (error) {
    return result(broken({ value: 'not measured', ok: false, samples: 0, note: messageOf(error) }), 'FAILED')
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
