import { expect, it } from 'vitest'
import { account, type TestAccount } from './database.ts'
import { freshService } from './service.ts'

const products = '/api/v1/inventory/product'

const { client, service } = await freshService()
const manager = await account(client, 'acme')
const reader = await account(client, 'globex', ['product:read'])

const timing = async (of: TestAccount, path: string, headers: Record<string, string> = {}) =>
  (await service.request(of, 'GET', path, { headers })).headers.get('server-timing')

it('is sent to keys with account:manage', async () => {
  const first = await timing(manager, products)
  expect(first).toMatch(/^auth;dur=[\d.]+, read;dur=[\d.]+, source;desc=read, total;dur=[\d.]+$/)
  const [check = 0, read = 0, total = 0] = [...(first ?? '').matchAll(/dur=([\d.]+)/g)].map((one) =>
    Number(one[1]),
  )
  expect(check).toBeGreaterThan(0)
  expect(read).toBeGreaterThan(0)
  expect(total).toBeGreaterThanOrEqual(check + read)
  expect(await timing(manager, products)).toMatch(/^auth;dur=[\d.]+, source;desc=cached, total;dur=[\d.]+$/)
  const { headers } = await service.request(manager, 'GET', products)
  expect(await timing(manager, products, { 'if-none-match': headers.get('etag') ?? '' })).toMatch(
    'source;desc=unchanged',
  )
  expect(await timing(manager, `${products}/77`)).toMatch(
    /^auth;dur=[\d.]+, read;dur=[\d.]+, total;dur=[\d.]+$/,
  )
})

it('is not sent to other keys', async () => {
  expect(await timing(reader, products)).toBeNull()
  expect(await timing({ ...manager, key: 'qm_wrong' }, products)).toBeNull()
  expect(await timing(manager, '/livez')).toBeNull()
})
