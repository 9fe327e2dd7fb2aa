import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { generateKey } from '../src/accounts/key-format.ts'
import { account } from './database.ts'
import { eventually } from './eventually.ts'
import { freshService } from './service.ts'

/**
 * The response time of a 401 reveals nothing about its cause: PostgreSQL runs the same statements for every cause.
 * Counted by pg_stat_statements, because times on a shared machine are noise.
 */

const products = '/api/v1/inventory/product'

const { client, service } = await freshService()
await client.query('create extension if not exists pg_stat_statements')
const acme = await account(client, 'acme')
const beta = await account(client, 'beta')
await account(client, 'never-requested')
// Both hosts and keys are cached before counting starts.
for (const each of [acme, beta]) expect((await service.request(each, 'GET', products)).status).toBe(200)

async function calls(): Promise<Map<string, number>> {
  const { rows } = await client.query<{ query: string; calls: string }>(
    `select s.query, sum(s.calls) as calls from pg_stat_statements s
     join pg_database d on d.oid = s.dbid join pg_roles r on r.oid = s.userid
     where d.datname = current_database() and r.rolname = 'quartermaster_server' group by 1`,
  )
  return new Map(rows.map((row) => [row.query, Number(row.calls)]))
}

const readsTable = /\b(?:from|join|update|into)\s+(?:account|api_key|tally|product)\b/

/** Background statements of the process, independent of requests. */
const background =
  /^(?:insert into|delete from) (?:request|usage)\b|^select account_id as id from account\b|last_used_on/

const nameOf = (query: string) =>
  query.includes('decode(q.hash') ? 'check' : /\baccount\b.*\bname = /s.test(query) ? 'account' : query

/** Which statements the serving role ran during `work`, and how often each. */
async function statementsOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await calls()
  await work()
  const counted = [...(await calls())]
    .filter(([query]) => readsTable.test(query) && !background.test(query))
    .map(([query, count]) => [nameOf(query), count - (before.get(query) ?? 0)] as const)
    .filter(([, count]) => count > 0)
  return Object.fromEntries(counted)
}

async function rejected(name: string, key: string): Promise<void> {
  const { status, body } = await service.request({ name, key }, 'GET', products)
  expect([status, body]).toMatchObject([401, { code: 'unauthenticated' }])
}

/** The lookup of the account by its name, and the verification of the key. */
const each = { account: 1, check: 1 }

it('a key that was accepted before is verified by one statement', async () => {
  const work = () => service.request(acme, 'GET', `${products}?page=7`)
  expect(await statementsOf(work)).toEqual({ check: 1 })
})

it.each([
  ['a wrong key on a cached host', 'acme'],
  ['a wrong key on an existing host that was never requested', 'never-requested'],
  ['a wrong key on a host that does not exist', 'nowhere'],
  ['a wrong key on a host that is not a valid account name', 'no_account'],
  ['a wrong key on a host named null', 'null'],
])('%s runs the same statements, every time', async (_, name) => {
  for (let i = 0; i < 5; i++) expect(await statementsOf(() => rejected(name, generateKey()))).toEqual(each)
})

it('so do a key of another account, a revoked key that was in use, and a key of a suspended account', async () => {
  const work = () => rejected('beta', acme.key)
  expect(await statementsOf(work)).toEqual(each)
  expect(await statementsOf(work)).toEqual(each)

  await client.query('update api_key set revoked_at = now() where account_id = $1', [acme.accountId])
  for (let i = 0; i < 3; i++) expect(await statementsOf(() => rejected('acme', acme.key))).toEqual(each)

  await client.query(`update account set status = 'suspended' where account_id = $1`, [beta.accountId])
  for (let i = 0; i < 3; i++) expect(await statementsOf(() => rejected('beta', beta.key))).toEqual(each)
  await client.query(`update account set status = 'active' where account_id = $1`, [beta.accountId])
  expect((await service.request(beta, 'GET', products)).status).toBe(200)
})

it('a key with a wrong checksum runs no statement', async () => {
  const key = generateKey()
  const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
  expect(await statementsOf(() => rejected('acme', mistyped))).toEqual({})
})

it('a new account is served immediately, even if its host was rejected before', async () => {
  await rejected('tomorrow', generateKey())
  const tomorrow = await account(client, 'tomorrow')
  expect((await service.request(tomorrow, 'GET', products)).status).toBe(200)
})

it('concurrent requests share lookups', async () => {
  const head = (n: number) =>
    `GET ${products} HTTP/1.1\r\nHost: together-${n}.localhost\r\nAuthorization: Bearer ${generateKey()}\r\n\r\n`
  const counted = await statementsOf(async () => {
    const socket = connect(service.port, '127.0.0.1')
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    socket.write(Array.from({ length: 20 }, (_, n) => head(n)).join(''))
    await eventually(() => text.split('HTTP/1.1 401').length === 21)
    socket.destroy()
  })
  expect(counted['account']).toBeLessThan(20)
})
