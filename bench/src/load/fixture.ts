import { readFileSync } from 'node:fs'
import { withClient } from '../../../server/src/postgres/client.ts'
import { TemporaryRedis } from '../../../server/test/redis.ts'
import { insertKeys } from '../../../verification/src/api-keys.ts'
import { type Context, type Stoppable, shared } from '../../../verification/src/check.ts'
import { fill } from '../../../verification/src/plans/data.ts'
import { type ServerProcess, Service } from '../../../verification/src/service.ts'

/** The host and key of an account. */
export interface Caller {
  readonly host: string
  readonly key: string
}

export const products = '/api/v1/inventory/product'

/** One large account, small ones of 100 products each, and Redis. Each benchmark starts its own servers. */
export interface Fixture extends Stoppable {
  readonly service: Service
  readonly redis: TemporaryRedis
  readonly records: number
  readonly large: Caller
  readonly small: readonly Caller[]
}

const smallAccounts = 500

export const loadFixture = shared(async (context: Context): Promise<Fixture> => {
  const records = context.size(1_000_000, 100_000)
  const service = await Service.start({
    shared_buffers: '512MB',
    max_wal_size: '4GB',
    max_connections: '200',
    autovacuum: 'off',
  })
  const redis = await TemporaryRedis.start()
  const stop = async () => {
    await redis.stop()
    await service.stop()
  }
  try {
    const [large, ...small] = await fillAccounts(service, records, smallAccounts + 1)
    if (large === undefined) throw new Error('no accounts were created')
    return { service, redis, records, large, small, stop }
  } catch (error) {
    await stop()
    throw error
  }
})

/** The first account has `records` products, every other one 100. Returns a key with all scopes for each. */
export async function fillAccounts(
  service: Service,
  records: number,
  accounts: number,
): Promise<readonly Caller[]> {
  return await withClient(service.postgres.url, async (client) => {
    await fill(client, 'varied', records, accounts)
    const { rows } = await client.query<{ account_id: string; name: string }>(
      'select account_id, name from account order by account_id',
    )
    const keys = await insertKeys(
      client,
      rows.map((row) => row.account_id),
    )
    await client.query('vacuum analyze account')
    await client.query('vacuum analyze api_key')
    await client.query('checkpoint')
    return rows.map(({ name }, i) => ({ host: `${name}.localhost`, key: keys[i] ?? '' }))
  })
}

/** Runs `work` with `count` server processes, and ends them afterwards. */
export async function withServers<T>(
  { service }: Fixture,
  count: number,
  environment: Record<string, string>,
  work: (servers: readonly ServerProcess[]) => Promise<T>,
): Promise<T> {
  const servers: ServerProcess[] = []
  try {
    for (let n = 0; n < count; n++) servers.push(await service.serve(environment))
    return await work(servers)
  } finally {
    await Promise.all(servers.map((server) => server.kill()))
  }
}

/** Resident memory of a process in MB. */
export function residentMb(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kb ?? 0) / 1024)
}

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`

/** Percent-encodes a filter, except the placeholder `{n}`. */
export const encoded = (filter: string): string => encodeURIComponent(filter).replaceAll('%7Bn%7D', '{n}')
