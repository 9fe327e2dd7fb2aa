import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAccount } from '../../../server/src/accounts/account-changes.ts'
import { importRecords } from '../../../server/src/import/import-records.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import { insertKeys } from '../api-keys.ts'
import type { Check, Context } from '../check.ts'
import { Client, headersFor } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { Service } from '../service.ts'
import { CitusCluster } from './cluster.ts'
import { distributed } from './on-citus.ts'

const accountCount = 30
const products = 300
const product = '/api/v1/inventory/product'

const workloads = ['warm list', 'cold list', 'record', 'create', '30 accounts at once'] as const
type Workload = (typeof workloads)[number]

/** CPU of the database, in ms for a request; for the last workload in ms for a request to each of 30 accounts at once. */
type Costs = Record<Workload, number>

/** The CPU that the database uses for a request, on Citus and on one server, with the same data and process. */
export const databaseCpu: Check = {
  name: 'database_cpu',
  bound: 'create ≤ 6 ×, 30 accounts ≤ 30 ms',
  async run(context) {
    const plain = await Service.start({ max_connections: '200' })
    const single = await measured(context, plain, [join(plain.postgres.folder, 'data')])
    const cluster = await CitusCluster.start()
    const service = await distributed(cluster).catch(async (error: unknown) => {
      await cluster.stop()
      throw error
    })
    const folders = [cluster.coordinator, ...cluster.workers].map(({ data }) => data)
    const citus = await measured(context, service, folders)
    const ratio = (name: Workload) => citus[name] / single[name]
    const at30 = citus['30 accounts at once']
    return {
      value: `create ${ratio('create').toFixed(1)} ×, ${at30.toFixed(1)} ms`,
      samples: Math.min(...workloads.flatMap((name) => [single[name], citus[name]])),
      ok: ratio('create') <= 6 && at30 <= 30,
      note: workloads
        .map(
          (name) =>
            `${name}: ${single[name].toFixed(3)} ms, on Citus ${citus[name].toFixed(3)} ms, ${ratio(name).toFixed(1)} ×`,
        )
        .join('\n'),
    }
  },
}

async function measured(context: Context, service: Service, folders: readonly string[]): Promise<Costs> {
  const client = new Client(64)
  try {
    const keys = await fill(service)
    const { port } = await service.serve()
    const send = async (n: number, path: string, body?: string) => {
      const name = `account-${n % accountCount}`
      const headers = headersFor(name, keys[n % accountCount] ?? '')
      const request =
        body === undefined
          ? { port, path, headers }
          : { port, path, method: 'POST', headers: [...headers, 'Content-Type', 'application/json'], body }
      const { status, text } = await client.sendUntilAccepted(request)
      if (status >= 300) throw new Error(`${status} ${text.slice(0, 300)}`)
    }
    const requests = context.size(6_000, 1_500)
    const perRequest = async (work: (n: number) => Promise<void>, count = requests) => {
      await inParallel(accountCount * 4, 16, work)
      return await cpuMs(folders, () => inParallel(count, 16, work), count)
    }
    return {
      'warm list': await perRequest((n) => send(n, `${product}?limit=20`)),
      'cold list': await perRequest((n) => send(n, `${product}?limit=20&filter=list_price>${n / 7}`)),
      record: await perRequest((n) => send(n, `${product}/${1 + (n % products)}`)),
      create: await perRequest((n) =>
        send(n, '/api/v1/resources/partner', JSON.stringify({ name: `n${n}` })),
      ),
      '30 accounts at once':
        accountCount *
        (await cpuMs(
          folders,
          async () => {
            for (let round = 0; round < requests / accountCount; round++)
              await inParallel(accountCount, accountCount, (n) => send(n, `${product}?limit=20`))
          },
          requests,
        )),
    }
  } finally {
    client.close()
    await service.stop()
  }
}

/** In this process: a command for each account would take minutes. */
async function fill({ postgres: { url } }: Service): Promise<string[]> {
  const names = Array.from({ length: accountCount }, (_, n) => `account-${n}`)
  const records = Array.from({ length: products }, (_, n) => ({ id: n + 1, name: `p ${n}`, list_price: n }))
  const actor = { kind: 'operator', id: 'verification', application: null, address: null } as const
  const keys = await withClient(url, async (client) => {
    const ids: string[] = []
    for (const name of names) ids.push((await createAccount(client, actor, name)).accountId)
    return await insertKeys(client, ids)
  })
  for (const account of names) await importRecords({ ownerUrl: url, account, resource: 'product', records })
  return keys
}

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** CPU of all processes of the servers during `work`, in ms for each of `count` requests. */
async function cpuMs(folders: readonly string[], work: () => Promise<void>, count: number): Promise<number> {
  const before = ticksOf(folders)
  await work()
  return ((ticksOf(folders) - before) / ticksPerSecond / count) * 1000
}

/** User and system time of the servers, of their processes, and of those that have ended. */
function ticksOf(folders: readonly string[]): number {
  const servers = new Set(
    folders.map((folder) => Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n', 1)[0])),
  )
  let ticks = 0
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const fields = statOf(name)
    const parent = Number(fields[1])
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15).map(Number)
    if (servers.has(Number(name))) ticks += user + system + endedUser + endedSystem
    else if (servers.has(parent)) ticks += user + system
  }
  return ticks
}

/** The fields after the name of the process: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function statOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
  } catch {
    return []
  }
}
