import { type ClientRequest, request } from 'node:http'
import { expect, it } from 'vitest'
import { limits } from '../src/limits/limits.ts'
import type { Limits } from '../src/limits/passed-limits.ts'
import type { Event } from '../src/observability/events.ts'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { eventually, waitingForLocks } from './eventually.ts'
import { startTestService, type TestService } from './service.ts'

/** The concurrent writes of one account leave connections for other accounts. */

const partners = '/api/v1/resources/partner'
const json = { 'content-type': 'application/json' }
let created = 0

const url = await freshDatabase()
const client = await connected(url)

interface Fixture {
  readonly service: TestService
  readonly busy: TestAccount
  readonly calm: TestAccount
  /** Releases the lock that blocks all creates of the busy account. */
  readonly unblock: () => Promise<void>
}

async function fixture(
  environment: Record<string, string>,
  work: (fixture: Fixture) => Promise<void>,
  shortened: Partial<Limits> = {},
) {
  const busy = await account(client, `busy-${++created}`)
  const calm = await account(client, `calm-${created}`)
  const blocker = await connected(url)
  await blocker.query('begin')
  await blocker.query(`select from tally where account_id = $1 and resource = 'partner' for update`, [
    busy.accountId,
  ])
  const service = await startTestService(url, environment, shortened)
  try {
    await work({ service, busy, calm, unblock: () => blocker.end() })
  } finally {
    await blocker.end()
    await service.close()
  }
}

const create = (service: TestService, from: TestAccount, name: string, headers = {}) =>
  service.request(from, 'POST', partners, {
    body: JSON.stringify({ name }),
    headers: { ...json, ...headers },
  })

async function namesOf({ accountId }: TestAccount): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from partner where account_id = $1', [
    accountId,
  ])
  return rows.map(({ name }) => name)
}

/** A different idempotency key for each number. */
const numbered = (headers: Readonly<Record<string, string>>, n: number) =>
  Object.fromEntries(Object.entries(headers).map(([key, of]) => [key, of.replace('{n}', String(n))]))

const connectionsUsed = async () => (await waitingForLocks(client)).length

it.each([
  ['plain', '10', 2, {}],
  ['idempotent', '10', 2, { 'idempotency-key': 'key-{n}' }],
  ['plain, of two connections', '2', 1, {}],
])(
  'creates, %s: an account uses at most two connections, and other accounts are served',
  async (_, poolMax, used, headers) => {
    await fixture({ QUARTERMASTER_DATABASE_POOL_MAX: poolMax }, async ({ service, busy, calm, unblock }) => {
      const most = used + limits.accountWritesWaitingMax
      const rejections: { status: number; headers: Headers; body: unknown }[] = []
      const unconfirmed: string[] = []
      const sent = Array.from({ length: most + 5 }, async (__, n) => {
        const response = await create(service, busy, `Busy ${n}`, numbered(headers, n))
        if (response.status === 429) rejections.push(response)
        if (JSON.stringify(response.body).includes('"outcome_unknown"')) unconfirmed.push(`Busy ${n}`)
        return response.status
      })
      await eventually(() => rejections.length >= 5)
      expect([rejections[0]?.headers.get('retry-after'), rejections[0]?.body]).toMatchObject([
        '1',
        { code: 'account_busy', detail: expect.stringMatching(/^This account has 200 writes waiting/) },
      ])
      await eventually(async () => (await connectionsUsed()) === used)

      expect((await create(service, calm, 'Calm')).status).toBe(201)
      expect((await create(service, calm, 'Calm', { 'idempotency-key': 'calm' })).status).toBe(201)
      expect(await connectionsUsed()).toBeLessThanOrEqual(used)

      await unblock()
      const statuses = await Promise.all(sent)
      // On a slow machine some of them time out while waiting, or while they are committed.
      expect(statuses.filter((status) => ![201, 429, 503].includes(status))).toEqual([])
      const written = statuses.filter((status) => status === 201).length
      const confirmed = (await namesOf(busy)).filter((name) => !unconfirmed.includes(name))
      expect(confirmed).toHaveLength(written)
    })
  },
)

it.each([
  ['plain', {}],
  ['idempotent', { 'idempotency-key': 'key-{n}' }],
])('creates, %s: one that times out is counted as long as it uses a connection', async (_, headers) => {
  const work = async ({ service, busy, unblock }: Fixture) => {
    const createNumbered = (n: number) => create(service, busy, `Busy ${n}`, numbered(headers, n))
    const timedOut = await Promise.all([createNumbered(1), createNumbered(2)])
    expect(timedOut.map(({ status }) => status)).toEqual([503, 503])
    const third = await createNumbered(3)
    expect([third.status, third.body]).toMatchObject([429, { code: 'account_busy' }])
    await eventually(async () => (await connectionsUsed()) === 2)
    await unblock()
    await eventually(async () => (await createNumbered(4)).status === 201)
  }
  const settings = { QUARTERMASTER_DATABASE_POOL_MAX: '10' }
  // Long enough for a busy machine to open two connections and send both creates.
  await fixture(settings, work, { writeMsMax: 8_000, accountWriteWaitMsMax: 500 })
})

it('changes of keys share the limit', async () => {
  await fixture({ QUARTERMASTER_DATABASE_POOL_MAX: '10' }, async ({ service, busy, calm, unblock }) => {
    const creates = [create(service, busy, 'One'), create(service, busy, 'Two')]
    await eventually(async () => (await connectionsUsed()) === 2)
    let isCreated = false
    const createKey = (from: TestAccount) =>
      service.request(from, 'POST', '/manage/v1/keys', {
        body: '{"name":"shop","scopes":["product:read"]}',
        headers: json,
      })
    const key = createKey(busy).then(({ status }) => {
      isCreated = true
      return status
    })
    expect((await createKey(calm)).status).toBe(201)
    expect(isCreated).toBe(false)
    await unblock()
    expect((await Promise.all(creates)).map(({ status }) => status)).toEqual([201, 201])
    expect(await key).toBe(201)
  })
})

it('a queued write does not start if its client has disconnected', async () => {
  await fixture({ QUARTERMASTER_DATABASE_POOL_MAX: '2' }, async ({ service, busy, unblock }) => {
    const first = create(service, busy, 'First')
    await eventually(async () => (await connectionsUsed()) === 1)
    const count = (matches: (event: Event) => boolean) => service.events.filter(matches).length
    const disconnected = open(service, busy, 'Disconnected')
    await eventually(() => count(({ kind }) => kind === 'keys-verified') === 2)
    const last = create(service, busy, 'Last')
    disconnected.destroy()
    await eventually(() => count((event) => event.kind === 'request-completed' && event.status === 499) === 1)
    await unblock()
    expect((await Promise.all([first, last])).map(({ status }) => status)).toEqual([201, 201])
    expect((await namesOf(busy)).toSorted()).toEqual(['First', 'Last'])
  })
})

function open({ port }: TestService, from: TestAccount, name: string): ClientRequest {
  const clientRequest = request({
    host: '127.0.0.1',
    port,
    path: partners,
    method: 'POST',
    agent: false,
    headers: { ...json, 'x-forwarded-host': `${from.name}.localhost`, authorization: `Bearer ${from.key}` },
  })
  clientRequest.on('error', () => {})
  clientRequest.end(JSON.stringify({ name }))
  return clientRequest
}
