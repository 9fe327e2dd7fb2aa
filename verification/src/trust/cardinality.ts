import { generateKey, hashOfKey, newKeyId, scopes } from '../../../server/src/accounts/key-format.ts'
import { freePort } from '../../../server/src/cli/database/throwaway-postgres.ts'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Check, Context } from '../check.ts'
import { Client } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { Service } from '../service.ts'

const first = 100
const products = '/api/v1/inventory/product'
const partners = '/api/v1/resources/partner'

interface Account {
  readonly name: string
  readonly key: string
}

/** Every account asks the same things in its own words; there are as many series after all of them as after the first. */
export const cardinality: Check = {
  name: 'cardinality',
  bound: `same series as ${first} accounts`,
  async run(context) {
    const count = context.size(10_000, 400)
    const service = await Service.start()
    const client = new Client(32)
    try {
      const accounts = await addAccounts(service.postgres.url, count)
      const adminPort = await freePort()
      const { port } = await service.serve({ ADMIN_PORT: String(adminPort) })
      await askAll(context, client, port, accounts.slice(0, first))
      const before = await scrape(client, adminPort)
      await askAll(context, client, port, accounts.slice(first))
      const after = await scrape(client, adminPort)
      const named = accounts.filter(({ name, key }) => after.text.includes(name) || after.text.includes(key))
      return {
        value: `${after.series} after ${count} accounts (${before.series})`,
        ok: after.series === before.series && after.series > 100 && named.length === 0,
        note: `${(after.text.length / 1024).toFixed(0)} KB on /metrics; ${named.length} accounts or keys in it`,
      }
    } finally {
      client.close()
      await service.stop()
    }
  },
}

async function askAll(
  context: Context,
  client: Client,
  port: number,
  accounts: readonly Account[],
): Promise<void> {
  const progress = context.progress('accounts', accounts.length)
  await inParallel(accounts.length, 16, async (i) => {
    const account = accounts[i]
    if (account !== undefined) await askEverything(client, port, account)
    progress.step()
  })
  progress.end()
}

/** Several routes, methods and statuses, each with the account's own name in it. */
async function askEverything(client: Client, port: number, { name, key }: Account): Promise<void> {
  const asked: [number, string, string, string, string?][] = [
    [200, 'GET', `${products}?filter=name*${name}`, key],
    [200, 'GET', `${products}?filter=name*${name}`, key],
    [400, 'GET', `${products}?filter=${name}=1`, key],
    [404, 'GET', `${products}/${name}`, key],
    [404, 'GET', `/${name}`, key],
    [405, 'DELETE', `${products}/1`, key],
    [404, 'PURGE', `/${name}`, key],
    [401, 'GET', products, generateKey()],
    [201, 'POST', partners, key, JSON.stringify({ name })],
  ]
  for (const [status, method, path, bearer, body] of asked) {
    const headers = ['Host', `${name}.localhost`, 'Authorization', `Bearer ${bearer}`]
    if (body !== undefined) headers.push('Content-Type', 'application/json')
    const answer = await client.ask({ port, method, path, headers, ...(body === undefined ? {} : { body }) })
    if (answer.status !== status)
      throw new Error(`${method} ${path}: ${answer.status}, not ${status}: ${answer.text}`)
  }
}

async function addAccounts(url: string, count: number): Promise<Account[]> {
  const accounts = Array.from({ length: count }, (_, i) => ({ name: `zz-account-${i}`, key: generateKey() }))
  await withClient(url, async (client) => {
    await client.query(`insert into account (name) select unnest($1::text[])`, [
      accounts.map(({ name }) => name),
    ])
    await client.query(
      `insert into tally (account_id, resource)
       select account_id, r from account, unnest(array['product', 'partner', 'company']) r`,
    )
    await client.query(
      `insert into api_key (account_id, key_id, hash, name, scopes)
       select a.account_id, k.key_id, decode(k.hash, 'hex'), 'verification', $4::text[]
       from unnest($1::text[], $2::text[], $3::text[]) k(name, key_id, hash) join account a using (name)`,
      [
        accounts.map(({ name }) => name),
        accounts.map(() => newKeyId()),
        accounts.map(({ key }) => hashOfKey(key)),
        [...scopes],
      ],
    )
    await client.query('analyze')
  })
  return accounts
}

async function scrape(client: Client, port: number): Promise<{ text: string; series: number }> {
  const { status, text } = await client.ask({ port, path: '/metrics', headers: ['Host', 'localhost'] })
  if (status !== 200) throw new Error(`/metrics: ${status}`)
  return { text, series: text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length }
}
