import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from '../../verification/src/check.ts'
import { DatabaseCpu } from './cpu.ts'
import { idleBoundMax, idleName, idleSide, idleTurnSeconds } from './idle.ts'
import { type Column, column, type Interval, inIntervals, type Side } from './intervals.ts'
import { median, medianOfRatios, percentile } from './numbers.ts'
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
  return inCheckout(revision, join(fixture.folder, 'other'), context, async (folder) => {
    const other = await Server.start(fixture.url, fixture.folder, false, {}, folder)
    try {
      return await compareAll(context, fixture, only, [
        { name: revision, server: other },
        { name: 'this build', server: fixture.server },
      ])
    } finally {
      await other.stop()
    }
  })
}

/** A revision is checked out in `folder` and installed. A path is used as it is: a checkout that has been installed before. */
async function inCheckout<T>(
  revision: string,
  folder: string,
  context: Context,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  if (existsSync(join(revision, 'server/bin/quartermaster.js'))) return work(resolve(revision))
  execFileSync('git', ['worktree', 'add', '--force', '--detach', folder, revision], {
    cwd: root,
    stdio: 'ignore',
  })
  try {
    context.log(`npm ci for ${revision}`)
    execFileSync('npm', ['ci', '--prefer-offline', '--loglevel=error'], { cwd: folder, stdio: 'ignore' })
    return await work(folder)
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', folder], { cwd: root, stdio: 'ignore' })
  }
}

async function compareAll(
  context: Context,
  fixture: Fixture,
  only: readonly string[],
  builds: Builds,
): Promise<boolean> {
  const database = await DatabaseCpu.of(fixture.url)
  print([
    'workload',
    'requests/s',
    '',
    'server µs',
    '',
    'database µs',
    '',
    'p50 ms',
    '',
    'p99 ms',
    '',
    'steal',
    'other work',
  ])
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
  { name: 'rate', digits: 0 },
  { name: 'serverUs', digits: 0 },
  { name: 'databaseUs', digits: 0 },
  { name: 'p50Ms', digits: 2 },
  { name: 'p99Ms', digits: 2 },
] as const

/** For each column `other → this`, and the median of the ratios of pairs. */
function printIntervals(name: string, [before = [], now = []]: readonly Interval[][]): void {
  const cells = columns.flatMap(({ name: key, digits }) => [
    [before, now].map((intervals) => median(column(intervals, key)).toFixed(digits)).join(' → '),
    ratioOf([before, now], key).toFixed(2),
  ])
  const noise = (['stealPercent', 'otherPercent'] as const).map(
    (key) => `${median(column([...before, ...now], key)).toFixed(1)} %`,
  )
  print([name, ...cells, ...noise])
}

function ratioOf([before = [], now = []]: readonly Interval[][], key: Column): number {
  return medianOfRatios(column(now, key), column(before, key))
}

function print(cells: readonly string[]): void {
  const widths = [14, 18, 7, 14, 7, 14, 7, 17, 7, 18, 7, 8, 10]
  process.stdout.write(
    `${cells
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('')
      .trimEnd()}\n`,
  )
}
