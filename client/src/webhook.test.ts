import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  handleWebhook,
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  WebhookInvalid,
} from './index.ts'

/** Messages signed by Node's crypto, and the example that Standard Webhooks publishes. */

const now = 1_760_000_000

beforeEach(() => void vi.useFakeTimers({ now: now * 1000, toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)] as const
const secretOf = (key: Buffer) => `whsec_${key.toString('base64')}`
const secret = secretOf(keys[0])

function signature(
  id: string,
  timestamp: number | string,
  body: string | Buffer,
  key: Buffer = keys[0],
): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`
}

function headersOf(body: string | Buffer, changes: Record<string, string | undefined> = {}) {
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(now),
    'webhook-signature': signature('msg_1', now, body),
    ...changes,
  }
}

const body = JSON.stringify({
  type: 'product.changed',
  timestamp: '2025-10-09T08:53:20.000Z',
  data: {
    webhook: 'wh_1',
    changes: [
      {
        change: 'updated',
        id: 7,
        version: 3,
        record: { id: 7, name: 'Größe "list_price":5', list_price: 0.1 },
      },
      { change: 'deleted', id: 8, version: 4 },
    ],
    more: false,
    cursor: 'AQ',
  },
})

describe('a message', () => {
  it('is accepted with the signature that Standard Webhooks publishes', async () => {
    vi.setSystemTime(1_614_265_330_000)
    const headers = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    }
    const published = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    expect(await verifyWebhook(headers, '{"test": 2432232314}', published)).toEqual({ test: 2432232314 })
    await expect(verifyWebhook(headers, '{"test": 2432232315}', published)).rejects.toBeInstanceOf(
      WebhookInvalid,
    )
  })

  it.each<[string, WebhookHeaders]>([
    ['fetch', new Headers(headersOf(body))],
    ['Node', headersOf(body)],
    [
      'a function in a cloud',
      {
        'Webhook-Id': 'msg_1',
        'Webhook-Timestamp': String(now),
        'Webhook-Signature': headersOf(body)['webhook-signature'],
      },
    ],
  ])('is accepted with headers of %s', async (_, headers) => {
    expect(await verifyWebhook(headers, body, secret)).toEqual(JSON.parse(body))
  })

  it('is accepted as a text or bytes', async () => {
    const bytes = Buffer.from(body)
    const arrayBuffer = new Uint8Array(bytes).buffer
    for (const one of [body, bytes, new Uint8Array(bytes), arrayBuffer])
      expect(await verifyWebhook(headersOf(body), one, secret)).toEqual(JSON.parse(body))
  })

  it('has a type by which its data is known', async () => {
    const event = await verifyWebhook(headersOf(body), body, secret)
    const names = event.type === 'product.changed' ? event.data.changes.map(changed) : []
    expect(names).toEqual(['Größe "list_price":5', 'deleted'])
  })

  it('has decimals as strings on request, and other texts as they are', async () => {
    const event = await verifyWebhook(headersOf(body), body, secret, { decimals: 'string' })
    const change = event.type === 'product.changed' ? event.data.changes[0] : undefined
    expect(change).toMatchObject({ record: { name: 'Größe "list_price":5', list_price: '0.1' } })
  })

  it('is accepted if any signature is by any secret, as during a rotation', async () => {
    const both = `${signature('msg_1', now, body, keys[1])} ${signature('msg_1', now, body, keys[2])}`
    const headers = headersOf(body, { 'webhook-signature': `v1a,AAAA v2,x ${both}` })
    for (const accepted of [secretOf(keys[1]), secretOf(keys[2]), [secretOf(keys[0]), secretOf(keys[2])]])
      expect(await verifyWebhook(headers, body, accepted)).toMatchObject({ type: 'product.changed' })
    await expect(verifyWebhook(headers, body, secretOf(keys[0]))).rejects.toBeInstanceOf(WebhookInvalid)
  })

  it('may differ from the clock by the tolerance', async () => {
    const at = (timestamp: number) =>
      verifyWebhook(
        headersOf(body, {
          'webhook-timestamp': String(timestamp),
          'webhook-signature': signature('msg_1', timestamp, body),
        }),
        body,
        secret,
        { toleranceSeconds: 10 },
      )
    for (const accepted of [now - 10, now, now + 10]) expect(await at(accepted)).toBeDefined()
    for (const rejected of [now - 11, now + 11]) await expect(at(rejected)).rejects.toThrow(/within 10 s/)
  })

  const old = now - 301
  it.each<[string, Record<string, string | undefined>]>([
    ['signed by another secret', { 'webhook-signature': signature('msg_1', now, body, keys[1]) }],
    ['signed for another id', { 'webhook-id': 'msg_2' }],
    ['signed at another time', { 'webhook-timestamp': String(now + 1) }],
    ['signed for another body', { 'webhook-signature': signature('msg_1', now, `${body} `) }],
    ['with a shortened signature', { 'webhook-signature': signature('msg_1', now, body).slice(0, -4) }],
    [
      'with a signature of another version',
      { 'webhook-signature': signature('msg_1', now, body).replace('v1', 'v2') },
    ],
    ['without a signature', { 'webhook-signature': undefined }],
    ['with an empty signature', { 'webhook-signature': '' }],
    ['without an id', { 'webhook-id': undefined }],
    ['without a timestamp', { 'webhook-timestamp': undefined }],
    [
      'older than five minutes',
      { 'webhook-timestamp': String(old), 'webhook-signature': signature('msg_1', old, body) },
    ],
    [
      'with a timestamp that is no number',
      { 'webhook-timestamp': 'NaN', 'webhook-signature': signature('msg_1', 'NaN', body) },
    ],
    [
      'with more signatures than secrets can be',
      { 'webhook-signature': `${'v1,x '.repeat(10)}${signature('msg_1', now, body)}` },
    ],
  ])('%s is rejected', async (_, changes) => {
    const rejected = verifyWebhook(headersOf(body, changes), body, secret)
    await expect(rejected).rejects.toBeInstanceOf(WebhookInvalid)
    await expect(rejected).rejects.toMatchObject({ code: 'webhook_invalid' })
  })

  it('with a repeated header is rejected', async () => {
    const headers = { ...headersOf(body), 'webhook-id': ['msg_1', 'msg_1'] }
    await expect(verifyWebhook(headers, body, secret)).rejects.toThrow(/webhook-id is missing, or repeated/)
  })

  it('that is signed and not JSON is rejected', async () => {
    await expect(verifyWebhook(headersOf('{'), '{', secret)).rejects.toThrow(/not JSON/)
  })
})

it.each(['', 'whsec_', 'whsec_AAAA', keys[0].toString('base64'), `${secret}A`, secret.slice(0, -1)])(
  'the secret "%s" is a mistake of the caller',
  async (wrong) => {
    await expect(verifyWebhook(headersOf(body), body, wrong)).rejects.toThrow(TypeError)
  },
)

it('no secret, or a parsed body, is a mistake of the caller', async () => {
  await expect(verifyWebhook(headersOf(body), body, [])).rejects.toThrow(TypeError)
  await expect(verifyWebhook(headersOf(body), JSON.parse(body), secret)).rejects.toThrow(/as it was received/)
})

describe('a handler', () => {
  const post = (content: string, headers: Record<string, string> = headersOf(content)) =>
    new Request('https://example.com/hook', { method: 'POST', body: content, headers })

  it('calls the function with the event', async () => {
    const events: WebhookEvent[] = []
    const response = await handleWebhook(post(body), secret, (event) => void events.push(event))
    expect([response.status, await response.text()]).toEqual([204, ''])
    expect(events).toEqual([JSON.parse(body)])
  })

  it('returns a signed challenge, and no other', async () => {
    const challenge =
      '{"type":"webhook.challenge","timestamp":"","data":{"webhook":"wh_1","challenge":"abc"}}'
    const receive = vi.fn()
    const response = await handleWebhook(post(challenge), secret, receive)
    expect([response.status, await response.text()]).toEqual([200, 'abc'])
    const forged = await handleWebhook(post(challenge, headersOf(body)), secret, receive)
    expect(forged.status).toBe(401)
    expect(await forged.text()).not.toContain('abc')
    expect(receive).not.toHaveBeenCalled()
  })

  it('throws what the function throws, so that the message is sent again', async () => {
    const failing = handleWebhook(post(body), secret, () => Promise.reject(new Error('the database is down')))
    await expect(failing).rejects.toThrow('the database is down')
  })

  it('rejects other methods, and bodies larger than any message', async () => {
    const get = await handleWebhook(new Request('https://example.com/'), secret, () => undefined)
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
    const large = `"${'x'.repeat(1024 * 1024)}"`
    expect((await handleWebhook(post(large), secret, () => undefined)).status).toBe(413)
    expect((await handleWebhook(post(''), secret, () => undefined)).status).toBe(401)
  })
})

function changed(change: { readonly change: string; readonly record?: { readonly name?: string } }): string {
  return change.record?.name ?? change.change
}
