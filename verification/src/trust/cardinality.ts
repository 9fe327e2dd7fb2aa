import { generateKey } from '../../../server/src/accounts/key-format.ts'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import { insertKeys } from '../api-keys.ts'
import type { Check, Context } from '../check.ts'
import { Client, headersFor } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { Service } from '../service.ts'

const first = 100
const products = '/api/v1/inventory/product'
const partners = '/api/v1/resources/partner'

interface Account {
  readonly name: string
  readonly key: string
}

/** Every account sends the same requests with its own name in them. The number of metric series must not grow with accounts. */
export const cardinality: Check = {
  name: 'cardinality',
  bound: `same series as ${first} accounts`,
  async run(context) {
    const count = context.size(10_000, 200)
    const service = await Service.start()
    const client = new Client(32)
    try {
      const accounts = await addAccounts(service.postgres.url, count)
      const adminPort = await freePort()
      const { port } = await service.serve({ QUARTERMASTER_ADMIN_PORT: String(adminPort) })
      await requestAll(context, client, port, accounts.slice(0, first))
      const before = await scrape(client, adminPort)
      await requestAll(context, client, port, accounts.slice(first))
      const after = await scrape(client, adminPort)
      const named = accounts.filter(({ name, key }) => after.text.includes(name) || after.text.includes(key))
      return {
        value: `${after.series} after ${count} accounts (${before.series})`,
        samples: after.series,
        ok: after.series === before.series && after.series > 100 && named.length === 0,
        note: `${(after.text.length / 1024).toFixed(0)} KB on /metrics; ${named.length} accounts or keys in it`,
      }
    } finally {
      client.close()
      await service.stop()
    }
  },
}

async function requestAll(
  context: Context,
  client: Client,
  port: number,
  accounts: readonly Account[],
): Promise<void> {
  const progress = context.progress('accounts', accounts.length)
  await inParallel(accounts.length, 16, async (i) => {
    const account = accounts[i]
    if (account !== undefined) await requestEverything(client, port, account)
    progress.step()
  })
  progress.end()
}

/** Several routes, methods and statuses, with the account's name in paths, filters and bodies. */
async function requestEverything(client: Client, port: number, { name, key }: Account): Promise<void> {
  const requests: [number, string, string, string, string?][] = [
    [200, 'GET', `${products}?filter=name*${name}`, key],
    [200, 'GET', `${products}?filter=name*${name}`, key],
    [400, 'GET', `${products}?filter=${name}=1`, key],
    [404, 'GET', `${products}/${name}`, key],
    [404, 'GET', `/${name}`, key],
    [405, 'PUT', `${products}/1`, key],
    [404, 'PURGE', `/${name}`, key],
    [401, 'GET', products, generateKey()],
    [201, 'POST', partners, key, JSON.stringify({ name })],
  ]
  for (const [status, method, path, bearer, body] of requests) {
    const headers = headersFor(name, bearer)
    if (body !== undefined) headers.push('Content-Type', 'application/json')
    const response = await client.sendUntilAccepted({
      port,
      method,
      path,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    if (response.status !== status)
      throw new Error(`${method} ${path}: ${response.status}, not ${status}: ${response.text}`)
  }
}

async function addAccounts(url: string, count: number): Promise<Account[]> {
  return withClient(url, async (client) => {
    await client.query(
      `insert into account (name) select 'zz-account-' || n from generate_series(0, $1::int - 1) n`,
      [count],
    )
    await client.query(
      `insert into tally (account_id, resource)
       select account_id, r from account, unnest(array['product', 'partner', 'company']) r`,
    )
    const { rows } = await client.query<{ account_id: string; name: string }>(
      'select account_id, name from account order by account_id',
    )
    const keys = await insertKeys(
      client,
      rows.map((row) => row.account_id),
    )
    await client.query('analyze')
    return rows.map(({ name }, i) => ({ name, key: keys[i] ?? '' }))
  })
}

async function scrape(client: Client, port: number): Promise<{ text: string; series: number }> {
  const { status, text } = await client.send({ port, path: '/metrics', headers: ['Host', 'localhost'] })
  if (status !== 200) throw new Error(`/metrics: ${status}`)
  return { text, series: text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length }
}
