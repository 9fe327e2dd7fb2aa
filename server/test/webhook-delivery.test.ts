import { beforeEach, expect, it } from 'vitest'
import { stopAtEnd } from './at-end.ts'
import { changes as feedPage, write } from './changes-fixture.ts'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { passes } from './eventually.ts'
import { startTestService } from './service.ts'
import { expectedSignature, Receiver } from './webhook-receiver.ts'

/** The delivery of changes: order, retries, and what ends it. */

const webhooks = '/manage/v1/webhooks'
const environment = {
  QUARTERMASTER_WEBHOOK_SECRET: 'a-master-key-of-at-least-32-characters',
  QUARTERMASTER_WEBHOOK_NETWORKS: '127.0.0.2',
}
const fast = { webhookSweepMs: 50, webhookRetrySecondsMin: 0.05, webhookRetrySecondsMax: 0.2 }
/** Of a record as it is delivered; a deleted one has none. */
const etag = expect.any(String)
let acme: TestAccount
let accounts = 0

const url = await freshDatabase()
const client = await connected(url)
const receiver = stopAtEnd(new Receiver())
await receiver.start()
let service = await startTestService(url, environment, fast)

/** Each test has its own account, so that changes of others do not matter. */
beforeEach(async () => {
  await client.query('delete from webhook')
  acme = await account(client, `acme-${++accounts}`)
  receiver.messages.length = 0
  receiver.respond = () => ({ status: 204 })
})

interface Created {
  readonly id: string
  readonly secret: string
}

async function create(body: object = {}): Promise<Created> {
  const response = await service.post(acme, webhooks, { resource: 'product', url: receiver.url, ...body })
  expect([response.status, response.body]).toMatchObject([201, {}])
  const { data }: { data: Created } = JSON.parse(JSON.stringify(response.body))
  await act(data.id, 'activate')
  receiver.messages.length = 0
  return data
}

async function act(id: string, action: string, body?: object): Promise<void> {
  const options =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await service.request(acme, 'POST', `${webhooks}/${id}/${action}`, options)
  expect([response.status, response.body]).toMatchObject([200, {}])
}

async function stored(): Promise<Record<string, unknown>> {
  const { rows } = await client.query(
    `select status, reason, failures, position_version::int as version, lease_until < now() as released,
     due_at > now() + interval '1 minute' as delayed from webhook where account_id = $1`,
    [acme.accountId],
  )
  return rows[0]
}

const names = (from: number, to: number, name: string) =>
  Object.fromEntries(Array.from({ length: to - from + 1 }, (_, i) => [from + i, `${name} ${from + i}`]))

it('sends the changes of writes, signed and in order, and stores the position', async () => {
  const { id, secret } = await create({ fields: ['id', 'name'] })
  await write(client, acme, { upsert: { 1: 'one', 2: 'two' } })
  await passes(() => expect(receiver.changes).toHaveLength(2))
  await write(client, acme, { upsert: { 2: 'zwei' }, delete: [1] })
  await passes(() => expect(receiver.changes).toHaveLength(4))
  expect(receiver.changes).toEqual([
    { change: 'created', id: 1, version: 1, etag, record: { id: 1, name: 'one' } },
    { change: 'created', id: 2, version: 1, etag, record: { id: 2, name: 'two' } },
    { change: 'deleted', id: 1, version: 2 },
    { change: 'updated', id: 2, version: 2, etag, record: { id: 2, name: 'zwei' } },
  ])
  for (const message of receiver.messages) {
    expect(message).toMatchObject({ type: 'product.changed', data: { webhook: id, more: false } })
    expect(message.signature).toBe(expectedSignature(secret, message))
  }
  expect(new Set(receiver.messages.map((message) => message.id)).size).toBe(2)
  await passes(async () => expect(await stored()).toMatchObject({ version: 2, failures: 0, released: true }))
  // The cursor of a message continues in the feed.
  const { data } = await feedPage(service, acme, { since: receiver.messages[0]?.data.cursor ?? '' })
  expect(data.map((change) => change.version)).toEqual([2, 2])
})

it('sends at once after a write over HTTP', async () => {
  const slow = await startTestService(url, environment, { webhookSweepMs: 600_000 })
  try {
    await client.query(`update account set status = 'active'`)
    await create()
    // The first service, which sweeps, must not deliver.
    await client.query(`update webhook set due_at = now() + interval '1 hour' where account_id = $1`, [
      acme.accountId,
    ])
    const created = await slow.post(acme, '/api/v1/inventory/product', {
      name: 'over HTTP',
      list_price: 1,
      qty_available: 1,
      active: true,
    })
    expect([created.status, created.body]).toMatchObject([201, {}])
    await client.query(`update webhook set due_at = now() where account_id = $1`, [acme.accountId])
    await passes(() =>
      expect(receiver.changes).toMatchObject([{ change: 'created', record: { name: 'over HTTP' } }]),
    )
  } finally {
    await slow.close()
  }
})

it('sends at most 100 changes in a message, and a backlog in order', async () => {
  await write(client, acme, { upsert: names(1, 250, 'a') })
  await create({ since: 'beginning', fields: ['id'] })
  await passes(() => expect(receiver.changes).toHaveLength(250))
  expect(receiver.messages.map(({ data }) => [data.changes?.length, data.more])).toEqual([
    [100, true],
    [100, true],
    [50, false],
  ])
  expect(receiver.changes.map((change) => change.id)).toEqual(Array.from({ length: 250 }, (_, i) => i + 1))
})

it('retries with the same message id and range, but with the current state', async () => {
  let failing = true
  receiver.respond = () => ({ status: failing ? 500 : 200 })
  await create({ fields: ['name'] })
  await write(client, acme, { upsert: { 1: 'one', 2: 'two' } })
  await passes(() => expect(receiver.messages.length).toBeGreaterThan(1))
  await write(client, acme, { upsert: { 1: 'uno', 3: 'tre' } })
  const before = receiver.messages.length
  await passes(() => expect(receiver.messages.length).toBeGreaterThan(before + 1))
  failing = false
  const sent = receiver.messages.length
  await passes(() => expect(receiver.changes.some((change) => change.id === 3)).toBe(true))
  const ids = [...new Set(receiver.messages.map((message) => message.id))]
  expect(ids).toHaveLength(2)
  const ofFirst = receiver.messages.filter((message) => message.id === ids[0])
  expect(ofFirst[0]?.data.changes).toMatchObject([{ id: 1, record: { name: 'one' } }, { id: 2 }])
  expect(ofFirst.at(-1)?.data.changes).toMatchObject([{ id: 2, version: 1, record: { name: 'two' } }])
  expect(receiver.messages.at(-1)?.data.changes).toMatchObject([
    { id: 1, version: 2, record: { name: 'uno' } },
    { id: 3, version: 2 },
  ])
  expect(receiver.messages.length).toBeLessThanOrEqual(sent + 3)
  await passes(async () =>
    expect(await stored()).toMatchObject({ version: 2, failures: 0, status: 'active' }),
  )
})

it('a retry does not send a deletion that a later change has superseded', async () => {
  const { id } = await create({ fields: ['name'] })
  await write(client, acme, { upsert: { 1: 'one', 2: 'two', 3: 'three' } })
  await passes(async () => expect(await stored()).toMatchObject({ version: 1 }))
  await act(id, 'pause')
  await write(client, acme, { delete: [1, 2, 3] })
  await write(client, acme, { upsert: { 1: 'again', 2: 'again' } })
  let failing = true
  receiver.respond = () => ({ status: failing ? 500 : 200 })
  receiver.messages.length = 0
  await act(id, 'activate')
  await passes(() => expect(receiver.changes.length).toBeGreaterThan(0))
  const [, first] = receiver.messages
  expect(first?.data.changes).toMatchObject([
    { change: 'deleted', id: 3, version: 2 },
    { change: 'created', id: 1, version: 3 },
    { change: 'created', id: 2, version: 3 },
  ])
  // Record 1 changes, and record 2 is deleted again. The retry must not send their first deletions.
  await write(client, acme, { upsert: { 1: 'changed' }, delete: [2] })
  const before = receiver.messages.length
  await passes(() => expect(receiver.messages.length).toBeGreaterThan(before + 1))
  failing = false
  expect(receiver.messages.at(-1)).toMatchObject({
    id: first?.id,
    data: { changes: [{ change: 'deleted', id: 3, version: 2 }] },
  })
  await passes(async () => expect(await stored()).toMatchObject({ version: 4 }))
  expect(receiver.messages.at(-1)?.data.changes).toMatchObject([
    { id: 1, version: 4 },
    { change: 'deleted', id: 2, version: 4 },
  ])
})

it('waits as long as Retry-After says, and counts a redirect as a failure', async () => {
  receiver.respond = () => ({ status: 307, headers: { location: receiver.url, 'retry-after': '600' } })
  await create()
  await write(client, acme, { upsert: { 1: 'one' } })
  await passes(async () => expect(await stored()).toMatchObject({ failures: 1, delayed: true, version: 0 }))
  expect(receiver.messages).toHaveLength(1)
})

it('is disabled by 410, and continues where it was after an activation', async () => {
  receiver.respond = () => ({ status: 410 })
  const { id } = await create()
  await write(client, acme, { upsert: { 1: 'one' } })
  await passes(async () =>
    expect(await stored()).toMatchObject({ status: 'disabled', reason: 'gone', version: 0 }),
  )
  receiver.respond = () => ({ status: 200 })
  receiver.messages.length = 0
  await act(id, 'activate')
  await passes(() => expect(receiver.changes).toMatchObject([{ id: 1, version: 1 }]))
})

it('is paused after failing for five days, and keeps its position', async () => {
  receiver.respond = () => ({ status: 503 })
  await create()
  await write(client, acme, { upsert: { 1: 'one' } })
  await passes(async () => expect((await stored())['failures']).not.toBe(0))
  expect(await stored()).toMatchObject({ status: 'active' })
  await client.query(
    `update webhook set failing_since = now() - interval '121 hours' where account_id = $1`,
    [acme.accountId],
  )
  await passes(async () =>
    expect(await stored()).toMatchObject({ status: 'paused', reason: 'failing', version: 0 }),
  )
})

it('is paused if its position is unknown after a restore, and a replay repairs it', async () => {
  const { id } = await create()
  await write(client, acme, { upsert: { 1: 'one' } })
  // The sender stores the position after the response; it must not overwrite the update.
  await passes(async () => expect(await stored()).toMatchObject({ version: 1, released: true }))
  await client.query(`update webhook set position_lineage = 1 where account_id = $1`, [acme.accountId])
  await write(client, acme, { upsert: { 2: 'two' } })
  await passes(async () =>
    expect(await stored()).toMatchObject({ status: 'paused', reason: 'cursor_expired' }),
  )
  receiver.messages.length = 0
  await act(id, 'replay', { since: 'beginning' })
  await act(id, 'activate')
  await passes(() => expect(receiver.changes.map((change) => change.id)).toEqual([1, 2]))
})

it('sends nothing while it is paused, and a replay again under other ids', async () => {
  const { id } = await create()
  await act(id, 'pause')
  await write(client, acme, { upsert: { 1: 'one' } })
  const other = await account(client, `other-${accounts}`)
  const active = acme
  acme = other
  await create()
  await write(client, other, { upsert: { 5: 'five' } })
  await passes(() => expect(receiver.changes).toMatchObject([{ id: 5 }]))
  acme = active
  expect(receiver.messages).toHaveLength(1)
  await act(id, 'activate')
  await passes(() => expect(receiver.changes).toMatchObject([{ id: 5 }, { id: 1 }]))
  await act(id, 'replay', { since: 0 })
  await passes(() => expect(receiver.changes).toMatchObject([{ id: 5 }, { id: 1 }, { id: 1 }]))
  const ids = receiver.messages.filter(({ type }) => type === 'product.changed').map((message) => message.id)
  expect(new Set(ids).size).toBe(3)
})

it('sends only what matches the filter, and what no longer does', async () => {
  await create({ filter: 'name*yes', fields: ['name'] })
  await write(client, acme, { upsert: { 1: 'no' } })
  await passes(async () => expect(await stored()).toMatchObject({ version: 1 }))
  await write(client, acme, { upsert: { 2: 'yes' } })
  await passes(async () => expect(await stored()).toMatchObject({ version: 2 }))
  await write(client, acme, { upsert: { 2: 'no longer' } })
  await passes(async () => expect(await stored()).toMatchObject({ version: 3 }))
  expect(receiver.changes).toEqual([
    { change: 'created', id: 2, version: 2, etag, record: { name: 'yes' } },
    { change: 'removed', id: 2, version: 3 },
  ])
})

it('sends nothing for a suspended account', async () => {
  await create()
  await client.query(`update account set status = 'suspended' where account_id = $1`, [acme.accountId])
  await write(client, acme, { upsert: { 1: 'one' } })
  const other = await account(client, `next-${accounts}`)
  const suspended = acme
  acme = other
  await create()
  await write(client, other, { upsert: { 7: 'seven' } })
  await passes(() => expect(receiver.changes).toMatchObject([{ id: 7 }]))
  acme = suspended
  await client.query(`update account set status = 'active' where account_id = $1`, [acme.accountId])
  await passes(() => expect(receiver.changes).toMatchObject([{ id: 7 }, { id: 1 }]))
})

it('two processes deliver each change once and in order; a shutdown releases the lease', async () => {
  const second = await startTestService(url, environment, fast)
  try {
    await create({ fields: ['id'] })
    for (let i = 1; i <= 30; i++) await write(client, acme, { upsert: { [i]: 'x' } })
    await passes(() => expect(receiver.changes.length).toBeGreaterThanOrEqual(30))
    expect(receiver.changes.map((change) => change.version)).toEqual(
      Array.from({ length: 30 }, (_, i) => i + 1),
    )
    // Otherwise the shutdown could come before the last position is stored, and the change would be sent again.
    await passes(async () => expect(await stored()).toMatchObject({ version: 30, released: true }))
  } finally {
    await second.close()
  }
  let hanging = 0
  receiver.respond = () => {
    hanging++
    return new Promise(() => {})
  }
  const third = await startTestService(url, environment, fast)
  await service.close()
  await write(client, acme, { upsert: { 99: 'hangs' } })
  await passes(() => expect(hanging).toBe(1))
  expect(await stored()).toMatchObject({ released: false })
  await third.close()
  expect(await stored()).toMatchObject({ released: true, failures: 0, version: 30 })
  receiver.respond = () => ({ status: 200 })
  service = await startTestService(url, environment, fast)
  await passes(async () => expect(await stored()).toMatchObject({ version: 31 }))
})
