import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from '../../verification/src/check.ts'
import { median } from './numbers.ts'
import { type Fixture, smallRecords } from './ratios/fixture.ts'
import { invalidateCaches } from './ratios/invalidate-caches.ts'
import { accountsWithEtags, forms, mainFixture } from './ratios/rates.ts'
import { Server } from './server.ts'
import { type Requests, Wrk } from './wrk.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const ticksPerSecond = 100
const clients = 32

/** One second of load on one build. */
interface Sample {
  readonly rate: number
  /** CPU time per request, in µs: of the server process, and of all processes of PostgreSQL. */
  readonly serverUs: number
  readonly databaseUs: number
  readonly p99Ms: number
}

interface Workload {
  readonly name: string
  readonly status: '200' | '201' | '304'
  readonly requests: (fixture: Fixture, server: Server) => Promise<Requests>
  /** Invalidates all caches before each sample. */
  readonly isCold?: boolean
}

const products = '/api/v1/inventory/product'

const workloads: readonly Workload[] = [
  {
    name: 'warm_list',
    status: '200',
    requests: async ({ files }) => ({ shape: 'list', path: products, accounts: files.small }),
  },
  {
    name: 'not_modified',
    status: '304',
    requests: async (fixture, server) => ({
      shape: 'list',
      path: products,
      accounts: await accountsWithEtags({ ...fixture, server }, `known-${server.port}.txt`),
    }),
  },
  {
    name: 'cold_list',
    status: '200',
    isCold: true,
    requests: async ({ files: { small: accounts, orders } }) => ({
      shape: 'cold',
      path: products,
      accounts,
      orders,
      forms,
      pages: smallRecords / 10,
    }),
  },
  {
    name: 'one_record',
    status: '200',
    isCold: true,
    requests: async ({ files: { small: accounts, orders } }) => ({
      shape: 'one',
      path: products,
      accounts,
      orders,
      forms,
      ids: smallRecords,
    }),
  },
  {
    name: 'create',
    status: '201',
    requests: async ({ files }) => ({
      shape: 'create',
      path: '/api/v1/resources/partner',
      accounts: files.small,
      body: '{"name":"Nordwind Logistics"}',
    }),
  },
]

/**
 * Compares this build with another commit on the same database: both servers run, and wrk loads them alternately for one
 * second each, so that other work of the machine affects both. Ratios are medians of the ratios of adjacent samples.
 */
export async function compareWith(
  revision: string,
  context: Context,
  only: readonly string[],
): Promise<void> {
  const compared = workloads.filter(({ name }) => only.includes(name))
  if (compared.length === 0)
    throw new Error(`The workloads are ${workloads.map(({ name }) => name).join(', ')}.`)
  const fixture = await mainFixture(context)
  const folder = join(fixture.folder, 'other')
  execFileSync('git', ['worktree', 'add', '--force', '--detach', folder, revision], {
    cwd: root,
    stdio: 'ignore',
  })
  try {
    context.log(`npm ci for ${revision}`)
    execFileSync('npm', ['ci', '--prefer-offline', '--loglevel=error'], { cwd: folder, stdio: 'ignore' })
    const other = await Server.start(fixture.url, fixture.folder, false, {}, folder)
    try {
      const stolen = stealOf()
      print(['workload', 'requests/s', '', 'server µs', '', 'database µs', '', 'p99 ms', ''])
      for (const workload of compared) await compare(context, fixture, [other, fixture.server], workload)
      const { ticks, total } = stealOf()
      const share = ((ticks - stolen.ticks) / Math.max(1, total - stolen.total)) * 100
      process.stdout.write(`other → this (ratio); steal ${share.toFixed(1)} % of CPU time\n`)
    } finally {
      await other.stop()
    }
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', folder], { cwd: root, stdio: 'ignore' })
  }
}

async function compare(
  context: Context,
  fixture: Fixture,
  servers: readonly [Server, Server],
  { name, status, requests, isCold = false }: Workload,
): Promise<void> {
  const wrks: Wrk[] = []
  for (const server of servers) {
    const wrk = new Wrk(server.port, await requests(fixture, server), clients)
    await wrk.verify(status)
    wrks.push(wrk)
  }
  const samples: [Sample[], Sample[]] = [[], []]
  for (let round = 0; round < context.size(15, 6); round++) {
    for (const side of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const [server, wrk] = [servers[side], wrks[side]]
      if (wrk === undefined) continue
      if (isCold) await invalidateCaches(fixture)
      samples[side].push(await sample(server, wrk))
    }
  }
  const cells = (['rate', 'serverUs', 'databaseUs', 'p99Ms'] as const).flatMap((column) => {
    const [before, now] = samples.map((side) => side.map((one) => one[column]))
    const ratios = (now ?? []).map((value, i) => value / (before?.[i] ?? Number.NaN))
    const digits = column === 'p99Ms' ? 1 : 0
    return [
      `${median(before ?? []).toFixed(digits)} → ${median(now ?? []).toFixed(digits)}`,
      median(ratios).toFixed(2),
    ]
  })
  print([name, ...cells])
}

async function sample(server: Server, wrk: Wrk): Promise<Sample> {
  const [serverBefore, databaseBefore] = [server.cpuSeconds(), databaseCpuSeconds()]
  const { requests, seconds, p99Ms } = await wrk.measure(1)
  return {
    rate: requests / seconds,
    serverUs: ((server.cpuSeconds() - serverBefore) / requests) * 1e6,
    databaseUs: ((databaseCpuSeconds() - databaseBefore) / requests) * 1e6,
    p99Ms,
  }
}

/** CPU time of all processes named postgres, including those of other servers on the machine. */
function databaseCpuSeconds(): number {
  let ticks = 0
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const end = stat.lastIndexOf(')')
      if (!stat.slice(stat.indexOf('(') + 1, end).startsWith('postgres')) continue
      const [user, system] = stat
        .slice(end + 2)
        .split(' ')
        .slice(11, 13)
      ticks += Number(user) + Number(system)
    } catch {
      // It has ended meanwhile.
    }
  }
  return ticks / ticksPerSecond
}

/** CPU time stolen by the hypervisor, and the total. */
function stealOf(): { ticks: number; total: number } {
  const [, ...all] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '').split(/\s+/)
  const numbers = all.map(Number)
  return { ticks: numbers[7] ?? 0, total: numbers.slice(0, 8).reduce((sum, one) => sum + one, 0) }
}

function print(cells: readonly string[]): void {
  const widths = [14, 18, 7, 14, 7, 14, 7, 14, 7]
  process.stdout.write(`${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('')}\n`)
}
