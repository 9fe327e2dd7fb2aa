import { describe, expect, it } from 'vitest'
import { scopes } from '../../server/src/accounts/key-format.ts'
import { account } from '../../server/test/database.ts'
import { freshService } from '../../server/test/service.ts'
import {
  NotFound,
  PreconditionFailed,
  Quartermaster,
  type RejectedRow,
  RequestInvalid,
  type UpsertTotals,
} from '../src/index.ts'

/** Writes of the client against the real service. */

/** How often the response to a request with this path is lost, after the service has processed it. */
const lost = new Map<string, number>()

const { client, service } = await freshService({ QUARTERMASTER_DEFAULT_ACCOUNT: 'acme' })
const acme = await account(client, 'acme', scopes, 'external')
const options = {
  baseUrl: `http://127.0.0.1:${service.port}`,
  apiKey: acme.key,
  fetch: async (input: string | URL | Request, init?: RequestInit) => {
    const response = await fetch(input, init)
    const path = new URL(response.url).pathname
    const times = lost.get(path) ?? 0
    if (times === 0) return response
    lost.set(path, times - 1)
    await response.text()
    throw new TypeError('fetch failed')
  },
}
const qm = new Quartermaster(options)
const exact = new Quartermaster({ ...options, decimals: 'string' })

const path = '/api/v1/inventory/product'

describe('one record', () => {
  it('is created, changed and deleted once, although responses are lost', async () => {
    lost.set(path, 2)
    const { id } = await qm.products.create({ name: 'Bolt', list_price: '1.50', default_code: 'B-1' })
    expect((await qm.products.list({ limit: 1 })).meta.total).toBe(1)
    lost.set(`${path}/${id}`, 1)
    const changed = await qm.products.update(id, { list_price: 2, default_code: null })
    expect(changed).toMatchObject({ id, name: 'Bolt', list_price: 2, default_code: null })
    lost.set(`${path}/${id}`, 1)
    await qm.products.delete(id)
    await expect(qm.products.get(id)).rejects.toBeInstanceOf(NotFound)
    await expect(qm.products.delete(id)).rejects.toBeInstanceOf(NotFound)
  })

  it('is adjusted once, although responses are lost', async () => {
    const { id } = await qm.products.create({ name: 'Counted', qty_available: 10 })
    lost.set(`${path}/${id}/adjust`, 2)
    const adjusted = await qm.products.adjust(id, { qty_available: -3, list_price: '0.5' })
    expect(adjusted).toMatchObject({ id, qty_available: 7, list_price: 0.5 })
    await qm.products.update(id, { name: 'Changed' }, { ifMatch: adjusted })
    await expect(qm.products.adjust(id, { qty_available: 1 }, { ifMatch: adjusted })).rejects.toBeInstanceOf(
      PreconditionFailed,
    )
    expect((await qm.products.get(id)).qty_available).toBe(7)
    await qm.products.delete(id)
  })

  it('has its ETag in fields and in changes, which rows take', async () => {
    const { id } = await qm.products.create({ name: 'Conditional' })
    const { etag } = await qm.products.get(id, { fields: ['etag'] })
    const changes = qm.products.changes()
    for await (const change of changes) if (change.id === id) expect(change).toMatchObject({ etag })
    const rejected: unknown[] = []
    const rows = [
      { id, name: 'First', $if_match: etag },
      { id, name: 'Second', $if_match: etag },
    ]
    await qm.products.upsert(rows, { onRejected: ({ row, code }) => rejected.push([row.name, code]) })
    expect(rejected).toEqual([['Second', 'changed']])
    expect((await qm.products.get(id)).name).toBe('First')
    await qm.products.delete(id)
  })

  it('says who wrote it and who deleted it, if fields name that', async () => {
    const { id } = await qm.products.create({ name: 'Signed' })
    const written = await qm.products.get(id, { fields: ['created_by', 'changed_by'] })
    expect(written).toEqual({ created_by: acme.key.slice(3, 11), changed_by: written.created_by })
    let since: string | undefined
    for await (const { cursor } of qm.products.changes()) since = cursor
    await qm.products.delete(id)
    const deleted: unknown[] = []
    for await (const change of qm.products.changes({ fields: ['changed_by'], ...(since && { since }) }))
      if (change.change === 'deleted') deleted.push([change.id, change.deleted_by])
    expect(deleted).toEqual([[id, written.changed_by]])
  })

  it('is changed only if no one else has changed it', async () => {
    const { id } = await qm.products.create({ name: 'Bolt' })
    const mine = await qm.products.get(id, { fields: ['name'] })
    const theirs = await qm.products.get(id)
    const changed = await qm.products.update(id, { name: 'Theirs' }, { ifMatch: theirs })
    await expect(qm.products.update(id, { name: 'Mine' }, { ifMatch: mine })).rejects.toBeInstanceOf(
      PreconditionFailed,
    )
    await expect(qm.products.delete(id, { ifMatch: mine })).rejects.toBeInstanceOf(PreconditionFailed)
    await expect(qm.products.delete(id, { ifMatch: { id } })).rejects.toBeInstanceOf(TypeError)
    await qm.products.delete(id, { ifMatch: changed })
  })
})

describe('decimals as strings', () => {
  const price = '123456789012345678901234.123456789012'

  it('have every digit in every response, and other numbers stay numbers', async () => {
    const { id } = await exact.products.create({ name: '"list_price":1.50', list_price: price })
    const updated = await exact.products.update(id, { qty_available: '-0.000000000001', categ_id: 7 })
    expect(updated).toMatchObject({
      id,
      name: '"list_price":1.50',
      list_price: price,
      qty_available: '-0.000000000001',
      categ_id: 7,
    })
    expect(await exact.products.get(id)).toEqual(updated)
    const filter = `id=${id}`
    expect((await exact.products.list({ filter })).data).toEqual([updated])
    for await (const record of exact.products.all({ filter })) expect(record).toEqual(updated)
    for await (const record of exact.products.export({ filter })) expect(record).toEqual(updated)
    for await (const change of exact.products.changes({ filter }))
      if (change.id === id) expect(change).toMatchObject({ record: updated })
    expect((await qm.products.get(id)).list_price).toBe(Number(price))
  })
})

describe('upsert', () => {
  it('writes any number of rows, reports progress, and repeats batches that were not confirmed', async () => {
    lost.set(`${path}/batch`, 2)
    const progress: UpsertTotals[] = []
    const rows = async function* () {
      for (let id = 10_001; id <= 22_000; id++) yield { id, name: `Row ${id}`, list_price: '0.10' }
    }
    const totals = await qm.products.upsert(rows(), { onProgress: (so_far) => progress.push(so_far) })
    // The first batch was written by the attempt whose response was lost.
    expect(totals).toEqual({
      read: 12_000,
      inserted: 7_000,
      updated: 0,
      unchanged: 5_000,
      deleted: 0,
      rejected: 0,
    })
    expect(progress.map(({ read }) => read)).toEqual([5_000, 10_000, 12_000])
    expect((await qm.products.list({ filter: 'id>=10001&id<=22000' })).meta.total).toBe(12_000)
  })

  it('passes rejected rows to the caller, and writes the others', async () => {
    const rows = Array.from({ length: 6_000 }, (_, i) => ({ id: 30_001 + i, name: 'Row' }))
    rows[2] = { id: 30_003, name: 'x'.repeat(600) }
    rows[5_500] = { id: 0, name: 'No id' }
    const rejected: RejectedRow<(typeof rows)[number]>[] = []
    const totals = await qm.products.upsert(rows, { onRejected: (row) => rejected.push(row) })
    expect(totals).toMatchObject({ read: 6_000, inserted: 5_998, rejected: 2 })
    expect(rejected).toMatchObject([
      { index: 2, row: rows[2], field: 'name' },
      { index: 5_500, row: rows[5_500], field: 'id', reason: 'is below 1' },
    ])
    await qm.products.upsert(rows.map(({ id }) => ({ $delete: id })).filter(({ $delete }) => $delete > 0))
    expect((await qm.products.list({ filter: 'id>=30001&id<=36000' })).meta.total).toBe(0)
  })

  it('changes only records that exist, if the rows were read here', async () => {
    const { id } = await qm.partners.create({ name: 'Nordwind' })
    const rows = [
      { id, name: 'Ostwind' },
      { id: 77, name: 'Unknown' },
    ]
    const rejected: unknown[] = []
    const totals = await qm.partners.upsert(rows, {
      mode: 'update',
      onRejected: ({ row }) => rejected.push(row),
    })
    expect(totals).toMatchObject({ updated: 1, inserted: 0, rejected: 1 })
    expect(rejected).toEqual([rows[1]])
    expect(await qm.partners.get(id)).toMatchObject({ name: 'Ostwind' })
  })

  it('says that ids are external from now on', async () => {
    const other = await account(client, 'first', scopes)
    const first = new Quartermaster({
      baseUrl: `http://127.0.0.1:${service.port}`,
      apiKey: other.key,
      fetch: async (input, init) => {
        const headers = new Headers(init?.headers)
        headers.set('x-forwarded-host', 'first.localhost')
        return await fetch(input, { ...init, headers })
      },
    })
    expect(await first.partners.upsert([{ id: 1, name: 'A' }])).toMatchObject({ idsNow: 'external' })
    expect(await first.partners.upsert([{ id: 2, name: 'B' }])).not.toHaveProperty('idsNow')
  })

  it('throws if the service cannot process a batch', async () => {
    await expect(qm.products.upsert([{ id: 1, name: 'x', nmae: 'y' }])).rejects.toBeInstanceOf(RequestInvalid)
    const long = [
      ...Array.from({ length: 1_500 }, (_, i) => ({ id: 40_001 + i, name: 'Row' })),
      { id: 50_000, name: 'x'.repeat(1_100_000) },
    ]
    await expect(qm.products.upsert(long)).rejects.toMatchObject({ code: 'body_invalid', status: 400 })
  })
})
