import { once } from 'node:events'
import { Agent, type ClientRequest, get, type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { account, connected, freshDatabase, insertProducts, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { startTestService, type TestService } from './service.ts'

/** What one account does at full force must not reach another one. */

const products = '/api/v1/inventory/product'
const url = await freshDatabase()
const client = await connected(url)
const busy = await account(client, 'busy')
const calm = await account(client, 'calm')
await insertProducts(client, busy, 50)
await insertProducts(client, calm, 5)

type Service = Parameters<typeof startTestService>

async function start(environment: Service[1], limits: Service[2]): Promise<TestService> {
  const service = await startTestService(url, environment, limits)
  onTestFinished(() => service.close())
  return service
}

/** A request on a connection of its own. */
function open(
  of: TestService,
  { name, key }: TestAccount,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): ClientRequest {
  const one = request({
    port: of.port,
    path,
    method,
    agent: false,
    headers: { host: `${name}.localhost`, authorization: `Bearer ${key}`, ...headers },
  })
  one.on('error', () => {})
  onTestFinished(() => void one.destroy())
  return one
}

const responseTo = (one: ClientRequest) =>
  new Promise<IncomingMessage>((resolve) => {
    one.once('response', resolve)
    one.end()
  })

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response) text += String(chunk)
  return text
}

it('overload rejects requests of the account that fills the queue, and no others', async () => {
  const of = await start({}, { requestsWaitingMax: 20, requestsWaitingMin: 20 })
  const lock = await connected(url)
  try {
    // No key can be verified.
    await lock.query('begin; lock table api_key in access exclusive mode')
    const statuses: (number | undefined)[] = []
    for (let i = 0; i < 30; i++) {
      const one = open(of, busy, `${products}?limit=1`)
      void responseTo(one).then((response) => statuses.push(response.resume().statusCode))
    }
    await eventually(() => statuses.length === 10)
    expect(new Set(statuses)).toEqual(new Set([503]))
    const others = Array.from({ length: 5 }, () => responseTo(open(of, calm, `${products}?limit=1`)))
    await responseTo(open(of, busy, products))
    await lock.query('rollback')
    expect((await Promise.all(others)).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200])
  } finally {
    await lock.end()
  }
})

/** Sends a line now and then, and never ends. */
function slowBatch(of: TestService, by: TestAccount): Promise<IncomingMessage> {
  const one = open(of, by, `${products}/batch`, { 'content-type': 'application/x-ndjson' }, 'POST')
  one.write('\n')
  return new Promise((resolve) => one.once('response', resolve))
}

const batch = (of: TestService, by: TestAccount) => {
  const one = open(of, by, `${products}/batch`, { 'content-type': 'application/x-ndjson' }, 'POST')
  one.write('{"id":1,"name":"A"}\n')
  return responseTo(one)
}

it('accounts that send their batches slowly leave seats for others', async () => {
  const of = await start({}, {})
  const accounts: TestAccount[] = []
  for (let i = 1; i <= 8; i++) accounts.push(await account(client, `slow${i}`))
  const answers = accounts.flatMap((each) => [slowBatch(of, each), slowBatch(of, each)])
  // Each account has one. The second ones are rejected from the moment when only half of the seats are free.
  const rejected: IncomingMessage[] = []
  for (const answer of answers) void answer.then((response) => rejected.push(response))
  await eventually(() => rejected.length >= 4)
  for (const response of rejected) {
    expect(response.statusCode).toBe(429)
    expect(JSON.parse(await textOf(response))).toMatchObject({ code: 'account_busy' })
  }
  const response = await batch(of, calm)
  expect([response.statusCode, await textOf(response)]).toEqual([200, expect.stringContaining('"$end"')])
})

it('a batch with a slow sender is ended if another account waits, and the error says why', async () => {
  const of = await start({}, { batchesInFlightMax: 1, slowClientWindowMs: 100, slowClientCheckMs: 100 })
  const sender = open(of, busy, `${products}/batch`, { 'content-type': 'application/x-ndjson' }, 'POST')
  // The result of a rejected row shows that the batch runs. Nothing follows.
  sender.write('{}\n')
  const slow = await new Promise<IncomingMessage>((resolve) => sender.once('response', resolve))
  const response = await batch(of, calm)
  expect([response.statusCode, await textOf(response)]).toEqual([200, expect.stringContaining('"$end"')])
  const lines = (await textOf(slow)).trim().split('\n')
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
    $error: {
      code: 'overloaded',
      detail: expect.stringMatching(/^The batch was ended, because another account waited/),
    },
  })
})

it('each page of a stream counts against the rate limit; beyond it, the stream pauses and loses nothing', async () => {
  const of = await start({ QUARTERMASTER_REQUESTS_PER_MINUTE: '10' }, { feedHeartbeatMs: 300 })
  const stream = await responseTo(
    open(of, busy, `${products}/changes?limit=1&fields=id`, { accept: 'text/event-stream' }),
  )
  expect(stream.statusCode).toBe(200)
  let text = ''
  stream.on('data', (chunk) => (text += String(chunk)))
  await eventually(() => text.includes('heartbeat'))
  expect(text.split('event: changes').length - 1).toBe(10)
  expect((await of.request(busy, 'GET', products)).status).toBe(429)
  expect((await of.request(calm, 'GET', products)).status).toBe(200)
})

it('an account can have a limited number of waiting clients', async () => {
  const of = await start({}, { accountFeedWaitersMax: 2 })
  const streamOf = (by: TestAccount) =>
    responseTo(open(of, by, `${products}/changes?since=now`, { accept: 'text/event-stream' }))
  expect((await streamOf(busy)).statusCode).toBe(200)
  expect((await streamOf(busy)).statusCode).toBe(200)
  const third = await streamOf(busy)
  expect([third.statusCode, JSON.parse(await textOf(third))]).toMatchObject([
    429,
    { code: 'feed_limit', detail: expect.stringMatching(/^This account has 2 clients that wait/) },
  ])
  expect((await streamOf(calm)).statusCode).toBe(200)
})

it('a filter is not sent ahead of the verification: how long it takes follows from the number of records', async () => {
  const of = await start({}, { readAheadMs: 600_000 })
  const filtered = (limit: number) =>
    of.request(busy, 'GET', `${products}?filter=list_price>=0&limit=${limit}`)
  await filtered(1)
  const operations = () =>
    of.events.filter((event) => event.kind === 'statement-ended' && event.operation === 'list').length
  const lock = await connected(url)
  try {
    await lock.query('begin; lock table api_key in access exclusive mode')
    const before = operations()
    const response = filtered(2)
    await eventually(async () => {
      const { rows } = await client.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length > 0
    })
    // A read on another pipelined connection would end while the verification waits.
    await sleep(300)
    expect(operations()).toBe(before)
    await lock.query('rollback')
    expect((await response).status).toBe(200)
  } finally {
    await lock.end()
  }
})

it('idle connections without a key are closed, the longest idle first', async () => {
  const of = await start({}, { unknownConnectionsMax: 5 })
  const sockets = Array.from({ length: 20 }, () => connect(of.port, '127.0.0.1').resume())
  try {
    await eventually(async () => sockets.filter(({ closed }) => closed).length === 15)
    const response = await responseTo(open(of, calm, products))
    expect(response.statusCode).toBe(200)
    await textOf(response)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
})

it.each([{ unknownConnectionsMax: 3 }, { keylessConnectionsMax: 1 }])(
  'of connections without a key, those that have sent requests are closed before unused ones: %o',
  async (max) => {
    const of = await start({}, max)
    const unused = Array.from({ length: 2 }, () => connect(of.port, '127.0.0.1').resume())
    await Promise.all(unused.map((socket) => once(socket, 'connect')))
    const used: Socket[] = []
    try {
      for (let n = 0; n < 4; n++) {
        const socket = connect(of.port, '127.0.0.1')
        used.push(socket)
        socket.write('GET /livez HTTP/1.1\r\nHost: x.localhost\r\n\r\n')
        await once(socket, 'data')
        socket.resume()
      }
      await eventually(async () => used.filter(({ closed }) => closed).length === 3)
      expect(unused.map(({ closed }) => closed)).toEqual([false, false])
    } finally {
      for (const socket of [...unused, ...used]) socket.destroy()
    }
  },
)

it('an account with more connections than its share keeps none of the further ones', async () => {
  const of = await start({}, { accountConnectionsMax: 3 })
  const agents = Array.from({ length: 5 }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
  const connectionOf = async ({ name, key }: TestAccount, agent: Agent | undefined) => {
    const headers = { host: `${name}.localhost`, authorization: `Bearer ${key}` }
    const sending = get({ port: of.port, path: products, agent, headers })
    const response = await new Promise<IncomingMessage>((resolve) => sending.once('response', resolve))
    await textOf(response)
    return response.headers.connection
  }
  try {
    const kept: unknown[] = []
    for (const agent of agents.slice(0, 4)) kept.push(await connectionOf(busy, agent))
    expect(kept).toEqual(['keep-alive', 'keep-alive', 'keep-alive', 'close'])
    expect(await connectionOf(calm, agents[4])).toBe('keep-alive')
    // A connection counts for the account that used it last, as those of a proxy do.
    expect(await connectionOf(calm, agents[0])).toBe('keep-alive')
    await eventually(async () => (await connectionOf(busy, agents[3])) === 'keep-alive')
    expect(await connectionOf(busy, agents[4])).toBe('close')
  } finally {
    for (const agent of agents) agent.destroy()
  }
})
