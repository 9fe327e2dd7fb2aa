import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { scopes } from '../../server/src/accounts/key-format.ts'
import { atEnd } from '../../server/test/at-end.ts'
import { quartermaster } from '../../server/test/command.ts'
import { account } from '../../server/test/database.ts'
import { freshService } from '../../server/test/service.ts'
import { NotFound, PreconditionFailed, Quartermaster } from '../src/index.ts'

/** Fields that an account has declared, in the client, against the real service. */

const { client, service } = await freshService({ QUARTERMASTER_DEFAULT_ACCOUNT: 'acme' })
const acme = await account(client, 'acme', scopes, 'service')

for (const [name, type, unique] of [
  ['x_sku', 'text', true],
  ['x_number', 'integer', true],
  ['x_weight', 'decimal', false],
] as const) {
  const { status } = await service.request(acme, 'POST', '/manage/v1/fields', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resource: 'product', name, type, unique, label: 'Net weight */ in kg' }),
  })
  if (status !== 201) throw new Error(`${name} was not declared: ${status}`)
}

const baseUrl = `http://127.0.0.1:${service.port}`
const options = {
  baseUrl,
  apiKey: acme.key,
  fields: { product: { x_sku: 'text', x_number: 'integer', x_weight: 'decimal' } },
} as const
const qm = new Quartermaster(options)
const exact = new Quartermaster({ ...options, decimals: 'string' })

it('are written by quartermaster types as a module', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'types-'))
  atEnd(() => rmSync(folder, { recursive: true }))
  const { code, stdout } = await quartermaster(['types', '--url', baseUrl], {}, `${acme.key}\n`)
  expect(code).toBe(0)
  expect(stdout).toContain(`    /** Net weight * / in kg */\n    x_weight: 'decimal',`)
  const path = join(folder, 'fields.mts')
  writeFileSync(path, stdout)
  const module: { fields: unknown } = await import(path)
  expect(module.fields).toEqual(options.fields)

  for (const [url, key, message] of [
    [baseUrl, '', 'Standard input has no API key.'],
    [baseUrl, acme.key.replace(/.$/, '_'), `The service at ${baseUrl} rejects the key.`],
    ['acme', acme.key, 'acme is not a URL such as https://acme.example.com.'],
    ['http://127.0.0.1:1', acme.key, 'No response from http://127.0.0.1:1/openapi.json.'],
  ] as const) {
    const failed = await quartermaster(['types', '--url', url], {}, key)
    expect([failed.code, failed.stdout]).toEqual([1, ''])
    expect(failed.stderr).toContain(message)
  }
})

it('reads, writes and filters them', async () => {
  const { id } = await qm.products.create({ name: 'Bolt', x_sku: 'A/1', x_weight: '123456789012345678.125' })
  const record = await qm.products.get(id, { fields: ['x_sku', 'x_weight'] })
  expect(record).toEqual({ x_sku: 'A/1', x_weight: 123456789012345680 })
  const filter = (product: Parameters<Parameters<typeof qm.products.where>[0]>[0]) =>
    product.x_weight.gt(1).and(product.x_sku.contains('a/'))
  expect((await qm.products.list({ filter })).data.map((found) => found.id)).toEqual([id])
  expect((await exact.products.get(id)).x_weight).toBe('123456789012345678.125')
  await qm.products.delete(id)
})

it('addresses records by the value of a unique one', async () => {
  const key = { x_sku: 'Ä 2/3?' }
  const created = await qm.products.put(key, { name: 'Nut', qty_available: 5 })
  expect(await qm.products.put(key, { list_price: 2 })).toMatchObject({
    id: created.id,
    name: 'Nut',
    list_price: 2,
  })
  expect((await qm.products.get(key, { fields: ['id'] })).id).toBe(created.id)
  expect((await qm.products.adjust(key, { qty_available: -2 })).qty_available).toBe(3)
  expect((await qm.products.update(key, { x_number: 7 })).x_number).toBe(7)
  expect((await qm.products.get({ x_number: 7 })).x_sku).toBe('Ä 2/3?')
  await qm.products.delete(key)
  await expect(qm.products.get(key)).rejects.toBeInstanceOf(NotFound)
  await expect(qm.products.update(key, { name: 'None' })).rejects.toBeInstanceOf(PreconditionFailed)
  await expect(qm.products.get({ x_sku: 'a', x_number: 1 })).rejects.toThrow('by one unique field')
})

it('writes rows by a unique one, with ids of the service', async () => {
  const rows = Array.from({ length: 6_000 }, (_, i) => ({ x_sku: `S-${i}`, name: `Row ${i}` }))
  const first = await qm.products.upsert(rows, { key: 'x_sku' })
  expect(first).toMatchObject({ read: 6_000, inserted: 6_000 })
  const rejected: unknown[] = []
  const second = await qm.products.upsert(
    [...rows, { $delete: { x_sku: 'S-0' } }, { x_sku: 'S-9', list_price: 'cheap' }],
    {
      key: 'x_sku',
      onRejected: ({ field, index }) => rejected.push([field, index]),
    },
  )
  expect(second).toMatchObject({ read: 6_002, unchanged: 6_000, deleted: 1, rejected: 1 })
  expect(rejected).toEqual([['list_price', 6_001]])
  const existing = await qm.products.upsert([{ x_sku: 'S-1', name: 'Other' }], {
    key: 'x_sku',
    mode: 'insert',
    onRejected: ({ code, id }) => rejected.push([code, typeof id]),
  })
  expect([existing.rejected, rejected[1]]).toEqual([1, ['record_exists', 'number']])
})
