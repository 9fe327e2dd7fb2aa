import { describe, expect, it } from 'vitest'
import { signatureHeaders, webhookSecret } from './signature.ts'

describe('the signature of a message', () => {
  // The example of the reference implementations of Standard Webhooks.
  const published = {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    message: { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' },
    signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }

  it('is the one that Standard Webhooks publishes', () => {
    expect(signatureHeaders(published.message, [published.secret])).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': published.signature,
    })
  })

  it('has one signature for each secret while a rotation lasts', () => {
    const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    // printf 'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707… -binary | base64
    const second = 'v1,YO/ulmd+VFtlnbodv7yLOOsS6RlBZ48h++gXZrGOpZo='
    expect(signatureHeaders(published.message, [published.secret, other])['webhook-signature']).toBe(
      `${published.signature} ${second}`,
    )
  })
})

describe('the secret of a webhook', () => {
  const masterKey = 'a-master-key-of-at-least-32-characters'
  const first = { accountId: '7', webhookId: 'wh_1', generation: 1 }

  it('is derived by HKDF-SHA256 (RFC 5869)', () => {
    // openssl kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt key:… -kdfopt info:'quartermaster webhook 7 wh_1 1' -binary HKDF | base64
    expect(webhookSecret(masterKey, first)).toBe('whsec_VgO/fcIBz3FmYuIWKopHeZWapu/NxID0ntcWazWD6LY=')
  })

  it('differs for each master key, account, webhook and generation', () => {
    const secrets = [
      webhookSecret(masterKey, first),
      webhookSecret(`${masterKey}x`, first),
      webhookSecret(masterKey, { ...first, accountId: '8' }),
      webhookSecret(masterKey, { ...first, webhookId: 'wh_2' }),
      webhookSecret(masterKey, { ...first, generation: 2 }),
    ]
    expect(new Set(secrets).size).toBe(secrets.length)
  })
})
