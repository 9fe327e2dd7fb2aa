import { beforeEach, describe, expect, it } from 'vitest'
import { stopAtEnd } from '../../server/test/at-end.ts'
import { write } from '../../server/test/changes-fixture.ts'
import { account } from '../../server/test/database.ts'
import { passes } from '../../server/test/eventually.ts'
import { freshService } from '../../server/test/service.ts'
import { type ReceivedMessage, Receiver } from '../../server/test/webhook-receiver.ts'
import {
  Conflict,
  ConnectionFailed,
  handleWebhook,
  NotFound,
  Quartermaster,
  RequestInvalid,
  Unauthenticated,
  verifyWebhook,
  type WebhookEvent,
} from '../src/index.ts'

/** What an administrator does with the client, and messages of webhooks, against the real service. */

const receiver = stopAtEnd(new Receiver())
await receiver.start()
const { client: database, service } = await freshService(
  {
    QUARTERMASTER_DEFAULT_ACCOUNT: 'acme',
    QUARTERMASTER_WEBHOOK_SECRET: 'a-master-key-of-at-least-32-characters',
    QUARTERMASTER_WEBHOOK_NETWORKS: '127.0.0.2',
  },
  { webhookSweepMs: 50, webhookRetrySecondsMin: 0.05, webhookRetrySecondsMax: 0.2 },
)
const acme = await account(database, 'acme')

/** How many responses are lost, after the service has processed the request. */
let lost = 0
const options = {
  baseUrl: `http://127.0.0.1:${service.port}`,
  apiKey: acme.key,
  fetch: async (input: string | URL | Request, init?: RequestInit) => {
    const response = await fetch(input, init)
    if (lost === 0) return response
    lost -= 1
    await response.text()
    throw new TypeError('fetch failed')
  },
}
const { manage } = new Quartermaster(options)

beforeEach(() => {
  lost = 0
})

describe('keys', () => {
  it('are created, listed, rotated and revoked', async () => {
    const scopes = ['product:read'] as const
    const created = await manage.keys.create({ name: 'web shop', scopes, expires_at: '2099-01-01' })
    expect(created).toMatchObject({
      key: expect.stringMatching(/^qm_/),
      name: 'web shop',
      scopes,
      state: 'active',
    })
    const shop = new Quartermaster({ ...options, apiKey: created.key })
    expect((await shop.products.list()).meta.total).toBe(0)

    const rotated = await manage.keys.rotate(created.key_id, { overlap_seconds: 0 })
    expect(rotated.key_id).not.toBe(created.key_id)
    await expect(shop.products.list()).rejects.toBeInstanceOf(Unauthenticated)
    expect(await manage.keys.get(created.key_id)).toMatchObject({
      state: 'revoked',
      rotated_to: rotated.key_id,
    })
    expect(await manage.keys.revoke(rotated.key_id)).toMatchObject({ state: 'revoked' })
    expect(await manage.keys.revoke(rotated.key_id)).toMatchObject({ state: 'revoked' })

    // The service records the use of a key after the response.
    await passes(async () => {
      const page = await manage.keys.list({
        fields: ['key_id', 'state'],
        filter: (key) =>
          key.name.eq('web shop').and(key.scopes.contains('product:read'), key.last_used_on.ne(null)),
      })
      expect(page.data).toEqual([{ key_id: created.key_id, state: 'revoked' }])
      expect(page).toMatchObject({ meta: { total: 1 }, requestId: expect.any(String) })
    })
    await expect(manage.keys.get('unknown1')).rejects.toBeInstanceOf(NotFound)
    const unnamed = manage.keys.create({ name: '', scopes: [] })
    await expect(unnamed).rejects.toBeInstanceOf(RequestInvalid)
  })

  it('are created and rotated once, although responses are lost', async () => {
    const before = (await manage.keys.list({ limit: 1 })).meta.total
    lost = 1
    const creating = manage.keys.create({ name: 'lost', scopes: ['product:read'] })
    await expect(creating).rejects.toBeInstanceOf(Conflict)
    await expect(creating).rejects.toMatchObject({ code: 'key_already_created' })
    const { data } = await manage.keys.list({ filter: 'name=lost' })
    expect(data).toHaveLength(1)
    lost = 1
    const rotating = manage.keys.rotate(data[0]?.key_id ?? '', { overlap_seconds: 60 })
    await expect(rotating).rejects.toMatchObject({ name: 'Conflict', code: 'key_not_active' })
    expect((await manage.keys.list({ limit: 1 })).meta.total).toBe(before + 2)
  })
})

describe('webhooks', () => {
  const events: WebhookEvent<'string'>[] = []
  let secrets: string[] = []
  const statuses: number[] = []

  const headersOf = ({ id, timestamp, signature }: ReceivedMessage) => ({
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
  })

  /** The message as a server passes it to a handler. */
  async function handled(message: ReceivedMessage | undefined) {
    if (message === undefined) throw new Error('no message')
    const init = { method: 'POST', headers: headersOf(message), body: message.text }
    const receive = (event: WebhookEvent<'string'>) => void events.push(event)
    const response = await handleWebhook(new Request(receiver.url, init), secrets, receive, {
      decimals: 'string',
    })
    statuses.push(response.status)
    return { status: response.status, body: await response.text() }
  }

  beforeEach(async () => {
    await database.query('delete from webhook')
    ;[events.length, statuses.length, receiver.messages.length] = [0, 0, 0]
    receiver.respond = handled
    receiver.echo = () => handled(receiver.messages.at(-1))
  })

  it('are created, activated, delivered, replayed, rotated, paused, changed and deleted', async () => {
    const { data: earlier } = await manage.deliveries.list({ limit: 1 })
    const { secret, ...created } = await manage.webhooks.create({
      resource: 'product',
      url: receiver.url,
      filter: 'active=true',
      fields: ['id', 'name', 'list_price'],
    })
    expect(created).toMatchObject({
      status: 'pending',
      url: receiver.url,
      fields: ['id', 'name', 'list_price'],
    })
    const { id } = created

    // The receiver does not know the secret yet.
    secrets = [`whsec_${Buffer.alloc(32).toString('base64')}`]
    await expect(manage.webhooks.activate(id)).rejects.toMatchObject({
      name: 'Conflict',
      code: 'webhook_unverified',
    })
    secrets = [secret]
    expect(await manage.webhooks.activate(id)).toMatchObject({ id, status: 'active' })
    expect(statuses).toEqual([401, 200])

    await write(database, acme, { upsert: { 1: 'one', 2: 'Größe 2' } })
    await write(database, acme, { delete: [1] })
    await passes(() => expect(deliveredIds()).toEqual(expect.arrayContaining([1, 2, 1])))
    const record = { id: 2, name: 'Größe 2', list_price: '0' }
    expect(events.flatMap(({ data }) => ('changes' in data ? data.changes : []))).toContainEqual({
      change: 'created',
      id: 2,
      version: expect.any(Number),
      etag: expect.any(String),
      record,
    })

    const rotated = await manage.webhooks.rotate(id)
    for (const known of [secret, rotated.secret, [rotated.secret, secret]]) {
      secrets = [known].flat()
      expect(await manage.webhooks.test(id)).toMatchObject({ status: 204, error: null })
      // A change that is still being delivered may arrive after it.
      const message = receiver.messages.findLast(({ text }) => text.includes('"webhook.test"'))
      expect(message?.signature.split(' ')).toHaveLength(2)
      const event = await verifyWebhook(message ? headersOf(message) : {}, message?.text ?? '', secrets)
      expect(event).toMatchObject({ type: 'webhook.test', data: { webhook: id } })
    }

    events.length = 0
    expect(await manage.webhooks.replay(id, { since: 'beginning' })).toMatchObject({ id })
    await passes(() => expect(deliveredIds()).toEqual([2]))
    expect(await manage.webhooks.pause(id)).toMatchObject({ status: 'paused', reason: 'requested' })
    expect(await manage.webhooks.change(id, { filter: null })).toMatchObject({
      filter: null,
      status: 'paused',
    })
    expect(await manage.webhooks.get(id, { fields: ['filter'] })).toEqual({ filter: null })
    expect((await manage.webhooks.list({ filter: ({ status }) => status.eq('paused') })).data).toMatchObject([
      { id },
    ])
    const { data } = await manage.deliveries.list({
      filter: ({ webhook_id, error }) => webhook_id.eq(id).and(error.ne(null)),
    })
    expect([earlier, data]).toMatchObject([[], [{ kind: 'challenge', status: 401 }]])
    await manage.webhooks.delete(id)
    await expect(manage.webhooks.get(id)).rejects.toBeInstanceOf(NotFound)
  })

  it('are created, rotated and deleted at most once: nothing is repeated whose response was lost', async () => {
    const webhook = { resource: 'partner', url: receiver.url } as const
    lost = 1
    await expect(manage.webhooks.create(webhook)).rejects.toBeInstanceOf(ConnectionFailed)
    const { data } = await manage.webhooks.list()
    expect(data).toHaveLength(1)
    const id = data[0]?.id ?? ''
    lost = 1
    await expect(manage.webhooks.rotate(id)).rejects.toBeInstanceOf(ConnectionFailed)
    const { rows } = await database.query('select generation::int from webhook')
    expect(rows).toEqual([{ generation: 2 }])
    lost = 1
    await expect(manage.webhooks.delete(id)).rejects.toBeInstanceOf(ConnectionFailed)
    await expect(manage.webhooks.delete(id)).rejects.toBeInstanceOf(NotFound)
  })

  const deliveredIds = () =>
    events.flatMap(({ data }) => ('changes' in data ? data.changes.map(({ id }) => id) : []))
})

describe('logs', () => {
  it('list changes of the account, requests, and usage', async () => {
    const { key_id } = await manage.keys.create({ name: 'logged', scopes: ['product:read'] })
    const { data } = await manage.audit.list({ filter: (entry) => entry.subject.eq(key_id) })
    expect(data).toMatchObject([{ action: 'key.create', subject: key_id, actor: 'key' }])
    await passes(async () => {
      const requests = await manage.requests.list({
        fields: ['method', 'path', 'status'],
        filter: ({ path, status }) => path.eq('/manage/v1/audit').and(status.lt(300)),
      })
      expect(requests.data).toContainEqual({ method: 'GET', path: '/manage/v1/audit', status: 200 })
    })
    await passes(async () => {
      const [day, minute] = await Promise.all([
        manage.usage.list({ filter: ({ route }) => route.eq('POST /manage/v1/keys') }),
        manage.usage.list({ per: 'minute', limit: 1 }),
      ])
      expect(day.data[0]?.requests).toBeGreaterThan(0)
      expect(day.data[0]?.at).toMatch(/T00:00:00/)
      expect(minute.meta.total).toBeGreaterThan(0)
    })
    await expect(manage.audit.list({ per: 'minute' })).rejects.toBeInstanceOf(RequestInvalid)
  })
})

it.each(['', '..', 'a/b', 'a?b', 'a b'])('the id "%s" is none, and is not sent', async (id) => {
  await expect(manage.keys.get(id)).rejects.toBeInstanceOf(TypeError)
  await expect(manage.webhooks.delete(id)).rejects.toBeInstanceOf(TypeError)
})
