import { writeFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { scopes } from '../../../server/src/accounts/key-format.ts'
import { resources } from '../../../server/src/catalog/resources.ts'
import { cloneDatabase } from '../../../server/src/cli/database/temporary-postgres.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import { insertKeys } from '../../../verification/src/api-keys.ts'
import { type Context, type Stoppable, shared } from '../../../verification/src/check.ts'
import { fill, largeAccount } from '../../../verification/src/plans/data.ts'
import { Random } from '../../../verification/src/random.ts'
import { Service } from '../../../verification/src/service.ts'
import { Server } from '../server.ts'

/** An account with a key that may read and create. */
export interface Account {
  readonly id: string
  readonly host: string
  readonly key: string
}

/** A database with one large account and small ones of 100 products each, and one server process. */
export interface Fixture extends Stoppable {
  readonly url: string
  readonly server: Server
  readonly large: Account
  readonly small: readonly Account[]
  /** Files that wrk reads. */
  readonly files: { readonly large: string; readonly small: string; readonly orders: string }
  readonly folder: string
}

export const smallRecords = 100
/** Matches half of the products, whose prices are evenly distributed from 0 to 999.99. */
export const half = { filter: 'list_price<500', condition: 'list_price < 500' }
export const fieldNames = resources.product.fields.map((field) => field.name)

/** Different orders of the fields make a request new without changing its work. */
const ordersCount = 64

/** Durable, and with a quarter of the memory, as PostgreSQL's manual recommends. */
const settings = {
  fsync: 'on',
  synchronous_commit: 'on',
  shared_buffers: `${Math.floor(totalmem() / 4 / 2 ** 20)}MB`,
  max_wal_size: '8GB',
  maintenance_work_mem: '1GB',
  checkpoint_timeout: '1h',
}

const cluster = shared(async () => {
  const service = await Service.start(settings)
  // It would change the measurements; the data are vacuumed after loading. Not on the command line, so that a benchmark can change it.
  await withClient(service.postgres.url, (client) => configure(client, { autovacuum: 'off' }))
  return service
})

/** Settings of the whole server, until they are set again. */
export async function configure(client: pg.Client, changed: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(changed))
    await client.query(`alter system set ${name} = '${value}'`)
  await client.query('select pg_reload_conf()')
}

export function sharedFixture(
  name: string,
  size: (context: Context) => { records: number; accounts: number },
): (context: Context & { readonly profile?: boolean }) => Promise<Fixture> {
  return shared(async (context: Context & { readonly profile?: boolean }) => {
    const { postgres, folder } = await cluster(context)
    const { records, accounts } = size(context)
    const started = performance.now()
    const url = await cloneDatabase(postgres.url, name, 'postgres')
    const keys = await load(url, records, accounts)
    context.log(
      `${name}: one account of ${records} products, ${accounts} of ${smallRecords}, loaded in ${Math.round((performance.now() - started) / 1000)} s`,
    )
    const [large, ...small] = keys
    if (large === undefined) throw new Error('no accounts were created')
    const files = filesIn(folder, name, large, small, new Random(context.seed))
    const server = await Server.start(url, folder, context.profile ?? false)
    return { url, server, large, small, files, folder, stop: () => server.stop() }
  })
}

async function load(url: string, records: number, accounts: number): Promise<Account[]> {
  return withClient(url, async (client) => {
    await fill(client, 'varied', records, accounts + 1)
    const { rows } = await client.query<{ account_id: string; name: string }>(
      'select account_id, name from account order by account_id = $1 desc, account_id',
      [largeAccount],
    )
    const ids = rows.map((row) => row.account_id)
    const keys = await insertKeys(
      client,
      ids,
      scopes.filter((scope) => scope !== 'account:manage'),
    )
    await client.query('vacuum analyze account')
    await client.query('vacuum analyze api_key')
    await client.query('checkpoint')
    return rows.map((row, i) => ({
      id: row.account_id,
      host: `${row.name}.localhost`,
      key: keys[i] ?? '',
    }))
  })
}

function filesIn(
  folder: string,
  name: string,
  large: Account,
  small: readonly Account[],
  random: Random,
): Fixture['files'] {
  const files = {
    large: join(folder, `${name}-large.txt`),
    small: join(folder, `${name}-small.txt`),
    orders: join(folder, `${name}-orders.txt`),
  }
  writeFileSync(files.large, accountLines([large]))
  writeFileSync(files.small, accountLines(shuffled(small, random)))
  const orders = Array.from({ length: ordersCount }, () => `${shuffled(fieldNames, random).join(',')}\n`)
  writeFileSync(files.orders, orders.join(''))
  return files
}

export function accountLines(accounts: readonly (Account & { readonly etag?: string })[]): string {
  return accounts
    .map(({ host, key, etag }) => `${host} ${key}${etag === undefined ? '' : ` ${etag}`}\n`)
    .join('')
}

function shuffled<T>(from: readonly T[], random: Random): T[] {
  return from
    .map((one) => ({ one, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one)
}
