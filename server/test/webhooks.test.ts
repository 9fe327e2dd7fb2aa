import { beforeEach, expect, it } from 'vitest'
import { limits } from '../src/limits/limits.ts'
import { stopAtEnd } from './at-end.ts'
import { account, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { freshService, startTestService } from './service.ts'
import { expectedSignature, Receiver } from './webhook-receiver.ts'

/** The administration of webhooks over HTTP. */

const webhooks = '/manage/v1/webhooks'
const environment = {
  QUARTERMASTER_WEBHOOK_SECRET: 'a-master-key-of-at-least-32-characters',
  QUARTERMASTER_WEBHOOK_NETWORKS: '127.0.0.2',
  QUARTERMASTER_WEBHOOK_DELIVERY: 'off',
}
const receiver = stopAtEnd(new Receiver())

const { url, client, service } = await freshService(environment)
const acme = await account(client, 'acme')
const other = await account(client, 'other')
await receiver.start()

beforeEach(async () => {
  await client.query('delete from audit')
  receiver.messages.length = 0
  await client.query('delete from webhook')
})

interface Created {
  readonly data: { readonly id: string; readonly secret: string; readonly status: string }
}

async function create(body: object = {}, of: TestAccount = acme): Promise<Created['data']> {
  const response = await service.post(of, webhooks, { resource: 'product', url: receiver.url, ...body })
  expect([response.status, response.body]).toMatchObject([201, {}])
  const { data }: Created = JSON.parse(JSON.stringify(response.body))
  return data
}

const send = (method: string, path: string, body?: object) =>
  service.request(
    acme,
    method,
    path,
    body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
  )
const act = (id: string, action: string, body?: object) => send('POST', `${webhooks}/${id}/${action}`, body)

async function audited(): Promise<string[]> {
  const { rows } = await client.query<{ action: string }>(
    `select action from audit where account_id = $1 and action like 'webhook%' order by id`,
    [acme.accountId],
  )
  return rows.map(({ action }) => action)
}

it('is created, activated by a signed challenge, paused, rotated, tested, changed and deleted', async () => {
  await client.query('delete from audit')
  const created = await create({ filter: 'list_price>10', fields: ['id', 'name'], since: 'beginning' })
  expect(created).toMatchObject({
    resource: 'product',
    url: receiver.url,
    filter: 'list_price>10',
    fields: ['id', 'name'],
    status: 'pending',
    reason: null,
    failures: 0,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  })
  const { id, secret } = created
  const activated = await act(id, 'activate')
  expect([activated.status, activated.body]).toMatchObject([200, { data: { id, status: 'active' } }])
  const [challenge] = receiver.messages
  expect(challenge?.type).toBe('webhook.challenge')
  expect(challenge?.signature).toBe(challenge && expectedSignature(secret, challenge))
  expect((await act(id, 'pause')).body).toMatchObject({ data: { status: 'paused', reason: 'requested' } })

  const rotated = await act(id, 'rotate')
  const next: Created = JSON.parse(JSON.stringify(rotated.body))
  expect(next.data.secret).not.toBe(secret)
  const tested = await act(id, 'test')
  expect(tested.body).toMatchObject({ data: { status: 204, error: null } })
  const [, test] = receiver.messages
  expect(test?.type).toBe('webhook.test')
  expect(test?.signature).toBe(
    test && `${expectedSignature(next.data.secret, test)} ${expectedSignature(secret, test)}`,
  )
  await client.query(`update webhook set rotated_at = now() - interval '25 hours'`)
  await act(id, 'test')
  const [, , later] = receiver.messages
  expect(later?.signature).toBe(later && expectedSignature(next.data.secret, later))

  const one = await send('GET', `${webhooks}/${id}`)
  expect(one.body).toMatchObject({ data: { id, filter: 'list_price>10', status: 'paused' } })
  expect(JSON.stringify(one.body)).not.toContain('whsec_')
  const changed = await send('PATCH', `${webhooks}/${id}`, { filter: null })
  expect(changed.body).toMatchObject({ data: { filter: null, fields: ['id', 'name'], status: 'paused' } })
  const moved = await send('PATCH', `${webhooks}/${id}`, { url: `${receiver.url}&new=1` })
  expect(moved.body).toMatchObject({ data: { status: 'pending', reason: null } })
  expect((await send('DELETE', `${webhooks}/${id}`)).status).toBe(204)
  expect((await send('GET', `${webhooks}/${id}`)).status).toBe(404)
  expect(await audited()).toEqual(
    ['create', 'activate', 'pause', 'rotate', 'change', 'change', 'delete'].map(
      (action) => `webhook.${action}`,
    ),
  )
  const { rows } = await client.query('select details from audit')
  expect(JSON.stringify(rows)).not.toContain('token')
})

it('is not activated if the receiver does not return the challenge', async () => {
  const { id } = await create()
  const echo = receiver.echo
  for (const [response, detail] of [
    [{ status: 200, body: 'ok' }, /responded with 200, but not with the challenge/],
    [{ status: 404 }, /responded with 404/],
    [{ status: 302, headers: { location: 'https://127.0.0.1/' } }, /responded with 302/],
  ] as const) {
    receiver.echo = () => response
    const result = await act(id, 'activate')
    expect([result.status, result.body]).toMatchObject([
      409,
      { code: 'webhook_unverified', detail: expect.stringMatching(detail) },
    ])
  }
  receiver.echo = (challenge) => ({ status: 200, body: JSON.stringify({ challenge }) })
  expect((await act(id, 'activate')).status).toBe(200)
  receiver.echo = echo
  const log = await send('GET', `/manage/v1/deliveries?filter=webhook_id="${id}"`)
  expect(log.body).toMatchObject({
    data: [
      { kind: 'challenge', status: 200, error: null },
      { status: 302, error: 'status' },
      { status: 404, error: 'status' },
      { status: 200, error: 'challenge' },
    ],
  })
})

it('sends no test message to a URL that is not verified', async () => {
  const { id } = await create()
  const isUnverified = [
    409,
    { code: 'webhook_unverified', detail: expect.stringContaining('Activate the webhook first') },
  ]
  const refused = async (action: string) => {
    const { status, body } = await act(id, action)
    expect([status, body]).toMatchObject(isUnverified)
  }
  await refused('test')
  // A pause must not make an unverified webhook look verified.
  await refused('pause')
  await refused('test')
  expect(receiver.messages).toEqual([])
  await act(id, 'activate')
  expect((await act(id, 'test')).body).toMatchObject({ data: { status: 204 } })
  await act(id, 'pause')
  await act(id, 'pause')
  expect((await act(id, 'test')).body).toMatchObject({ data: { status: 204 } })
  expect((await audited()).filter((action) => action === 'webhook.pause')).toHaveLength(1)
  await send('PATCH', `${webhooks}/${id}`, { url: `${receiver.url}&other=1` })
  await refused('test')
  expect(receiver.messages.map(({ type }) => type)).toEqual([
    'webhook.challenge',
    'webhook.test',
    'webhook.test',
  ])
})

it('keeps a limited number of test messages in the log, which displace no delivery', async () => {
  const { id } = await create()
  const fill = (kind: string, count: number, age: string) =>
    client.query(
      `insert into delivery (account_id, at, id, webhook_id, message_id, kind, changes, from_version, to_version, duration_ms)
       select $1, now() - $2::interval - make_interval(secs => n), $3 || n, 'wh_0', 'm', $3, 0, 0, 0, 1 from generate_series(1, $4::int) n`,
      [acme.accountId, age, kind, count],
    )
  await client.query('delete from delivery')
  await fill('changes', 20, '2 days')
  await fill('test', limits.deliveryTestRowsMax + 50, '1 day')
  await fill('challenge', 1, '3 days')
  expect((await act(id, 'activate')).status).toBe(200)
  const { rows } = await client.query(
    "select kind, count(*)::int, min(at) > now() - interval '2 days' as recent from delivery group by 1 order by 1",
  )
  expect(rows).toEqual([
    { kind: 'challenge', count: 1, recent: true },
    { kind: 'changes', count: 20, recent: false },
    { kind: 'test', count: limits.deliveryTestRowsMax - 1, recent: true },
  ])
})

it.each([
  [{ url: 'http://example.com/' }, '/url', 'must begin with https'],
  [{ url: 'https://127.0.0.1:8443/' }, '/url', 'not on the public internet'],
  [{ url: 'https://[::ffff:10.0.0.1]/' }, '/url', 'not on the public internet'],
  [{ url: 5 }, '/url', 'it is a number'],
  [{ resource: 'order' }, '/resource', 'must be one of product, partner, company'],
  [{ filter: 'list_prise>10' }, '/filter', 'list_prise'],
  [{ filter: 'list_price>' }, '/filter', ''],
  [{ filter: '' }, '/filter', 'must be a filter'],
  [{ fields: ['id', 'nmae'] }, '/fields', 'nmae'],
  [{ fields: 'id' }, '/fields', 'must be an array'],
  [{ since: 'AAAA' }, '/since', 'is not a cursor'],
  [{ since: 99 }, '/since', 'does not exist yet'],
  [{ since: -1 }, '/since', 'must be now'],
  [{ secret: 'x' }, '/secret', 'not a member'],
])('is not created from %j', async (body, pointer, message) => {
  const response = await service.post(acme, webhooks, { resource: 'product', url: receiver.url, ...body })
  expect([response.status, response.body]).toMatchObject([
    400,
    { code: 'body_invalid', errors: [{ pointer, message: expect.stringContaining(message) }] },
  ])
})

it('belongs to one account, and needs the scope account:manage', async () => {
  const { id } = await create()
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['POST', '/activate'],
    ['POST', '/pause'],
    ['POST', '/rotate'],
    ['POST', '/replay'],
    ['POST', '/test'],
  ] as const) {
    const body = path === '/replay' ? '{"since":"now"}' : '{}'
    const withBody = method === 'PATCH' || path === '/replay'
    const options = withBody ? { body, headers: { 'content-type': 'application/json' } } : {}
    const foreign = await service.request(other, method, `${webhooks}/${id}${path}`, options)
    expect([method, path, foreign.status]).toEqual([method, path, 404])
    const reader = await account(
      client,
      `reader-${method}-${path.slice(1)}`.toLowerCase().replace(/-$/, ''),
      ['product:read'],
    )
    expect((await service.request(reader, method, `${webhooks}/${id}${path}`, options)).status).toBe(403)
  }
  expect(receiver.messages).toEqual([])
})

it('is limited to a number per account', async () => {
  for (let i = 0; i < limits.webhooksMax; i++) await create()
  const response = await service.post(acme, webhooks, { resource: 'product', url: receiver.url })
  expect([response.status, response.body]).toMatchObject([409, { code: 'webhooks_exhausted' }])
  await create({}, other)
  const list = await send('GET', `${webhooks}?limit=1&filter=status="pending"`)
  expect(list.body).toMatchObject({ meta: { total: limits.webhooksMax } })
})

it('needs a master key', async () => {
  const without = await startTestService(url)
  try {
    const response = await without.post(acme, webhooks, { resource: 'product', url: 'https://example.com/' })
    expect([response.status, response.body]).toMatchObject([501, { code: 'webhooks_unavailable' }])
  } finally {
    await without.close()
  }
})

it('counts as a record in the request log only if the request succeeds', async () => {
  const counting = await account(client, 'counting')
  const { id } = await create({}, counting)
  expect((await service.post(counting, webhooks, { resource: 'nothing' })).status).toBe(400)
  const unknown = `${webhooks}/wh_000000000000000000000000/pause`
  expect((await service.request(counting, 'POST', unknown)).status).toBe(404)
  expect((await service.request(counting, 'DELETE', `${webhooks}/${id}`)).status).toBe(204)
  const counted = () =>
    service.events.flatMap((event) =>
      event.kind === 'request-completed' && event.access?.accountId === counting.accountId
        ? [[event.status, event.context?.records]]
        : [],
    )
  // The last event follows its response.
  await eventually(async () => counted().length === 4)
  expect(counted()).toEqual([
    [201, 1],
    [400, 0],
    [404, 0],
    [204, 1],
  ])
})
