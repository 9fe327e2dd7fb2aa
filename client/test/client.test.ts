import { describe, expect, it } from 'vitest'
import { importRecords } from '../../server/src/import/import-records.ts'
import { account } from '../../server/test/database.ts'
import { freshService } from '../../server/test/service.ts'
import {
  BaseUrlInvalid,
  filter,
  MemoryCache,
  NotFound,
  Quartermaster,
  RequestInvalid,
  Unauthenticated,
} from '../src/index.ts'

/** The client against the real service. It uses QUARTERMASTER_DEFAULT_ACCOUNT, because fetch cannot set the Host header. */

const statuses: number[] = []

const { url, client: database, service } = await freshService({ QUARTERMASTER_DEFAULT_ACCOUNT: 'acme' })
const acme = await account(database, 'acme')
const records = Array.from({ length: 2_500 }, (_, at) => ({
  id: at + 1,
  name: at % 5 === 0 ? `Bolt & "nut", ${at}` : `Pin ${at}`,
  list_price: at / 100,
  default_code: at % 2 === 0 ? `C-${at}` : null,
}))
await importRecords({ ownerUrl: url, account: 'acme', resource: 'product', records })
const qm = new Quartermaster({
  baseUrl: `http://127.0.0.1:${service.port}`,
  apiKey: acme.key,
  cache: new MemoryCache(),
  fetch: async (input, init) => {
    const response = await fetch(input, init)
    statuses.push(response.status)
    return response
  },
})

async function everyId(filterText?: string, limit = 1_000): Promise<number[]> {
  const ids: number[] = []
  for await (const { id } of qm.products.all({ fields: ['id'], filter: filterText, limit })) ids.push(id)
  return ids
}

/** Deletes records as the service would: in one transaction with the new total and version of the tally. */
async function deleteProducts(...ids: readonly number[]): Promise<void> {
  await database.query(
    `with deleted as (delete from product where account_id = $1 and id = any($2::bigint[]) returning 1)
     update tally set version = version + 1, total = total - (select count(*) from deleted)
     where account_id = $1 and resource = 'product'`,
    [acme.accountId, ids],
  )
}

describe('lists', () => {
  it('have the requested fields, the page and the total', async () => {
    const page = await qm.products.list({ fields: ['name', 'id'], filter: 'id>3', limit: 2, page: 2 })
    expect(page.data).toEqual([
      { name: 'Bolt & "nut", 5', id: 6 },
      { name: 'Pin 6', id: 7 },
    ])
    expect(page.meta).toEqual({ count: 2, total: 2_497 })
    expect(page.pagination).toEqual({ previousPage: 1, currentPage: 2, nextPage: 3, totalPages: 1_249 })
    expect(page.version).toMatch(/^[0-9a-f]{12}-\d+$/)
  })

  it('return the same records for a string, a template and a builder, by GET and by QUERY', async () => {
    const name = 'Bolt & "nut", 5'
    const totals = [
      await qm.products.list({ filter: 'name="Bolt & \\"nut\\", 5"' }),
      await qm.products.list({ filter: filter`name=${name}` }),
      await qm.products.list({ filter: (product) => product.name.eq(name) }),
      await qm.products.list({
        filter: (product) => product.name.in([name, ...Array(300).fill('no such product')]),
      }),
    ]
    expect(totals.map(({ data }) => data.map(({ id }) => id))).toEqual([[6], [6], [6], [6]])
  })

  it('come from the cache until the data changes', async () => {
    const list = () => qm.products.list({ fields: ['id'], filter: 'id<=2400&id>2398' })
    const first = await list()
    const second = await list()
    expect(statuses.slice(-2)).toEqual([200, 304])
    expect(second).toEqual({ ...first, requestId: second.requestId })
    await deleteProducts(2_400)
    const third = await list()
    expect(third.data).toEqual([{ id: 2_399 }])
    expect(third.version).not.toBe(first.version)
  })
})

describe('summaries', () => {
  it('have the groups, sums and counts of the matching records', async () => {
    const summary = await qm.products.summary({
      filter: (product) => product.id.lte(10),
      group: ['active', 'create_date:month'],
      sum: ['id', 'list_price'],
      min: ['id'],
      avg: ['list_price'],
    })
    const [first] = summary.data
    expect(summary.data).toHaveLength(1)
    expect(first).toMatchObject({ count: 10, sum: { id: 55, list_price: 0.45 }, min: { id: 1 } })
    expect(first?.avg.list_price).toBe(0.045)
    expect(first?.group.active).toBe(true)
    expect(first?.group.create_date).toMatch(/^\d{4}-\d{2}-01$/)
    expect(summary.meta).toEqual({ count: 1, total: 10 })
    expect(summary.version).toMatch(/^[0-9a-f]{12}-\d+$/)
  })

  it('come from the cache, also by QUERY, and have exact decimals as strings', async () => {
    const exact = new Quartermaster({
      baseUrl: `http://127.0.0.1:${service.port}`,
      apiKey: acme.key,
      decimals: 'string',
    })
    const { data } = await exact.products.summary({ filter: 'id<=10', sum: ['id', 'list_price'] })
    expect(data).toEqual([{ group: {}, count: 10, sum: { id: 55, list_price: '0.45' } }])
    const read = () => qm.products.summary({ filter: 'id<=5', sum: ['id'] })
    const first = await read()
    const second = await read()
    expect(statuses.slice(-2)).toEqual([200, 304])
    expect(second.data).toEqual(first.data)
    const name = Array.from({ length: 300 }, () => 'no such product')
    const long = await qm.products.summary({ filter: (product) => product.name.in(['Pin 1', ...name]) })
    expect(long.data).toEqual([{ group: {}, count: 1 }])
  })
})

describe('one record', () => {
  it('is found by its id', async () => {
    expect(await qm.products.get(2, { fields: ['id', 'default_code'] })).toEqual({
      id: 2,
      default_code: null,
    })
    expect(Object.keys(await qm.products.get(2))).toContain('write_date')
  })

  it('at a wrong baseUrl does not throw NotFound: a sync that deletes missing records would delete all', async () => {
    const misconfigured = new Quartermaster({
      baseUrl: `http://127.0.0.1:${service.port}/elsewhere`,
      apiKey: acme.key,
    })
    const wrong = misconfigured.products.get(2)
    await expect(wrong).rejects.toBeInstanceOf(BaseUrlInvalid)
    await expect(wrong).rejects.not.toBeInstanceOf(NotFound)
    await expect(wrong).rejects.toThrow('Check baseUrl')
    await expect(wrong).rejects.toMatchObject({ code: 'path_unknown', status: 404 })
  })

  it('that does not exist throws NotFound', async () => {
    await expect(qm.products.get(1_000_000)).rejects.toBeInstanceOf(NotFound)
    await expect(qm.companies.get(1)).rejects.toThrow('There is no company with the id "1".')
  })
})

describe('partners', () => {
  it('are created once per idempotency key', async () => {
    const first = await qm.partners.create({ name: 'Nordwind' }, { idempotencyKey: 'order-1' })
    expect(await qm.partners.create({ name: 'Nordwind' }, { idempotencyKey: 'order-1' })).toEqual(first)
    const other = await qm.partners.create({ name: 'Nordwind' })
    expect(other.id).toBe(first.id + 1)
    expect(await qm.partners.get(first.id, { fields: ['name'] })).toEqual({ name: 'Nordwind' })
    await expect(qm.partners.create({ name: '' })).rejects.toBeInstanceOf(RequestInvalid)
  })
})

describe('errors', () => {
  it('show the position in the filter', async () => {
    const wrong = qm.products.list({ filter: 'active=true&list_prise>10' })
    await expect(wrong).rejects.toMatchObject({
      offset: 12,
      length: 10,
      code: 'request_invalid',
      status: 400,
    })
    await expect(wrong).rejects.toThrow(
      '  active=true&list_prise>10\n              ^^^^^^^^^^\nSuggestion: active=true&list_price>10',
    )
  })

  it('report an invalid API key', async () => {
    const unauthenticated = new Quartermaster({
      baseUrl: `http://127.0.0.1:${service.port}`,
      apiKey: 'qm_nothing',
    })
    await expect(unauthenticated.products.list()).rejects.toBeInstanceOf(Unauthenticated)
  })
})

/** Each filter is at a limit of the language, or would mean something else in parentheses. */
const filtersAtLimits = [
  'name*:)|name*pin',
  `${'name=no|'.repeat(199)}name*pin`,
  `${'('.repeat(32)}name*pin|name=no${')'.repeat(32)}`,
  `name*pin|name=${'x'.repeat(65_536 - 'name*pin|name='.length)}`,
]

describe('all()', () => {
  it('yields every record once, with or without its id', async () => {
    const { total } = (await qm.products.list()).meta
    const ids = await everyId(undefined, 100)
    expect(new Set(ids).size).toBe(total)
    expect(ids).toHaveLength(total)
    const names: object[] = []
    for await (const product of qm.products.all({ fields: ['name'], filter: 'id<=2' })) names.push(product)
    expect(names).toEqual([{ name: 'Bolt & "nut", 0' }, { name: 'Pin 1' }])
  })

  it('misses no record while earlier records are deleted', async () => {
    const filters = [undefined, 'default_code!=null|name*pin', ...filtersAtLimits]
    for (const filterText of filters) {
      const before = await everyId(filterText)
      const deleted = new Set<number>()
      const seen: number[] = []
      for await (const { id } of qm.products.all({ fields: ['id'], filter: filterText, limit: 50 })) {
        seen.push(id)
        if (seen.length % 170 !== 0) continue
        const victims = [seen[seen.length - 100] ?? 0, before[before.length - seen.length / 17] ?? 0]
        for (const victim of victims) deleted.add(victim)
        await deleteProducts(...victims)
      }
      expect(deleted.size).toBeGreaterThan(10)
      expect(seen).toEqual([...new Set(seen)])
      expect(before.filter((id) => !deleted.has(id) && !seen.includes(id))).toEqual([])
    }
  })
})
