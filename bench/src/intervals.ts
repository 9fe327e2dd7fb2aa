import { type DatabaseCpu, machineCpu, otherPercentSince, ownCpuSeconds, stealPercentSince } from './cpu.ts'
import { median, short } from './numbers.ts'

/** What a load generator reports of one interval. */
export interface Load {
  readonly requests: number
  readonly seconds: number
  readonly p50Ms?: number
  readonly p99Ms?: number
  /** Of each request, if the generator records them. */
  readonly timesMs?: readonly number[]
}

/** One of the programs that are compared, with its load generator. */
export interface Side {
  readonly name: string
  /** Runs before each interval and is not measured. */
  readonly prepare?: () => Promise<void>
  readonly load: (seconds: number) => Promise<Load>
  /** CPU time of its process so far. Absent if there is none besides PostgreSQL. */
  readonly cpuSeconds?: () => number
}

export interface Interval {
  readonly rate: number
  /** CPU time per request, in µs: of the process, and of all processes of PostgreSQL. */
  readonly serverUs: number
  readonly databaseUs: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU time that the hypervisor gave to other machines, and that other processes of this machine used. */
  readonly stealPercent: number
  readonly otherPercent: number
  /** Of each request, if the generator records them. */
  readonly timesMs: readonly number[]
}

/** What is measured of an interval as one number. */
export type Column = Exclude<keyof Interval, 'timesMs'>

/** A round with an interval in which steal and other work took more of the CPU time is repeated. */
const lostPercentMax = 5
/** Up to this many times as many rounds are measured. On a machine that stays noisy, those that lost the least count. */
const attempts = 3

/**
 * Loads all sides one after the other, in one order and then in the reverse, so that other work of the machine affects all of them. The nth
 * intervals of two sides are a pair: they are compared with each other, because the speed of the machine differs less between
 * them than over the whole measurement.
 */
export async function inIntervals(
  sides: readonly Side[],
  { rounds, seconds, database }: { rounds: number; seconds: number; database: DatabaseCpu },
): Promise<Interval[][]> {
  return quietRounds(
    sides.map((side) => () => measureInterval(side, seconds, database)),
    rounds,
  )
}

/** The rounds that lost the least CPU time to other machines and processes. Returns the intervals of each side. */
export async function quietRounds(
  sides: readonly (() => Promise<Interval>)[],
  rounds: number,
): Promise<Interval[][]> {
  const measured: { intervals: Interval[]; lost: number }[] = []
  const isQuiet = ({ lost }: { lost: number }) => lost <= lostPercentMax
  while (measured.length < rounds * attempts && measured.filter(isQuiet).length < rounds) {
    const intervals = await oneRound(sides, measured.length)
    measured.push({
      intervals,
      lost: Math.max(...intervals.map(({ stealPercent, otherPercent }) => stealPercent + otherPercent)),
    })
  }
  const quietest = measured.toSorted((one, other) => one.lost - other.lost).slice(0, rounds)
  return ofEach(
    sides,
    quietest.map(({ intervals }) => intervals),
  )
}

/** Runs all functions once per round, in alternating order. Returns the results of each. */
export async function alternately<T>(runs: readonly (() => Promise<T>)[], rounds: number): Promise<T[][]> {
  const results: T[][] = []
  for (let round = 0; round < rounds; round++) results.push(await oneRound(runs, round))
  return ofEach(runs, results)
}

/** Every second round is in the reverse order. Returns the results in the order of the functions. */
async function oneRound<T>(runs: readonly (() => Promise<T>)[], round: number): Promise<T[]> {
  const isReversed = round % 2 === 1
  const results: T[] = []
  for (const run of isReversed ? runs.toReversed() : runs) results.push(await run())
  return isReversed ? results.toReversed() : results
}

/** The results of rounds, by function. */
function ofEach<T>(runs: readonly unknown[], rounds: readonly (readonly T[])[]): T[][] {
  return runs.map((_, i) => rounds.flatMap((results) => results.slice(i, i + 1)))
}

export async function measureInterval(
  side: Side,
  seconds: number,
  database: Pick<DatabaseCpu, 'seconds'>,
): Promise<Interval> {
  await side.prepare?.()
  const cpu = () => ({ server: side.cpuSeconds?.() ?? 0, database: database.seconds(), own: ownCpuSeconds() })
  const [machine, before] = [machineCpu(), cpu()]
  const load = await side.load(seconds)
  const after = cpu()
  const [server, postgres] = [after.server - before.server, after.database - before.database]
  return {
    rate: load.requests / load.seconds,
    serverUs: (server / load.requests) * 1e6,
    databaseUs: (postgres / load.requests) * 1e6,
    p50Ms: load.p50Ms ?? Number.NaN,
    p99Ms: load.p99Ms ?? Number.NaN,
    stealPercent: stealPercentSince(machine),
    otherPercent: otherPercentSince(machine, server + postgres + after.own - before.own),
    timesMs: load.timesMs ?? [],
  }
}

export function column(intervals: readonly Interval[], name: Column): number[] {
  return intervals.map((one) => one[name])
}

/** The medians of a side, in one line. */
export function describeIntervals({ name, cpuSeconds }: Side, intervals: readonly Interval[]): string {
  const of = (key: Column) => median(column(intervals, key))
  const cpu = cpuSeconds === undefined ? '' : `${of('serverUs').toFixed(0)} µs of its process and `
  const latency = Number.isNaN(of('p99Ms')) ? '' : `, p99 ${short(of('p99Ms'))} ms`
  return `${name}: ${short(of('rate'))} /s, ${cpu}${of('databaseUs').toFixed(0)} µs of PostgreSQL per request${latency}, steal ${of('stealPercent').toFixed(1)} %, other work ${of('otherPercent').toFixed(0)} %`
}
