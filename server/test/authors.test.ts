import { createHash } from 'node:crypto'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { exportAccount } from '../src/archive/export-account.ts'
import { accountRestore } from '../src/cli/commands/archive-command.ts'
import { importRecords } from '../src/import/import-records.ts'
import { limits } from '../src/limits/limits.ts'
import { account, type TestAccount } from './database.ts'
import { freshService, type TestResponse } from './service.ts'

/** Who created and last changed a record, over every way to write it. */

const products = '/api/v1/inventory/product'
const authorFields = 'fields=created_by,changed_by'

const { url, client, service } = await freshService()
let accounts = 0

interface Author extends TestAccount {
  readonly keyId: string
}

/** An account with a unique field and two keys. */
async function twoKeys(): Promise<readonly [Author, Author]> {
  const first = await account(client, `signed${++accounts}`)
  const field = { resource: 'product', name: 'x_sku', type: 'text', unique: true }
  expect((await service.post(first, '/manage/v1/fields', field)).status).toBe(201)
  const wanted = { name: 'second', scopes: ['product:read', 'product:write'] }
  const { key, key_id: keyId } = dataOf(await service.post(first, '/manage/v1/keys', wanted))
  return [
    { ...first, keyId: first.key.slice(3, 11) },
    { ...first, key: String(key), keyId: String(keyId) },
  ]
}

function dataOf({ body }: TestResponse): Record<string, unknown> {
  return JSON.parse(JSON.stringify(body)).data
}

async function send(by: TestAccount, method: string, path: string, body?: object, headers = {}) {
  const response = await service.request(by, method, `${products}${path}`, {
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
  })
  expect(response.status, JSON.stringify(response.body)).toBeLessThan(300)
  return response
}

async function created(by: TestAccount, body: object): Promise<number> {
  return Number(dataOf(await send(by, 'POST', '', body))['id'])
}

async function authorsOf(by: TestAccount, id: number | string): Promise<unknown[]> {
  return Object.values(dataOf(await send(by, 'GET', `/${id}?${authorFields}`)))
}

async function listOf(by: TestAccount, query: string) {
  const { body } = await send(by, 'GET', `?${query}`)
  return JSON.parse(JSON.stringify(body))
}

async function changesOf(by: TestAccount, query: string): Promise<Record<string, unknown>[]> {
  const { body } = await send(by, 'GET', `/changes?${query}`)
  return JSON.parse(JSON.stringify(body)).data
}

async function batch(by: TestAccount, query: string, rows: readonly object[]): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${service.port}${products}/batch${query}`, {
    method: 'POST',
    headers: {
      'x-forwarded-host': `${by.name}.localhost`,
      authorization: `Bearer ${by.key}`,
      'content-type': 'application/x-ndjson',
    },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  })
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"rejected":0')])
}

describe('single records', () => {
  it('name the keys that created and last changed them', async () => {
    const [a, b] = await twoKeys()
    const id = await created(a, { name: 'Bolt', list_price: 1 })
    expect(await authorsOf(b, id)).toEqual([a.keyId, a.keyId])
    await send(b, 'PATCH', `/${id}`, { name: 'Hex bolt' })
    expect(await authorsOf(a, id)).toEqual([a.keyId, b.keyId])
    await send(a, 'PATCH', `/${id}`, { name: 'Hex bolt' })
    expect(await authorsOf(a, id), 'a patch that changes nothing is no write').toEqual([a.keyId, b.keyId])
    await send(a, 'POST', `/${id}/adjust`, { list_price: 2 }, { 'idempotency-key': 'one' })
    expect(await authorsOf(a, id)).toEqual([a.keyId, a.keyId])
    await send(b, 'POST', `/${id}/adjust`, { list_price: 2 }, { 'idempotency-key': 'one-b' })
    await send(a, 'POST', `/${id}/adjust`, { list_price: 2 }, { 'idempotency-key': 'one-b' })
    expect(await authorsOf(a, id), 'a replay is no write').toEqual([a.keyId, b.keyId])
  })

  it('are attributed with an Idempotency-Key, with fields of the account and by a unique field', async () => {
    const [a, b] = await twoKeys()
    const replayed = { 'idempotency-key': 'two' }
    const retried = Number(dataOf(await send(b, 'POST', '', { name: 'Nut' }, replayed))['id'])
    expect(dataOf(await send(a, 'POST', '', { name: 'Nut' }, replayed))['id']).toBe(retried)
    expect(await authorsOf(a, retried)).toEqual([b.keyId, b.keyId])
    expect(await authorsOf(a, await created(b, { name: 'Own', x_sku: 'S-1' }))).toEqual([b.keyId, b.keyId])
    await send(a, 'PATCH', '/x_sku/S-2', { name: 'Upserted' })
    expect(await authorsOf(a, 'x_sku/S-2')).toEqual([a.keyId, a.keyId])
    await send(b, 'PATCH', '/x_sku/S-2', { name: 'Upserted again' })
    expect(await authorsOf(a, 'x_sku/S-2')).toEqual([a.keyId, b.keyId])
    const mixed = dataOf(await send(a, 'GET', '/x_sku/S-2?fields=changed_by,x_sku,etag,id,created_by'))
    expect(Object.keys(mixed)).toEqual(['changed_by', 'x_sku', 'etag', 'id', 'created_by'])
    expect([mixed['changed_by'], mixed['x_sku'], mixed['created_by']]).toEqual([b.keyId, 'S-2', a.keyId])
  })

  it('have authors only on request, and nobody can set them', async () => {
    const [a] = await twoKeys()
    const id = await created(a, { name: 'Bolt' })
    const responses = [
      await send(a, 'GET', `/${id}`),
      await send(a, 'GET', ''),
      await send(a, 'GET', '/changes'),
    ]
    for (const { body } of responses) expect(JSON.stringify(body)).not.toMatch(/created_by|changed_by/)
    const refused = await service.post(a, products, { name: 'x', created_by: 'someone' })
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining('cannot be set'),
    ])
    for (const query of ['sort=created_by', 'summary?group=changed_by']) {
      const path = query.startsWith('summary') ? `/${query}` : `?${query}`
      const { status, body } = await service.request(a, 'GET', `${products}${path}`)
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringMatching(/cannot be|no order/)])
    }
  })
})

describe('batches, imports and archives', () => {
  it('name the key of the batch, whichever way it writes a record', async () => {
    const [a, b] = await twoKeys()
    await batch(a, '', [
      { id: 1, name: 'One' },
      { id: 2, name: 'Two' },
      { id: 3, name: 'Three' },
    ])
    await batch(b, '', [
      { id: 1, name: 'One!' },
      { id: 2, name: 'Two' },
      { $delete: 3 },
      { id: 4, name: 'Four' },
    ])
    expect(await authorsOf(a, 1)).toEqual([a.keyId, b.keyId])
    expect(await authorsOf(a, 2), 'an unchanged row is no write').toEqual([a.keyId, a.keyId])
    expect(await authorsOf(a, 4)).toEqual([b.keyId, b.keyId])
    await batch(a, '?key=x_sku', [
      { x_sku: 'K-1', name: 'Keyed' },
      { x_sku: 'K-1', name: 'Keyed twice' },
    ])
    await batch(b, '?key=x_sku', [
      { x_sku: 'K-1', name: 'Keyed by b' },
      { x_sku: 'K-2', name: 'New' },
    ])
    expect(await authorsOf(a, 'x_sku/K-1')).toEqual([a.keyId, b.keyId])
    expect(await authorsOf(a, 'x_sku/K-2')).toEqual([b.keyId, b.keyId])
    await batch(b, '?mode=update', [{ id: 2, name: 'Updated' }])
    await batch(a, '?mode=insert', [{ id: 9, name: 'Inserted' }])
    expect([await authorsOf(a, 2), await authorsOf(a, 9)]).toEqual([
      [a.keyId, b.keyId],
      [a.keyId, a.keyId],
    ])
    await send(a, 'POST', '/batch', { rows: [{ id: 9, name: 'As JSON' }] })
    await batch(b, '', [{ $delete: 9 }, { id: 9, name: 'Created again' }])
    expect(await authorsOf(a, 9)).toEqual([b.keyId, b.keyId])
    const text = JSON.stringify({ id: 9, name: 'x', changed_by: 'someone' })
    const refused = await service.request(a, 'POST', `${products}/batch`, {
      headers: { 'content-type': 'application/x-ndjson' },
      body: text,
    })
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining('changed_by is not written'),
    ])
  })

  it('name an import, and keep the authors of an archive', async () => {
    const [a, b] = await twoKeys()
    const load = { ownerUrl: url, account: a.name, resource: 'product' } as const
    await importRecords({ ...load, records: [1, 2].map((id) => ({ id, name: `p${id}` })) })
    expect(await authorsOf(a, 1)).toEqual(['import', 'import'])
    await send(b, 'PATCH', '/1', { name: 'changed' })
    await importRecords({
      ...load,
      records: [
        { id: 1, name: 'changed' },
        { id: 2, name: 'imported' },
      ],
    })
    expect([await authorsOf(a, 1), await authorsOf(a, 2)]).toEqual([
      ['import', b.keyId],
      ['import', 'import'],
    ])
    await importRecords({ ...load, records: [{ id: 2, name: 'imported' }], replace: true })
    expect(await deletedBy(a)).toEqual([[1, 'import']])

    const archive = await archiveOf(a)
    const copy = await restored(archive, a, `${a.name}-copy`)
    expect(await authorsOf(copy, 2)).toEqual(['import', 'import'])
    const former = await restored(withoutAuthors(archive), a, `${a.name}-former`)
    expect(await authorsOf(former, 2)).toEqual([null, 'restore'])
  })

  async function deletedBy({ accountId }: TestAccount): Promise<unknown[]> {
    const { rows } = await client.query<{ id: number; by: string }>(
      `select id::int as id, deleted_by as by from tombstone where account_id = $1 order by id`,
      [accountId],
    )
    return rows.map(({ id, by }) => [id, by])
  }

  async function archiveOf({ name }: TestAccount): Promise<string> {
    const parts: Buffer[] = []
    for await (const part of exportAccount(client, name, { records: 0, rows: 0 })) parts.push(part)
    return Buffer.concat(parts).toString()
  }

  /** As the previous version would have written it. */
  function withoutAuthors(archive: string): string {
    const lines = archive.trimEnd().split('\n').slice(0, -1)
    const [start, ...rows] = lines.map((line) => {
      const { created_by: _, changed_by: __, $table: table, ...row } = JSON.parse(line)
      if (table === undefined) return JSON.stringify(row)
      const columns = table.columns.filter((name: string) => !name.endsWith('ed_by'))
      return JSON.stringify({ $table: { ...table, columns } })
    })
    const text = [start, ...rows].map((line) => `${line}\n`).join('')
    const count = rows.filter((line) => !line.startsWith('{"$table"')).length
    const sha256 = createHash('sha256').update(text).digest('hex')
    return `${text}${JSON.stringify({ $end: { rows: count, sha256 } })}\n`
  }

  async function restored(archive: string, of: TestAccount, name: string): Promise<TestAccount> {
    const stdin = new PassThrough()
    stdin.end(archive)
    let failed = ''
    const stderr = {
      write: (text: string) => {
        failed += text
      },
    }
    const parameters = { name, replace: false, keys: true, json: false }
    const code = await accountRestore(url, '-', parameters, { stdin, stdout: new PassThrough(), stderr })
    expect([code, failed]).toEqual([0, expect.stringContaining('rows in')])
    return { ...of, name }
  }
})

describe('the change feed', () => {
  it('has authors if fields names them, and then says who deleted a record', async () => {
    const [a, b] = await twoKeys()
    const [kept, gone] = [await created(a, { name: 'kept' }), await created(a, { name: 'gone' })]
    const query = `since=${await cursorOf(a)}`
    const filtered = `since=${await cursorOf(a, 'id>0')}&filter=${encodeURIComponent('id>0')}`
    const byB = `filter=changed_by=${b.keyId}`
    const mine = `since=${await cursorOf(a, `changed_by=${b.keyId}`)}&${byB}`
    await send(b, 'PATCH', `/${kept}`, { name: 'changed' })
    await send(b, 'DELETE', `/${gone}`)
    expect((await changesOf(a, query)).at(-1)).toEqual({ change: 'deleted', id: gone, version: 5 })
    for (const since of [query, filtered]) {
      const [updated, deleted] = await changesOf(a, `${since}&fields=id,changed_by,created_by`)
      expect(updated?.['record']).toEqual({ id: kept, changed_by: b.keyId, created_by: a.keyId })
      expect(deleted).toEqual({ change: 'deleted', id: gone, version: 5, deleted_by: b.keyId })
    }
    expect((await changesOf(a, `${query}&fields=id,created_by`)).at(-1)).not.toHaveProperty('deleted_by')
    expect((await changesOf(a, mine)).map(({ change, id }) => [change, id])).toEqual([
      ['updated', kept],
      ['deleted', gone],
    ])
    await send(a, 'PATCH', `/${kept}`, { name: 'taken over' })
    expect((await changesOf(a, mine)).at(-1)).toMatchObject({ change: 'removed', id: kept })
    await batch(a, '?mode=update', [{ $delete: kept }])
    const last = (await changesOf(b, `${query}&fields=changed_by`)).at(-1)
    expect([last?.['id'], last?.['deleted_by']]).toEqual([kept, a.keyId])
  })

  async function cursorOf(by: TestAccount, filter?: string): Promise<string> {
    const more = filter === undefined ? '' : `&filter=${encodeURIComponent(filter)}`
    const { body } = await send(by, 'GET', `/changes?since=now${more}`)
    return JSON.parse(JSON.stringify(body)).cursor
  }
})

describe('a filter', () => {
  it('selects by author, with exact totals after every write, in small and in larger accounts', async () => {
    for (const records of [20, limits.smallAccountRecordsMax + 100]) {
      const [a, b] = await twoKeys()
      await batch(
        a,
        '',
        Array.from({ length: records }, (_, i) => ({ id: i + 1, name: `p${i}` })),
      )
      for (let step = 1; step <= 12; step++) {
        const by = step % 2 === 0 ? a : b
        if (step % 4 === 0) await send(by, 'DELETE', `/${step}`)
        else await send(by, 'PATCH', `/${step + 1}`, { name: `step ${step}` })
        await sameAsCounted(a, b)
      }
      // Images of a process that knows no authors: totals from before them are not carried.
      await send(b, 'PATCH', '/15', { name: 'by the previous version' })
      await client.query(
        `update product_before set created_by = null, changed_by = null where account_id = $1 and id = 15`,
        [a.accountId],
      )
      await sameAsCounted(a, b)
    }
  })

  it('accepts every operator of a text, null, exports and order', async () => {
    const [a, b] = await twoKeys()
    await batch(
      a,
      '',
      [1, 2, 3].map((id) => ({ id, name: `p${id}` })),
    )
    await send(b, 'PATCH', '/2', { name: 'changed' })
    await client.query(`update product set created_by = null where account_id = $1 and id = 3`, [a.accountId])
    const ids = async (filter: string) =>
      (await listOf(a, `fields=id&filter=${encodeURIComponent(filter)}`)).data.map(
        ({ id }: { id: number }) => id,
      )
    expect(await ids(`changed_by=${b.keyId}`)).toEqual([2])
    expect(await ids(`changed_by!=${b.keyId}`)).toEqual([1, 3])
    expect(await ids(`changed_by[${a.keyId},${b.keyId}]&id>1`)).toEqual([2, 3])
    expect(await ids(`changed_by*${b.keyId.slice(2, 6)}`)).toEqual([2])
    expect(await ids('created_by=null')).toEqual([3])
    const sorted = await listOf(a, `sort=-name&fields=name,created_by&filter=created_by=${a.keyId}`)
    expect(sorted.data).toEqual([
      { name: 'p1', created_by: a.keyId },
      { name: 'changed', created_by: a.keyId },
    ])
    const csv = await fetch(
      `http://127.0.0.1:${service.port}${products}?fields=id,changed_by&filter=changed_by=${b.keyId}`,
      {
        headers: {
          'x-forwarded-host': `${a.name}.localhost`,
          authorization: `Bearer ${a.key}`,
          accept: 'text/csv',
        },
      },
    )
    expect((await csv.text()).trim().split('\r\n').join('\n')).toBe(`id,changed_by\n2,"${b.keyId}"`)
  })

  /** Each list twice, so that the second total is cached or carried. */
  async function sameAsCounted(a: Author, b: Author): Promise<void> {
    for (const filter of [`changed_by=${a.keyId}`, `changed_by!=${a.keyId}`, `created_by=${b.keyId}`]) {
      const [field, keyId] = filter.split(/!?=/)
      const operator = filter.includes('!') ? 'is distinct from' : '='
      const { rows } = await client.query<{ n: number }>(
        `select count(*)::int as n from product where account_id = $1 and ${field} ${operator} $2`,
        [a.accountId, keyId],
      )
      const { meta } = await listOf(a, `limit=5&fields=id&filter=${encodeURIComponent(filter)}`)
      expect(meta.total, filter).toBe(rows[0]?.n)
    }
  }
})
