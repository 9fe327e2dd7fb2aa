import { readFileSync } from 'node:fs'
import { generateKey, hashOfKey, newKeyId, scopes } from '../../../server/src/accounts/key-format.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import { ThrowawayRedis } from '../../../server/test/redis.ts'
import { type Context, type Stoppable, shared } from '../../../verification/src/check.ts'
import { fill } from '../../../verification/src/plans/data.ts'
import { type ServerProcess, Service } from '../../../verification/src/service.ts'

/** An account as a client knows it. */
export interface Caller {
  readonly host: string
  readonly key: string
}

export const products = '/api/v1/inventory/product'

/** One account of many records among small ones of 100 each; and a Redis. Servers are each benchmark's own. */
export interface Fixture extends Stoppable {
  readonly service: Service
  readonly redis: ThrowawayRedis
  readonly records: number
  readonly large: Caller
  readonly small: readonly Caller[]
}

const smallAccounts = 500

export const standOf = shared(async (context: Context): Promise<Fixture> => {
  const records = context.size(1_000_000, 100_000)
  const service = await Service.start({
    shared_buffers: '512MB',
    max_wal_size: '4GB',
    max_connections: '200',
    autovacuum: 'off',
  })
  const redis = await ThrowawayRedis.start()
  const stop = async () => {
    await redis.stop()
    await service.stop()
  }
  try {
    const [large, ...small] = await fillAccounts(service, records, smallAccounts + 1)
    if (large === undefined) throw new Error('no accounts were made')
    return { service, redis, records, large, small, stop }
  } catch (error) {
    await stop()
    throw error
  }
})

/** The first account has so many products, every other 100. A key of each, which may do everything. */
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
    const keys = rows.map(() => generateKey())
    await client.query(
      `insert into api_key (account_id, key_id, hash, name, scopes)
       select account_id, key_id, decode(hash, 'hex'), 'benchmarks', $4::text[]
       from unnest($1::bigint[], $2::text[], $3::text[]) k(account_id, key_id, hash)`,
      [rows.map((row) => row.account_id), rows.map(() => newKeyId()), keys.map(hashOfKey), [...scopes]],
    )
    await client.query('vacuum analyze account')
    await client.query('vacuum analyze api_key')
    await client.query('checkpoint')
    return rows.map(({ name }, i) => ({ host: `${name}.localhost`, key: keys[i] ?? '' }))
  })
}

/** Servers for the time of some work. */
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

/** What the process holds now, in MB. */
export function residentMb(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Math.round(Number(kb ?? 0) / 1024)
}

export const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`

/** For a path; `{n}` stays. */
export const encoded = (filter: string): string => encodeURIComponent(filter).replaceAll('%7Bn%7D', '{n}')
