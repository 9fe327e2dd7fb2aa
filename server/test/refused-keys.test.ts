import { connect } from 'node:net'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { generateKey } from '../src/accounts/key-format.ts'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { startTestService, type TestService } from './service.ts'

/**
 * Whoever sends a key that is not accepted learns nothing from the time of the refusal: PostgreSQL runs the same
 * statements for every cause. Counted by PostgreSQL, because times on a shared machine show nothing.
 */

const products = '/api/v1/inventory/product'
let client: pg.Client
let service: TestService
let acme: TestAccount
let beta: TestAccount

beforeAll(async () => {
  const url = await freshDatabase()
  client = await connected(url)
  await client.query('create extension if not exists pg_stat_statements')
  acme = await account(client, 'acme')
  beta = await account(client, 'beta')
  await account(client, 'never-asked')
  service = await startTestService(url)
  // Both hosts and keys are known to the process before anything is counted.
  for (const each of [acme, beta]) expect((await service.request(each, 'GET', products)).status).toBe(200)
})

afterAll(async () => {
  await service.close()
  await client.end()
})

async function calls(): Promise<Map<string, number>> {
  const { rows } = await client.query<{ query: string; calls: string }>(
    `select s.query, sum(s.calls) as calls from pg_stat_statements s
     join pg_database d on d.oid = s.dbid join pg_roles r on r.oid = s.userid
     where d.datname = current_database() and r.rolname = 'quartermaster_server' group by 1`,
  )
  return new Map(rows.map((row) => [row.query, Number(row.calls)]))
}

const readsTable = /\b(?:from|join|update|into)\s+(?:account|api_key|tally|product)\b/

/** The process does these at its own times, whoever asks. */
const ofItself =
  /^(?:insert into|delete from) (?:request|usage)\b|^select account_id as id from account\b|last_used_on/

const nameOf = (query: string) =>
  query.includes('decode(q.hash') ? 'check' : /\baccount\b.*\bname = /s.test(query) ? 'account' : query

/** Which statements the serving role ran meanwhile, and how often each. */
async function statementsOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await calls()
  await work()
  const counted = [...(await calls())]
    .filter(([query]) => readsTable.test(query) && !ofItself.test(query))
    .map(([query, count]) => [nameOf(query), count - (before.get(query) ?? 0)] as const)
    .filter(([, count]) => count > 0)
  return Object.fromEntries(counted)
}

async function refused(name: string, key: string): Promise<void> {
  const { status, body } = await service.request({ name, key }, 'GET', products)
  expect([status, body]).toMatchObject([401, { code: 'unauthenticated' }])
}

/** The lookup of the account by its name, and the check. */
const each = { account: 1, check: 1 }

it('a key that is accepted again costs one statement for its check', async () => {
  const work = () => service.request(acme, 'GET', `${products}?page=7`)
  expect(await statementsOf(work)).toEqual({ check: 1 })
})

it.each([
  ['a wrong key on a host that is known', 'acme'],
  ['a wrong key on a host that exists and was never asked for', 'never-asked'],
  ['a wrong key on a host that does not exist', 'nowhere'],
  ['a wrong key on a host that cannot be an account', 'no_account'],
  ['a wrong key on a host named as SQL writes no value', 'null'],
])('%s costs the same statements, every time', async (_, name) => {
  for (let i = 0; i < 5; i++) expect(await statementsOf(() => refused(name, generateKey()))).toEqual(each)
})

it('so does a key of another account, a revoked one that was in use, and one of a suspended account', async () => {
  const work = () => refused('beta', acme.key)
  expect(await statementsOf(work)).toEqual(each)
  expect(await statementsOf(work)).toEqual(each)

  await client.query('update api_key set revoked_at = now() where account_id = $1', [acme.accountId])
  for (let i = 0; i < 3; i++) expect(await statementsOf(() => refused('acme', acme.key))).toEqual(each)

  await client.query(`update account set status = 'suspended' where account_id = $1`, [beta.accountId])
  for (let i = 0; i < 3; i++) expect(await statementsOf(() => refused('beta', beta.key))).toEqual(each)
  await client.query(`update account set status = 'active' where account_id = $1`, [beta.accountId])
  expect((await service.request(beta, 'GET', products)).status).toBe(200)
})

it('an account made a moment ago is served, though its host was refused before', async () => {
  await refused('tomorrow', generateKey())
  const tomorrow = await account(client, 'tomorrow')
  expect((await service.request(tomorrow, 'GET', products)).status).toBe(200)
})

it('requests that arrive together are looked up together', async () => {
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
