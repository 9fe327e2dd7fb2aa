import { expect, test } from 'vitest'
import { type HttpResponse, keyOf, problemIn, type RequestOptions, send } from './client.ts'

/** Webhooks, as far as they can be tested without a receiver. The tests use the account globex. */

const globex: RequestOptions = { host: 'globex', key: keyOf('globex') }
const webhooks = '/manage/v1/webhooks'

function post(path: string, body?: object, options: RequestOptions = globex): Promise<HttpResponse> {
  const content = body === undefined ? {} : { body: JSON.stringify(body) }
  const headers = body === undefined ? {} : { 'content-type': 'application/json' }
  return send(path, { ...options, method: 'POST', ...content, headers })
}

interface Webhook {
  readonly id: string
  readonly status: string
  readonly secret?: string
  readonly delivered_version: number
}

function dataIn(response: HttpResponse): Webhook {
  const { data }: { data: Webhook } = JSON.parse(response.text)
  return data
}

test('[H1] an administrator creates, tests, pauses, replays, rotates and deletes webhooks of the own account', async () => {
  const created = await post(webhooks, {
    resource: 'product',
    url: 'https://receiver.invalid/hook',
    filter: 'list_price>10',
    fields: ['id', 'name'],
  })
  expect([created.status, created.headers['cache-control']]).toEqual([201, 'no-store'])
  const { id, secret } = dataIn(created)
  const path = `${webhooks}/${id}`
  expect(created.headers.location).toBe(path)
  expect(secret).toMatch(/^whsec_/)
  expect(dataIn(await send(path, globex))).toMatchObject({ id, status: 'pending', filter: 'list_price>10' })
  expect((await send(path, globex)).text).not.toContain('whsec_')
  expect((await send(path)).status).toBe(404)

  for (const action of ['test', 'pause', 'activate'])
    expect(problemIn(await post(`${path}/${action}`), 409).code).toBe('webhook_unverified')
  expect(dataIn(await post(`${path}/replay`, { since: 'beginning' }))).toMatchObject({ delivered_version: 0 })
  expect(dataIn(await post(`${path}/rotate`)).secret).not.toBe(secret)
  const changed = await send(path, {
    ...globex,
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: '{"url":"https://other.invalid/"}',
  })
  expect(dataIn(changed)).toMatchObject({ status: 'pending', url: 'https://other.invalid/' })
  const log = await send(`/manage/v1/deliveries?filter=webhook_id=${id}`, globex)
  expect(JSON.parse(log.text)).toMatchObject({ data: [{ webhook_id: id, kind: 'challenge', status: null }] })
  const audit = await send(`/manage/v1/audit?filter=subject=${id}&fields=action`, globex)
  const { data: actions }: { data: readonly { action: string }[] } = JSON.parse(audit.text)
  expect(actions.map(({ action }) => action).toReversed()).toEqual(
    ['create', 'replay', 'rotate', 'change'].map((action) => `webhook.${action}`),
  )
  expect((await send(path, { ...globex, method: 'DELETE' })).status).toBe(204)
  expect((await send(path, globex)).status).toBe(404)
})

test('[H2] a webhook is not activated before its receiver returns a challenge', async () => {
  const { id } = dataIn(await post(webhooks, { resource: 'partner', url: 'https://receiver.invalid/' }))
  const activated = await post(`${webhooks}/${id}/activate`)
  expect(problemIn(activated, 409).code).toBe('webhook_unverified')
  expect(dataIn(await send(`${webhooks}/${id}`, globex)).status).toBe('pending')
  await send(`${webhooks}/${id}`, { ...globex, method: 'DELETE' })
})

test('[H3] a webhook cannot have a URL in the network of the service', async () => {
  for (const url of [
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://[::1]/',
    'https://[::ffff:169.254.169.254]/',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1:8443/',
    'http://example.com/',
    'https://user:password@example.com/',
    'https://example.com:25/',
  ]) {
    const response = await post(webhooks, { resource: 'product', url })
    expect(problemIn(response, 400)).toMatchObject({ code: 'body_invalid', errors: [{ pointer: '/url' }] })
  }
})
