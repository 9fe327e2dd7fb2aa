import { setTimeout as sleep } from 'node:timers/promises'
import { importRecords } from '../../../server/src/import/import-records.ts'
import type { Check, Context } from '../check.ts'
import { headersFor } from '../client.ts'
import { Random } from '../random.ts'
import { waitUntil } from '../wait-until.ts'
import { anyProduct, asJson } from './products.ts'
import { account, addWebhook, startWebhookFixture, type WebhookFixture } from './webhook-fixture.ts'

const writeMsMax = 1000
const importMsMax = 15_000

/** The time from the response to a write until its change is received, and the same after an import by another process. */
export const webhookDelay: Check = {
  name: 'webhook_delay_p95',
  bound: `≤ ${writeMsMax / 1000} s / ≤ ${importMsMax / 1000} s`,
  async run(context) {
    const fixture = await startWebhookFixture()
    try {
      return await measure(context, fixture)
    } finally {
      await fixture.stop()
    }
  },
}

async function measure(context: Context, fixture: WebhookFixture) {
  const { service, environment } = fixture
  const { port } = await service.serve(environment)
  await addWebhook(fixture, port, { fields: ['name'] })
  const random = new Random(context.seed, 90)
  const afterWrites: number[] = []
  for (let i = 0; i < context.size(200, 20); i++) {
    const name = `written ${i}`
    afterWrites.push(
      await delayOf(fixture, name, () => create(fixture, port, { ...asJson(anyProduct(random)), name })),
    )
    // Writes at any time of the sweep interval.
    await sleep(random.integer(0, 200))
  }
  const afterImports: number[] = []
  for (let i = 0; i < context.size(20, 3); i++) {
    const name = `imported ${i}`
    const records = [{ id: 1_000_000 + i, ...asJson(anyProduct(random)), name }]
    const load = () =>
      importRecords({ ownerUrl: service.postgres.url, account, resource: 'product', records })
    afterImports.push(await delayOf(fixture, name, load))
    await sleep(random.integer(0, 2000))
  }
  const [written, imported] = [p95(afterWrites), p95(afterImports)]
  const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
  return {
    value: `${seconds(written)} / ${seconds(imported)}`,
    samples: Math.min(afterWrites.length, afterImports.length),
    ok: written <= writeMsMax && imported <= importMsMax,
    note: `${afterWrites.length} writes, ${afterImports.length} imports`,
  }
}

async function delayOf(
  { receiver }: WebhookFixture,
  name: string,
  write: () => Promise<unknown>,
): Promise<number> {
  const hasArrived = () => receiver.changes.some(({ record }) => record?.['name'] === name)
  await write()
  const at = performance.now()
  await waitUntil(hasArrived, 120_000, `${name} was not received`)
  const ms = performance.now() - at
  receiver.messages.length = 0
  return ms
}

async function create({ client, key }: WebhookFixture, port: number, body: object): Promise<void> {
  const response = await client.send({
    port,
    method: 'POST',
    path: '/api/v1/inventory/product',
    headers: [...headersFor(account, key), 'Content-Type', 'application/json'],
    body: JSON.stringify(body),
  })
  if (response.status !== 201) throw new Error(`${response.status} ${response.text}`)
}

function p95(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? 0
}
