import { type ClientRequest, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { limits } from '../src/limits.ts'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { eventually, waitingForLocks } from './eventually.ts'
import { startTestService, type TestService } from './service.ts'

/** What an account may have under way at once, and what becomes of a read whose client hangs up. */

let url: string
let client: pg.Client
let service: TestService
let busy: TestAccount
let calm: TestAccount
const products = '/api/v1/inventory/product'

beforeAll(async () => {
  url = await freshDatabase()
  client = await connected(url)
  busy = await account(client, 'busy')
  calm = await account(client, 'calm')
  await client.query(
    `insert into product select $1, g, 1, repeat('x', 500) || g, null, 0, 0, true, null, null, null, now(), now()
     from generate_series(1, 20000) g`,
    [busy.accountId],
  )
  await client.query(
    `update tally set version = 1, total = 20000, last_id = 20000 where account_id = $1 and resource = 'product'`,
    [busy.accountId],
  )
  service = await startTestService(url, {
    QUARTERMASTER_ACCOUNT_READS_MAX: '2',
    QUARTERMASTER_READ_MS_MAX: '20000',
  })
})

afterAll(async () => {
  await service.close()
  await client.end()
})

/** Some seconds of work; a list of its own for each number. */
const slow = (n: number) => {
  const conditions = Array.from({ length: 150 }, (_, i) => `name!*q${n}z${i}`).join('&')
  return `${products}?fields=id&filter=${encodeURIComponent(conditions)}`
}

function open(from: TestAccount, path: string): ClientRequest {
  const asking = request({
    host: '127.0.0.1',
    port: service.port,
    path,
    agent: false,
    headers: { 'x-forwarded-host': `${from.name}.localhost`, authorization: `Bearer ${from.key}` },
  })
  asking.on('error', () => {})
  asking.end()
  return asking
}

const statusOf = (asking: ClientRequest) =>
  new Promise<number | 'gone'>((resolve) => {
    asking.once('close', () => resolve('gone'))
    asking.once('response', (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
  })

async function runningReads(): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and query like '%few%'
     order by pid`,
  )
  return rows.map(({ pid }) => pid)
}

it('runs so many long reads of an account at once, lets some wait, refuses more; others do not notice', async () => {
  const all = Array.from({ length: limits.accountReadsWaitingMax + 4 }, (_, n) => open(busy, slow(n)))
  const statuses = all.map(statusOf)
  let refused = 0
  for (const status of statuses) void status.then((code) => (refused += code === 429 ? 1 : 0))
  await eventually(async () => refused === 2)
  await eventually(async () => (await runningReads()).length === 2)

  const told = await service.request(busy, 'GET', slow(1000))
  expect([told.status, told.headers.get('retry-after'), told.body]).toMatchObject([
    429,
    '1',
    { code: 'account_busy', detail: expect.stringMatching(/^This account has 2 long queries running/) },
  ])
  // What is quick needs no turn, and another account has turns of its own.
  expect((await service.request(busy, 'GET', products)).status).toBe(200)
  expect((await service.request(busy, 'GET', `${products}/1`)).status).toBe(200)
  expect((await service.request(calm, 'GET', `${products}?filter=name*x`)).status).toBe(200)

  for (const asking of all) asking.destroy()
  await eventually(async () => (await runningReads()).length === 0)
  expect((await service.request(busy, 'GET', `${products}?filter=id=7`)).status).toBe(200)
  const answered = (await Promise.all(statuses)).filter((status) => status !== 'gone')
  expect(answered).toEqual([429, 429])
})

it('far pages need a turn, too; those beyond the last are known to be empty', async () => {
  const held = [open(busy, slow(2000)), open(busy, slow(2001))]
  await eventually(async () => (await runningReads()).length === 2)
  const far = open(busy, `${products}?page=19000&limit=1`)
  const answered = statusOf(far)
  expect(await Promise.race([answered, sleep(300, 'waits')])).toBe('waits')
  expect(await service.request(busy, 'GET', `${products}?page=1000000000&limit=1000`)).toMatchObject({
    status: 200,
    body: { data: [], meta: { count: 0, total: 20_000 } },
  })
  for (const asking of held) asking.destroy()
  expect(await answered).toBe(200)
})

it('a read that is shared goes on for those who stay, and its connection is used again', async () => {
  const path = slow(3000)
  const [first, second] = [open(busy, path), open(busy, path)]
  await eventually(async () => (await runningReads()).length === 1)
  const [pid] = await runningReads()
  first.destroy()
  await sleep(200)
  expect(await runningReads()).toEqual([pid])
  second.destroy()
  await eventually(async () => (await runningReads()).length === 0)
  const { rows } = await client.query('select state from pg_stat_activity where pid = $1', [pid])
  expect(rows).toEqual([{ state: 'idle' }])
  expect(service.events.filter(({ kind }) => kind === 'request-failed')).toEqual([])
})

it('a write goes on when its client hangs up', async () => {
  const other = await connected(url)
  await other.query('begin')
  await other.query(`select from tally where account_id = $1 and resource = 'partner' for update`, [
    calm.accountId,
  ])
  const asking = request({
    host: '127.0.0.1',
    port: service.port,
    path: '/api/v1/resources/partner',
    method: 'POST',
    agent: false,
    headers: {
      'x-forwarded-host': 'calm.localhost',
      authorization: `Bearer ${calm.key}`,
      'content-type': 'application/json',
    },
  })
  asking.on('error', () => {})
  asking.end('{"name":"Kept"}')
  const waiting = async () => (await waitingForLocks(client)).length === 1
  await eventually(waiting)
  asking.destroy()
  await sleep(200)
  expect(await waiting()).toBe(true)
  await other.query('commit')
  await other.end()
  await eventually(async () => {
    const { rows } = await client.query('select name from partner where account_id = $1', [calm.accountId])
    return rows.length === 1 && rows[0].name === 'Kept'
  })
})
