import { readdirSync, readFileSync } from 'node:fs'
import { withClient } from '../../server/src/postgres/client.ts'
import { sum } from './numbers.ts'

/** The unit of CPU times in /proc on Linux. */
const ticksPerSecond = 100

/** CPU time of a process and all its threads so far. */
export function cpuSecondsOf(pid: number): number {
  const [user, system] = cpuTicksOf(pid)
  return (user + system) / ticksPerSecond
}

/** A process and its children. */
export function treeOf(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children]
}

/** CPU time of all processes of one PostgreSQL server so far. Other servers of the machine are not included. */
export class DatabaseCpu {
  readonly postmaster: number

  private constructor(postmaster: number) {
    this.postmaster = postmaster
  }

  static async of(url: string): Promise<DatabaseCpu> {
    const { rows } = await withClient(url, (client) =>
      client.query<{ folder: string }>(`select current_setting('data_directory') as folder`),
    )
    return new DatabaseCpu(Number(readFileSync(`${rows[0]?.folder}/postmaster.pid`, 'utf8').split('\n')[0]))
  }

  /** Includes backends that have exited: their time is that of the postmaster's children. */
  seconds(): number {
    const [, ...backends] = treeOf(this.postmaster)
    const ticks = sum(cpuTicksOf(this.postmaster))
    return ticks / ticksPerSecond + sum(backends.map(secondsWhileRunning))
  }
}

function secondsWhileRunning(pid: number): number {
  try {
    return cpuSecondsOf(pid)
  } catch {
    // It has exited meanwhile.
    return 0
  }
}

/** User and system time of a process, and of its children that have exited. */
function cpuTicksOf(pid: number): [number, number, number, number] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [user, system, childrenUser, childrenSystem] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
  return [Number(user), Number(system), Number(childrenUser), Number(childrenSystem)]
}

/** CPU time of this process and of its children that have exited: the load generators. */
export function ownCpuSeconds(): number {
  return sum(cpuTicksOf(process.pid)) / ticksPerSecond
}

/** CPU time of the machine so far, in seconds. `stolen` is what the hypervisor gave to other machines. */
export interface MachineCpu {
  readonly all: number
  readonly busy: number
  readonly stolen: number
}

export function machineCpu(): MachineCpu {
  const [, ...columns] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').split(/\s+/)
  const seconds = columns.slice(0, 8).map((ticks) => Number(ticks) / ticksPerSecond)
  const [, , , idle = 0, waiting = 0, , , stolen = 0] = seconds
  const all = sum(seconds)
  return { all, busy: all - idle - waiting - stolen, stolen }
}

export function stealPercentSince(before: MachineCpu): number {
  const now = machineCpu()
  return percent(now.stolen - before.stolen, now.all - before.all)
}

/** The share of the CPU time since then that other processes of the machine used. */
export function otherPercentSince(before: MachineCpu, measuredSeconds: number): number {
  const now = machineCpu()
  return Math.max(0, percent(now.busy - before.busy - measuredSeconds, now.all - before.all))
}

function percent(part: number, all: number): number {
  return all === 0 ? 0 : (part / all) * 100
}
