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

/** Processes of one build differ by up to 8 % for as long as they run, so several of each are compared. */
const pairsOfProcesses = 4

/** Both builds, each with the name of its side. */
type Builds = readonly { readonly name: string; readonly server: Server }[]

/**
 * Compares this build with another commit on the same database: servers of both run and are loaded alternately. Returns whether
 * all bounds are met.
 */
export async function compareWith(
  revision: string,
  context: Context,
  only: readonly string[],
): Promise<boolean> {
  const fixture = await mainFixture(context)
  const folder = checkoutOf(revision, join(fixture.folder, 'other'), context)
  const measured = new Map<string, Interval[][][]>()
  const pairs = context.size(pairsOfProcesses, 1)
  for (let n = 0; n < pairs; n++) {
    const builds = await startBoth(fixture, revision, folder, n % 2 === 0)
    try {
      await measurePair(context, fixture, only, builds, measured)
    } finally {
      await Promise.all(builds.map(({ server }) => server.stop()))
    }
    context.log(`pair ${n + 1} of ${pairs}`)
  }
  print(['workload', '', 'other', 'this', 'ratio', 'quartiles'])
  for (const [name, ofPairs] of measured) printIntervals(name, ofPairs)
  return isIdleFast(measured.get(idleName))
}

/** The one that is started first is not always the same. */
async function startBoth(
  fixture: Fixture,
  revision: string,
  folder: string,
  otherFirst: boolean,
): Promise<Builds> {
  const start = async (name: string, checkout: string | undefined) => ({
    name,
    server: await Server.start(fixture.url, fixture.folder, false, {}, checkout),
  })
  const startThis = () => start('this build', undefined)
  if (!otherFirst) {
    const own = await startThis()
    return [await start(revision, folder), own]
  }
  return [await start(revision, folder), await startThis()]
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

async function measurePair(
  context: Context,
  fixture: Fixture,
  only: readonly string[],
  builds: Builds,
  measured: Map<string, Interval[][][]>,
): Promise<void> {
  const database = await DatabaseCpu.of(fixture.url)
  const measure = async (name: string, sides: readonly Side[], rounds: number, seconds: number) => {
    const intervals = await inIntervals(sides, { rounds, seconds, database })
    measured.set(name, [...(measured.get(name) ?? []), intervals])
  }
  for (const workload of workloads.filter(({ name }) => only.includes(name))) {
    const sides: Side[] = []
    for (const build of builds) sides.push(await sideOf(context, fixture, workload, build))
    await measure(workload.name, sides, context.size(8, 6), 1)
  }
  if (!only.includes(idleName)) return
  const sides: Side[] = []
  for (const build of builds) sides.push(await idleSide(context, fixture, build))
  await measure(idleName, sides, context.size(30, 40), idleTurnSeconds)
}

/** An interval has about 110 requests. Its p99 is the second longest, which differs too much from interval to interval. */
function isIdleFast(ofPairs: readonly Interval[][][] | undefined): boolean {
  if (ofPairs === undefined) return true
  const [before = 0, now = 0] = [0, 1].map((side) =>
    percentile(
      ofPairs.flatMap((sides) => (sides[side] ?? []).flatMap(({ timesMs }) => timesMs)),
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

/** A line for each measured value: the medians of both builds, of the ratios of pairs of intervals the median and the quartiles, and the rates of each pair of processes. */
function printIntervals(name: string, ofPairs: readonly Interval[][][]): void {
  const [before = [], now = []] = [0, 1].map((side) => ofPairs.flatMap((sides) => sides[side] ?? []))
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
  const rates = ofPairs.map(([others = [], ours = []]) =>
    median(ratiosOf(column(ours, 'rate'), column(others, 'rate'))).toFixed(2),
  )
  if (rates.length > 1) print(['', `pairs of processes ${rates.join(', ')}`])
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
