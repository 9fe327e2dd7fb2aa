import { type ClientRequest, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { limits } from '../src/limits/limits.ts'
import { account, connected, insertProducts, type TestAccount } from './database.ts'
import { eventually, waitingForLocks } from './eventually.ts'
import { freshService } from './service.ts'
import { slowList } from './slow-list.ts'

/** The concurrency limit of an account, and the reads and writes of clients that disconnect. */

const products = '/api/v1/inventory/product'

// Long enough that no read times out, neither queued nor running.
const { url, client, service } = await freshService(
  { QUARTERMASTER_ACCOUNT_READS_MAX: '2', QUARTERMASTER_READ_MS_MAX: '600000' },
  { readWaitMsMax: 600_000 },
)
const busy = await account(client, 'busy')
const calm = await account(client, 'calm')
await insertProducts(client, busy, 20_000, 'x'.repeat(500))

function open(from: TestAccount, path: string): ClientRequest {
  const clientRequest = request({
    host: '127.0.0.1',
    port: service.port,
    path,
    agent: false,
    headers: { 'x-forwarded-host': `${from.name}.localhost`, authorization: `Bearer ${from.key}` },
  })
  clientRequest.on('error', () => {})
  clientRequest.end()
  return clientRequest
}

const statusOf = (clientRequest: ClientRequest) =>
  new Promise<number | 'closed'>((resolve) => {
    clientRequest.once('close', () => resolve('closed'))
    clientRequest.once('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
  })

async function runningReads(): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and state = 'active' and query like '%with matches as%'
     order by pid`,
  )
  return rows.map(({ pid }) => pid)
}

it('runs QUARTERMASTER_ACCOUNT_READS_MAX long reads of an account, queues accountReadsWaitingMax more and rejects the rest; other accounts are unaffected', async () => {
  const all = Array.from({ length: limits.accountReadsWaitingMax + 4 }, (_, n) => open(busy, slowList(n)))
  const statuses = all.map(statusOf)
  let rejected = 0
  for (const status of statuses) void status.then((code) => (rejected += code === 429 ? 1 : 0))
  await eventually(async () => rejected === 2)
  await eventually(async () => (await runningReads()).length === 2)

  const rejection = await service.request(busy, 'GET', slowList(1000))
  expect([rejection.status, rejection.headers.get('retry-after'), rejection.body]).toMatchObject([
    429,
    '1',
    { code: 'account_busy', detail: expect.stringMatching(/^This account has 2 long queries running/) },
  ])
  // Pipelined reads need no slot, and another account has its own slots.
  expect((await service.request(busy, 'GET', products)).status).toBe(200)
  expect((await service.request(busy, 'GET', `${products}/1`)).status).toBe(200)
  expect((await service.request(calm, 'GET', `${products}?filter=name*x`)).status).toBe(200)

  for (const clientRequest of all) clientRequest.destroy()
  await eventually(async () => (await runningReads()).length === 0)
  expect((await service.request(busy, 'GET', `${products}?filter=id=7`)).status).toBe(200)
  const completed = (await Promise.all(statuses)).filter((status) => status !== 'closed')
  expect(completed).toEqual([429, 429])
})

it('distant pages need a slot, too; pages after the last are empty without a read', async () => {
  const running = [open(busy, slowList(2000)), open(busy, slowList(2001))]
  await eventually(async () => (await runningReads()).length === 2)
  const far = open(busy, `${products}?page=19000&limit=1`)
  const completed = statusOf(far)
  expect(await Promise.race([completed, sleep(300, 'waits')])).toBe('waits')
  expect(await service.request(busy, 'GET', `${products}?page=1000000000&limit=1000`)).toMatchObject({
    status: 200,
    body: { data: [], meta: { count: 0, total: 20_000 } },
  })
  for (const clientRequest of running) clientRequest.destroy()
  expect(await completed).toBe(200)
})

it('a shared read continues while one client remains, then is cancelled and its connection reused', async () => {
  // The reads of the test before may still be about to end.
  await eventually(async () => (await runningReads()).length === 0)
  const path = slowList(3000)
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

it('a write continues when its client disconnects', async () => {
  const other = await connected(url)
  await other.query('begin')
  await other.query(`select from tally where account_id = $1 and resource = 'partner' for update`, [
    calm.accountId,
  ])
  const clientRequest = request({
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
  clientRequest.on('error', () => {})
  clientRequest.end('{"name":"Stored"}')
  const waiting = async () => (await waitingForLocks(client)).length === 1
  await eventually(waiting)
  clientRequest.destroy()
  await sleep(200)
  expect(await waiting()).toBe(true)
  await other.query('commit')
  await other.end()
  await eventually(async () => {
    const { rows } = await client.query('select name from partner where account_id = $1', [calm.accountId])
    return rows.length === 1 && rows[0].name === 'Stored'
  })
})
