import { products } from '../../load/fixture.ts'
import type { Attack, Target } from './attack.ts'
import { ask, endless, flood } from './requests.ts'

const partners = '/api/v1/resources/partner'
const companies = '/api/v1/resources/company'
const keys = '/manage/v1/keys'
const webhooks = '/manage/v1/webhooks'
const json = { 'content-type': 'application/json' }
/** Texts as long as they may be, because bytes count here. */
const long = 'é'.repeat(500)

/** Everything that stores something, all at once: what one account can make the service keep. */
export const growth: Attack = {
  name: 'growth',
  run: async (target, signal) => {
    await Promise.all([
      flood(target, signal, 8, (n) => ({
        method: 'POST',
        path: n % 2 === 0 ? partners : companies,
        headers: { ...json, 'idempotency-key': `${n}-${Date.now()}-${'k'.repeat(220)}` },
        body: JSON.stringify(
          n % 2 === 0 ? { name: `${long}${n}` } : { name: `${long}${n}`, branch_user: String(n) },
        ),
      })),
      // Rows that are replaced and deleted leave before-images and tombstones.
      endless(target, signal, 1, `${products}/batch`, (n) => rows(n)),
      flood(target, signal, 4, (n) => ({
        path: `${products}?limit=1&filter=${encodeURIComponent(`name*${n}${'x'.repeat(1_500)}`)}`,
      })),
      changeKeys(target, signal),
      useWebhooks(target, signal),
    ])
  },
}

/** Each part inserts 200 products, and deletes those of the part before the last. */
function rows(n: number): string {
  const ids = Array.from({ length: 200 }, (_, i) => 1_000_000 + n * 200 + i)
  return ids.map((id) => `{"id":${id},"name":"${long}"}\n{"$delete":${id - 400}}\n`).join('')
}

/** Each creation and each revocation writes an audit entry. */
async function changeKeys(target: Target, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const created = await ask(target, target.attacker, {
      method: 'POST',
      path: keys,
      headers: json,
      body: `{"name":"${'n'.repeat(90)}","scopes":["product:read"]}`,
    })
    const id = /"key_id":"(\w+)"/.exec(created.text)?.[1]
    await ask(target, target.attacker, { method: 'POST', path: `${keys}/${id ?? 'AAAAAAAA'}/revoke` })
  }
}

/** Each attempt to activate a webhook and each test message is an entry of the delivery log. */
async function useWebhooks(target: Target, signal: AbortSignal): Promise<void> {
  const { text } = await ask(target, target.attacker, {
    method: 'POST',
    path: webhooks,
    headers: json,
    body: `{"resource":"product","url":"https://127.0.0.1:${target.port}/"}`,
  })
  const id = /"id":"(wh_\w+)"/.exec(text)?.[1] ?? 'wh_0a1b2c3d4e5f60718293a4b5'
  await flood(target, signal, 2, (n) => ({
    method: 'POST',
    path: `${webhooks}/${id}/${n % 2 === 0 ? 'activate' : 'test'}`,
  }))
}
