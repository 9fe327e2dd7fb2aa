import { products } from '../../load/fixture.ts'
import type { Attack } from './attack.ts'
import { ask, flood } from './requests.ts'

const partners = '/api/v1/resources/partner'
const keys = '/manage/v1/keys'
const webhooks = '/manage/v1/webhooks'
const json = { 'content-type': 'application/json' }
const numbers = `{"name":[${'0,'.repeat(31_990)}0]}`

export const writeAttacks: readonly Attack[] = [
  {
    name: 'create_arrays',
    run: (target, signal) =>
      flood(
        target,
        signal,
        4,
        () => ({ method: 'POST', path: partners, headers: json, body: numbers }),
        target.createOnly,
      ),
  },
  {
    name: 'create_flood',
    run: (target, signal) =>
      flood(
        target,
        signal,
        64,
        (n) => ({ method: 'POST', path: partners, headers: json, body: `{"name":"flood ${n}"}` }),
        target.createOnly,
      ),
  },
  {
    name: 'idempotency_keys',
    run: (target, signal) =>
      flood(target, signal, 32, (n, connection) => ({
        method: 'PATCH',
        path: `${products}/1`,
        headers: { ...json, 'idempotency-key': `${connection}-${n}-${Date.now()}-${'k'.repeat(200)}` },
        body: '{}',
      })),
  },
  {
    name: 'patch_one_record',
    run: (target, signal) =>
      flood(target, signal, 64, (n) => ({
        method: 'PATCH',
        path: `${products}/3`,
        headers: json,
        body: `{"list_price":${n}}`,
      })),
  },
  {
    name: 'key_churn',
    run: (target, signal) =>
      flood(target, signal, 16, (n) => ({
        method: 'POST',
        path: keys,
        headers: json,
        body: `{"name":"churn ${n}","scopes":["product:read"],"expires_at":"${soon()}"}`,
      })),
  },
  {
    // An address that takes the connection and says nothing: each activation waits for the timeout of a receiver.
    name: 'webhook_activations',
    run: async (target, signal) => {
      const ids: string[] = []
      for (let n = 0; n < 20; n++) {
        const body = `{"resource":"product","url":"https://127.0.0.1:${target.port}/${n}"}`
        const { text } = await ask(target, target.attacker, {
          method: 'POST',
          path: webhooks,
          headers: json,
          body,
        })
        const id = /"id":"(wh_\w+)"/.exec(text)?.[1]
        if (id !== undefined) ids.push(id)
      }
      await flood(target, signal, 64, (n) => ({
        method: 'POST',
        path: `${webhooks}/${ids[n % ids.length] ?? 'wh_0a1b2c3d4e5f60718293a4b5'}/activate`,
      }))
    },
  },
]

function soon(): string {
  return new Date(Date.now() + 3_600_000).toISOString()
}
