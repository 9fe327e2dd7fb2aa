import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import type { Benchmark } from '../benchmark.ts'
import { DatabaseCpu, treeOf } from '../cpu.ts'
import {
  alternately,
  column,
  describeIntervals,
  type Interval,
  type Side as Measured,
  measureInterval,
} from '../intervals.ts'
import { median, medianOfRatios, short } from '../numbers.ts'
import { Server } from '../server.ts'
import { bar } from '../side-by-side.ts'
import { Wrk } from '../wrk.ts'
import { mainFixture } from './rates.ts'

/** Read once: `availableParallelism` counts only the CPUs to which this process is bound. */
const allCpus = Array.from({ length: availableParallelism() }, (_, cpu) => cpu)
const clients = 32
/** So few that a single process is never saturated and verifies about one key per statement, like workers that are not saturated. */
const fewClients = 2
const processes = 2
/** With at least twice as many CPUs as processes, the load generator and PostgreSQL have CPUs of their own. */
const boundMin = { separate: 1.6, shared: 0 }

/**
 * Cached lists of `serve --processes 2`, compared with one process. Each side may use as many CPUs as it has serving processes; the
 * load generator and PostgreSQL are bound to the others. With two CPUs there are no others, so they share one with the second worker.
 */
export const processesRatio: Benchmark = {
  name: 'processes_ratio',
  bound: `≥ ${boundMin.separate}; with less than 4 CPUs only measured`,
  async run(context) {
    const { url, folder, files, small } = await mainFixture(context)
    const postgres = await DatabaseCpu.of(url)
    const ports = [await freePort(), await freePort()] as const
    const servers = [
      await Server.start(url, folder, false, { QUARTERMASTER_ADMIN_PORT: String(ports[0]) }),
      await Server.start(url, folder, false, {
        QUARTERMASTER_ADMIN_PORT: String(ports[1]),
        QUARTERMASTER_PROCESSES: String(processes),
      }),
    ] as const
    try {
      const one = new Side(servers[0], 1, clients, ports[0], postgres, files.small)
      const two = new Side(servers[1], processes, clients, ports[1], postgres, files.small)
      const idle = new Side(servers[0], 1, fewClients, ports[0], postgres, files.small)
      for (const side of [one, two]) await side.warmUp(small.length * processes)
      await alternately(
        [one, two, idle].map((side) => () => side.run(context.size(5, 2))),
        context.size(10, 3),
      )
      return outcome(one, two, idle)
    } finally {
      // This process and PostgreSQL may use all CPUs again.
      for (const pid of [process.pid, ...treeOf(postgres.postmaster)]) bind(pid, allCpus)
      await Promise.all(servers.map((server) => server.stop()))
    }
  },
}

class Side {
  readonly count: number
  readonly intervals: Interval[] = []
  /** Keys per statement that verifies keys. */
  readonly batchSizes: number[] = []
  readonly clients: number
  readonly #server: Server
  readonly #adminPort: number
  readonly #postgres: DatabaseCpu
  readonly #wrk: Wrk

  constructor(
    server: Server,
    count: number,
    connections: number,
    adminPort: number,
    postgres: DatabaseCpu,
    accounts: string,
  ) {
    this.#server = server
    this.#adminPort = adminPort
    this.count = count
    this.clients = connections
    this.#postgres = postgres
    this.#wrk = new Wrk(
      server.port,
      { shape: 'list', path: '/api/v1/inventory/product', accounts },
      connections,
    )
  }

  async warmUp(requests: number): Promise<void> {
    this.#bindAll()
    await this.#wrk.verify('200', { requestsMin: requests })
  }

  async run(seconds: number): Promise<void> {
    this.#bindAll()
    const batchesBefore = await verifications(this.#adminPort)
    this.intervals.push(await measureInterval(this.measured, seconds, this.#postgres))
    const batches = await verifications(this.#adminPort)
    this.batchSizes.push(
      (batches.keys - batchesBefore.keys) / (batches.statements - batchesBefore.statements),
    )
  }

  get measured(): Measured {
    const processesText = `${this.count} ${this.count === 1 ? 'process' : 'processes'}`
    return {
      name: `${processesText}, ${this.clients} clients`,
      load: (seconds) => this.#wrk.measure(seconds),
      cpuSeconds: () => this.#server.cpuSeconds(),
    }
  }

  /** wrk is started by this process and inherits its CPUs. */
  #bindAll(): void {
    const serving = allCpus.slice(0, this.count)
    const others = allCpus.length > this.count ? allCpus.slice(this.count) : allCpus.slice(-1)
    for (const pid of this.#server.pids) bind(pid, serving)
    for (const pid of [process.pid, ...treeOf(this.#postgres.postmaster)]) bind(pid, others)
  }
}

/** Statements that verify keys, and the keys in them, of all processes so far. */
async function verifications(adminPort: number): Promise<{ statements: number; keys: number }> {
  const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
  const sum = (suffix: string) =>
    [
      ...text.matchAll(
        new RegExp(`^quartermaster_key_verification_batch_size_${suffix}(?:\\{.*\\})? (\\S+)`, 'gm'),
      ),
    ]
      .map(([, value]) => Number(value))
      .reduce((total, value) => total + value, 0)
  return { statements: sum('count'), keys: sum('sum') }
}

function outcome(one: Side, two: Side, idle: Side) {
  const [service, other] = [
    bar('2 processes', column(two.intervals, 'rate')),
    bar('1 process', column(one.intervals, 'rate')),
  ]
  const ratio = medianOfRatios(service.runs, other.runs)
  const limit = allCpus.length >= 2 * processes ? boundMin.separate : boundMin.shared
  const shown = ({ measured, intervals, batchSizes }: Side) =>
    `${describeIntervals(measured, intervals)}, ${median(batchSizes).toFixed(1)} keys per statement`
  return {
    value: `${ratio.toFixed(2)} (${short(service.value)} ÷ ${short(other.value)} /s)`,
    samples: Math.min(service.runs.length, other.runs.length),
    ok: ratio >= limit,
    note: `${allCpus.length} CPUs\n${shown(one)}\n${shown(two)}\n${shown(idle)}`,
    series: [
      {
        label: 'list, cached, 2 processes',
        unit: '/s' as const,
        service,
        other,
        limit: other.value * limit,
      },
    ],
  }
}

function bind(pid: number, cpus: readonly number[]): void {
  try {
    execFileSync('taskset', ['-a', '-c', '-p', cpus.join(','), String(pid)], { stdio: 'ignore' })
  } catch (error) {
    // A backend of PostgreSQL may have exited.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') throw error
  }
}
