import { beforeEach, expect, it } from 'vitest'
import { generateKey } from '../src/accounts/key-format.ts'
import { account, insertProducts, type TestAccount } from './database.ts'
import { productReads } from './product-reads.ts'
import { freshService, startTestService } from './service.ts'

/** Reads that are sent together with the verification of the key. */

const products = '/api/v1/inventory/product'
let acme: TestAccount
let accounts = 0

// A busy machine must not make a key too old for these tests.
const { url, client, service } = await freshService({}, { readAheadMs: 600_000 })
await client.query('create extension if not exists pg_stat_statements')

beforeEach(async () => {
  acme = await account(client, `acme-${++accounts}`)
  await insertProducts(client, acme, 20)
})

const get = (path: string, by: { name: string; key: string } = acme) =>
  service.request(by, 'GET', `${products}${path}`)

const reads = () => productReads(client)

async function readsOf(work: () => Promise<unknown>): Promise<number> {
  const before = await reads()
  await work()
  return (await reads()) - before
}

it('each read is sent once, and has the response of its own request', async () => {
  expect((await get('/1')).status).toBe(200)
  const work = async () => {
    expect((await get('/2?fields=name,id')).body).toEqual({ data: { name: 'Product 2', id: 2 } })
    expect((await get('/21')).status).toBe(404)
    expect((await get('?limit=3&page=2&fields=id')).body).toMatchObject({
      data: [{ id: 4 }, { id: 5 }, { id: 6 }],
      meta: { count: 3, total: 20 },
    })
  }
  expect(await readsOf(work)).toBe(3)
})

it('many requests at once, of several accounts, get their own records with their own fields', async () => {
  const others = [acme]
  for (const name of ['one', 'two', 'three']) {
    const other = await account(client, `${name}-${accounts}`)
    await insertProducts(client, other, 20, `${name} `)
    others.push(other)
  }
  for (const other of others) expect((await get('/1', other)).status).toBe(200)
  const names = ['Product ', 'one ', 'two ', 'three ']
  const fields = ['id,name', 'name,id', 'name', 'id,active,name']
  await Promise.all(
    Array.from({ length: 400 }, async (_, n) => {
      const id = 1 + (n % 22)
      const by = n % 4
      const response = await get(`/${id}?fields=${fields[(n >> 2) % 4]}`, others[by])
      if (id > 20) expect(response.status).toBe(404)
      else expect(response.body).toMatchObject({ data: { name: `${names[by]}${id}` } })
    }),
  )
})

it('a write is visible to the next request', async () => {
  await get('/1')
  for (let n = 1; n <= 20; n++) {
    const changed = await service.request(acme, 'PATCH', `${products}/1`, {
      body: JSON.stringify({ name: `name ${n}` }),
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    expect(changed.status).toBe(200)
    expect((await get('/1')).body).toMatchObject({ data: { name: `name ${n}` } })
    expect((await get('?limit=1')).body).toMatchObject({ data: [{ name: `name ${n}` }] })
  }
})

it('wrong keys, and keys of other accounts, cause no read', async () => {
  await get('/1')
  const other = await account(client, `other-${accounts}`)
  const work = async () => {
    for (let id = 2; id < 8; id++) {
      expect((await get(`/${id}`, { ...acme, key: generateKey() })).status).toBe(401)
      expect((await get(`/${id}`, { ...acme, key: other.key })).status).toBe(401)
    }
  }
  expect(await readsOf(work)).toBe(0)
})

it('a revoked key causes at most one read, and never gets its rows', async () => {
  await get('/1')
  await client.query('update api_key set revoked_at = now() where account_id = $1', [acme.accountId])
  const work = async () => {
    for (let id = 2; id < 8; id++) expect((await get(`/${id}`)).status).toBe(401)
  }
  expect(await readsOf(work)).toBeLessThanOrEqual(1)
})

it('requests without the scope, or that are not valid, cause no read', async () => {
  const reader = await account(client, `reader-${accounts}`, ['partner:read'])
  await insertProducts(client, reader, 5)
  const work = async () => {
    for (let n = 1; n < 4; n++) {
      expect((await get(`/${n}`, reader)).status).toBe(403)
      expect((await get(`?limit=${n}`, reader)).status).toBe(403)
      expect((await get(`/${n}?fields=nope`)).status).toBe(400)
      expect((await get(`?limit=0&page=${n}`)).status).toBe(400)
      expect((await get(`/0${n}`)).status).toBe(404)
    }
  }
  expect(await readsOf(work)).toBe(0)
})

it('a key beyond its rate causes no read', async () => {
  const limited = await startTestService(
    url,
    { QUARTERMASTER_KEY_REQUESTS_PER_MINUTE: '3' },
    { readAheadMs: 600_000 },
  )
  try {
    const statuses: number[] = []
    const work = async () => {
      for (let id = 1; id <= 8; id++)
        statuses.push((await limited.request(acme, 'GET', `${products}/${id}`)).status)
    }
    expect(await readsOf(work)).toBe(3)
    expect(statuses).toEqual([200, 200, 200, 429, 429, 429, 429, 429])
  } finally {
    await limited.close()
  }
})

it('nothing is read for a client that has the current list', async () => {
  const { headers } = await get('?limit=7')
  const conditional = () =>
    service.request(acme, 'GET', `${products}?limit=7`, {
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    })
  expect(
    await readsOf(async () => {
      for (let n = 0; n < 5; n++) expect((await conditional()).status).toBe(304)
    }),
  ).toBe(0)
})
