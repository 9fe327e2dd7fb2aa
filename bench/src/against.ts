import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from '../../verification/src/check.ts'
import { DatabaseCpu } from './cpu.ts'
import { idleBoundMax, idleName, idleSide, idleTurnSeconds } from './idle.ts'
import { column, type Interval, inIntervals, type Side } from './intervals.ts'
import { median, percentile, ratiosOf } from './numbers.ts'
import type { Fixture } from './ratios/fixture.ts'
import { mainFixture, sideOf } from './ratios/rates.ts'
import { workloads } from './ratios/workloads.ts'
import { Server } from './server.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** What `--only` may name with `--against`. */
export const comparable: readonly string[] = [...workloads.map(({ name }) => name), idleName]

/** Both builds, each with the name of its side. */
type Builds = readonly { readonly name: string; readonly server: Server }[]

/**
 * Compares this build with another commit on the same database: both servers run and are loaded alternately. Returns whether
 * all bounds are met.
 */
export async function compareWith(
  revision: string,
  context: Context,
  only: readonly string[],
): Promise<boolean> {
  const fixture = await mainFixture(context)
  const folder = checkoutOf(revision, join(fixture.folder, 'other'), context)
  const other = await Server.start(fixture.url, fixture.folder, false, {}, folder)
  try {
    return await compareAll(context, fixture, only, [
      { name: revision, server: other },
      { name: 'this build', server: fixture.server },
    ])
  } finally {
    await other.stop()
  }
}

/** A revision is checked out in `folder` and installed. A path is used as it is: a checkout that has been installed before. */
function checkoutOf(revision: string, folder: string, context: Context): string {
  if (existsSync(join(revision, 'server/bin/quartermaster.js'))) return resolve(revision)
  // Not a worktree, which the repository would list until it is removed, also if this run is killed.
  execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', root, folder], { stdio: 'inherit' })
  execFileSync('git', ['checkout', '--quiet', '--detach', commitOf(revision)], {
    cwd: folder,
    stdio: 'inherit',
  })
  context.log(`npm ci for ${revision}`)
  execFileSync('npm', ['ci', '--prefer-offline', '--loglevel=error'], { cwd: folder, stdio: 'ignore' })
  return folder
}

/** The commit that a revision like `HEAD~1` names here. In the clone, it may name another one. */
function commitOf(revision: string): string {
  const args = ['rev-parse', '--verify', '--end-of-options', `${revision}^{commit}`]
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
}

async function compareAll(
  context: Context,
  fixture: Fixture,
  only: readonly string[],
  builds: Builds,
): Promise<boolean> {
  const database = await DatabaseCpu.of(fixture.url)
  print(['workload', '', 'other', 'this', 'ratio', 'quartiles'])
  for (const workload of workloads.filter(({ name }) => only.includes(name))) {
    const sides: Side[] = []
    for (const build of builds) sides.push(await sideOf(context, fixture, workload, build))
    printIntervals(
      workload.name,
      await inIntervals(sides, { rounds: context.size(15, 6), seconds: 1, database }),
    )
  }
  if (!only.includes(idleName)) return true
  const sides: Side[] = []
  for (const build of builds) sides.push(await idleSide(context, fixture, build))
  const intervals = await inIntervals(sides, {
    rounds: context.size(120, 40),
    seconds: idleTurnSeconds,
    database,
  })
  printIntervals(idleName, intervals)
  // An interval has about 110 requests. Its p99 is the second longest, which differs too much from interval to interval.
  const [before = 0, now = 0] = intervals.map((ofSide) =>
    percentile(
      ofSide.flatMap(({ timesMs }) => timesMs),
      99,
    ),
  )
  const ratio = now / before
  const ok = ratio <= idleBoundMax
  process.stdout.write(
    `${idleName}  ${ratio.toFixed(2)} (${before.toFixed(2)} → ${now.toFixed(2)} ms)  ≤ ${idleBoundMax}  ${ok ? 'ok' : 'SHORT'}\n`,
  )
  return ok
}

const columns = [
  { key: 'rate', label: 'requests/s', digits: 0 },
  { key: 'serverUs', label: 'server µs', digits: 0 },
  { key: 'databaseUs', label: 'database µs', digits: 0 },
  { key: 'p50Ms', label: 'p50 ms', digits: 2 },
  { key: 'p99Ms', label: 'p99 ms', digits: 2 },
] as const

/** A line for each measured value: the medians of both builds, and of the ratios of pairs the median and the quartiles. */
function printIntervals(name: string, [before = [], now = []]: readonly Interval[][]): void {
  for (const [i, { key, label, digits }] of columns.entries()) {
    const ratios = ratiosOf(column(now, key), column(before, key))
    print([
      i === 0 ? name : '',
      label,
      ...[before, now].map((intervals) => median(column(intervals, key)).toFixed(digits)),
      median(ratios).toFixed(2),
      [25, 75].map((percent) => percentile(ratios, percent).toFixed(2)).join(' to '),
    ])
  }
  const [steal = '', other = ''] = (['stealPercent', 'otherPercent'] as const).map((key) =>
    median(column([...before, ...now], key)).toFixed(1),
  )
  print(['', `steal ${steal} %, other work ${other} %`])
}

function print(cells: readonly string[]): void {
  const widths = [14, 13, 10, 10, 7]
  process.stdout.write(
    `${cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('')
      .trimEnd()}\n`,
  )
}
