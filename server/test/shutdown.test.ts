import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bin, environmentWith } from './command.ts'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { eventually, waitingForLocks } from './eventually.ts'
import { sampleOf, scrape } from './exposition.ts'

/** What a process that is shut down with SIGTERM says of the requests that it does not finish. */

let url: string
let client: pg.Client
/** Holds the lock that keeps a read under way. */
let holder: pg.Client
let acme: TestAccount
let child: ChildProcess
let said = ''
const products = '/api/v1/inventory/product'
const records = 60_000

beforeAll(async () => {
  url = await freshDatabase()
  client = await connected(url)
  holder = await connected(url)
  acme = await account(client, 'acme')
  await client.query(
    `insert into product select $1, g, 1, repeat('x', 400) || g, null, 0, 0, true, null, null, null, now(), now()
     from generate_series(1, $2::int) g`,
    [acme.accountId, records],
  )
  await client.query(
    `update tally set version = 1, total = $2, last_id = $2 where account_id = $1 and resource = 'product'`,
    [acme.accountId, records],
  )
  child = spawn(process.execPath, [bin, 'serve', '--port', '0'], {
    env: environmentWith({
      DATABASE_URL: url,
      ADMIN_PORT: '0',
      SHUTDOWN_DELAY_MS: '0',
      READ_MS_MAX: '60000',
    }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await eventually(() => lines('listening').length === 1)
})

afterAll(async () => {
  child.kill('SIGKILL')
  await Promise.all([client.end(), holder.end()])
})

type Line = Record<string, unknown>

/** Lines of the operator's log by their event; what is not complete yet is left out. */
function lines(event: string): Line[] {
  return said
    .split('\n')
    .slice(0, -1)
    .map((line): Line => JSON.parse(line))
    .filter(({ msg }) => msg === event)
}

function open(path: string, requestId: string, accept = 'application/json'): ClientRequest {
  const asking = request({
    port: Number(lines('listening')[0]?.['port']),
    path,
    agent: false,
    headers: {
      host: 'acme.localhost',
      authorization: `Bearer ${acme.key}`,
      accept,
      'x-request-id': requestId,
    },
  })
  asking.on('error', () => {})
  asking.end()
  return asking
}

it('reports what it cuts as cut by its shutdown, and not as clients that hung up', async () => {
  const adminPort = Number(lines('listening')[0]?.['adminPort'])
  const { samples } = await scrape(adminPort)

  // An export whose reader has stopped reading, and two reads that wait for a lock, each on a connection of its own.
  const exporting = open(products, 'export', 'application/x-ndjson')
  const answer = await new Promise<IncomingMessage>((resolve) => exporting.once('response', resolve))
  answer.pause()
  const cut = new Promise<NodeJS.ErrnoException>((resolve) => answer.once('error', resolve))
  await holder.query('begin; lock table company in access exclusive mode')
  const list = open('/api/v1/resources/company?filter=name*y', 'list')
  const left = open('/api/v1/resources/company?filter=name*x', 'left')
  await eventually(async () => (await waitingForLocks(client)).length === 2)

  // When its stderr is read to the end, too.
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  await eventually(() => lines('stopping').length === 1)
  left.destroy()
  await eventually(() => lines('request-completed').some(({ requestId }) => requestId === 'left'))
  const listEnded = new Promise((resolve) => list.once('close', resolve))
  await listEnded
  await holder.query('rollback')
  expect(await ended).toEqual([0, null])
  answer.resume()
  expect((await cut).code).toBe('ECONNRESET')

  const told = (id: string) =>
    lines('request-completed').flatMap(({ requestId, status, code }) =>
      requestId === id ? [[status, code]] : [],
    )
  expect(told('left')).toEqual([[499, 'client_disconnected']])
  expect(told('export')).toEqual([[503, 'shutting_down']])
  expect(told('list')).toEqual([[503, 'shutting_down']])
  expect(sampleOf(samples, 'quartermaster_refusals_total', { code: 'shutting_down' })).toBe(0)
  expect(lines('stopped')).toHaveLength(1)
  expect(lines('export-truncated')).toMatchObject([{ requestId: 'export', code: 'shutting_down' }])

  const { rows } = await client.query(
    'select request_id, status, error_code, error_detail from request where account_id = $1 order by request_id',
    [acme.accountId],
  )
  expect(rows).toEqual([
    {
      request_id: 'export',
      status: 503,
      error_code: 'shutting_down',
      error_detail: 'The service shut down before the export was finished. Ask for it again.',
    },
    { request_id: 'left', status: 499, error_code: 'client_disconnected', error_detail: expect.any(String) },
    {
      request_id: 'list',
      status: 503,
      error_code: 'shutting_down',
      error_detail: 'The service shut down before it had answered.',
    },
  ])
})
