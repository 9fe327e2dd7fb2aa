import { describe, expect, it } from 'vitest'
import { FieldSweep } from '../src/fields/field-sweep.ts'
import { defaultLimits } from '../src/limits/passed-limits.ts'
import { Database } from '../src/postgres/database.ts'
import { atEnd } from './at-end.ts'
import { account, connected, freshDatabase, insertProducts, type TestAccount } from './database.ts'
import { eventually } from './eventually.ts'
import { patientLimits, startTestService, type TestResponse } from './service.ts'

/** Unique fields: records are addressed by them, single and in batches. Two processes serve the requests. */

const products = '/api/v1/inventory/product'
const partners = '/api/v1/resources/partner'
const fields = '/manage/v1/fields'

const url = await freshDatabase()
const client = await connected(url)
const service = await startTestService(url)
const other = await startTestService(url)
let accounts = 0

async function withKey(...more: readonly object[]): Promise<TestAccount> {
  const created = await account(client, `keyed${++accounts}`)
  await declare(created, { resource: 'product', name: 'x_sku', type: 'text', unique: true })
  for (const field of more) await declare(created, field)
  return created
}

async function declare(of: TestAccount, field: object): Promise<TestResponse> {
  const response = await service.post(of, fields, field)
  expect([response.status, response.body]).toEqual([201, expect.anything()])
  return response
}

function send(of: TestAccount, method: string, path: string, body?: object, headers = {}, to = service) {
  return to.request(of, method, path, {
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
  })
}

async function batch(
  of: TestAccount,
  query: string,
  rows: readonly (object | string)[],
  type = 'application/x-ndjson',
  to = service,
): Promise<Record<string, unknown>[]> {
  const response = await fetch(`http://127.0.0.1:${to.port}${products}/batch${query}`, {
    method: 'POST',
    headers: {
      'x-forwarded-host': `${of.name}.localhost`,
      authorization: `Bearer ${of.key}`,
      'content-type': type,
    },
    body: type.includes('ndjson')
      ? rows.map((row) => `${JSON.stringify(row)}\n`).join('')
      : rows.map(String).join('\n'),
  })
  const text = await response.text()
  return text
    .trim()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line))
}

/** Each value of the table of keys must be that of a record, and the reverse. */
async function expectConsistent(of: TestAccount, resource = 'product'): Promise<void> {
  // Without statistics, the planner compares every key with every record.
  await client.query(`analyze ${resource}, ${resource}_key`)
  const { rows } = await client.query<{ fault: string }>(
    `with f as (select number, name from field where account_id = $1 and resource = $2 and unique_state = 'ready' and state = 'stored'),
     r as (select f.number, r.id, coalesce(r.custom->>f.number::text, to_jsonb(r)->>f.name) as value
       from f, ${resource} r where r.account_id = $1)
     select format('record %s lacks %s', id, value) as fault from r
     where value is not null and not exists (
       select from ${resource}_key k where k.account_id = $1 and k.field = r.number and k.value = r.value and k.id = r.id)
     union all
     select format('%s of %s is left', k.value, k.id) from ${resource}_key k join f on f.number = k.field
     where k.account_id = $1 and not exists (select from r where r.number = k.field and r.id = k.id and r.value = k.value)`,
    [of.accountId, resource],
  )
  expect(rows).toEqual([])
}

interface Listed {
  readonly data: readonly Record<string, unknown>[]
}

async function list(of: TestAccount, path: string, query = ''): Promise<readonly Record<string, unknown>[]> {
  const { body } = await service.request(of, 'GET', `${path}?limit=1000${query}`)
  const listed: Listed = JSON.parse(JSON.stringify(body))
  return listed.data
}

const problem = ({ status, body }: TestResponse) => {
  const { code, detail, errors } = JSON.parse(JSON.stringify(body ?? {}))
  return { status, code, detail, errors }
}

describe('a record by the value of a unique field', () => {
  it('is created once, changed, read, adjusted and deleted', async () => {
    const acme = await withKey()
    const path = `${products}/x_sku/A%2F4711%20%C3%A4`
    const created = await send(acme, 'PATCH', path, { name: 'Bolt', list_price: 2 })
    expect([created.status, created.headers.get('location'), created.body]).toEqual([
      201,
      `${products}/1`,
      { data: expect.objectContaining({ id: 1, name: 'Bolt', list_price: 2, x_sku: 'A/4711 ä' }) },
    ])
    const changed = await send(acme, 'PATCH', path, { list_price: 3 }, {}, other)
    expect([changed.status, changed.body]).toEqual([
      200,
      { data: expect.objectContaining({ id: 1, name: 'Bolt', list_price: 3 }) },
    ])
    const read = await send(acme, 'GET', path, undefined, {}, other)
    expect([read.status, read.body]).toEqual([200, changed.body])
    expect(read.headers.get('etag')).toBe(changed.headers.get('etag'))
    const byId = await send(acme, 'GET', `${products}/1`)
    expect([byId.body, byId.headers.get('etag')]).toEqual([read.body, read.headers.get('etag')])
    const notModified = await send(acme, 'GET', path, undefined, {
      'if-none-match': read.headers.get('etag') ?? '',
    })
    expect(notModified.status).toBe(304)
    expect((await send(acme, 'GET', `${path}?fields=id`)).body).toEqual({ data: { id: 1 } })
    const adjusted = await send(
      acme,
      'POST',
      `${path}/adjust`,
      { qty_available: 5 },
      { 'idempotency-key': 'a' },
    )
    expect(adjusted.body).toMatchObject({ data: { id: 1, qty_available: 5 } })
    expect((await send(acme, 'DELETE', path)).status).toBe(204)
    expect(problem(await send(acme, 'GET', path))).toMatchObject({
      status: 404,
      code: 'record_unknown',
      detail: 'There is no product whose x_sku is "A/4711 ä".',
    })
    expect((await send(acme, 'DELETE', path)).status).toBe(404)
    const again = await send(acme, 'PATCH', path, { name: 'Bolt again' })
    expect([again.status, again.headers.get('location')]).toEqual([201, `${products}/2`])
    await expectConsistent(acme)
  })

  it('is not created with If-Match, not changed with If-None-Match, and conditions hold', async () => {
    const acme = await withKey()
    const path = `${products}/x_sku/1`
    expect(problem(await send(acme, 'PATCH', path, { name: 'a' }, { 'if-match': '*' }))).toMatchObject({
      status: 412,
      code: 'precondition_failed',
    })
    const created = await send(acme, 'PATCH', path, { name: 'a' }, { 'if-none-match': '*' })
    expect(created.status).toBe(201)
    const second = await send(acme, 'PATCH', path, { name: 'b' }, { 'if-none-match': '*' })
    expect(problem(second)).toMatchObject({ status: 412, code: 'precondition_failed' })
    const etag = created.headers.get('etag') ?? ''
    expect((await send(acme, 'PATCH', path, { name: 'b' }, { 'if-match': etag })).status).toBe(200)
    expect((await send(acme, 'PATCH', path, { name: 'c' }, { 'if-match': etag })).status).toBe(412)
    expect((await send(acme, 'DELETE', path, undefined, { 'if-match': etag })).status).toBe(412)
    expect(problem(await send(acme, 'PATCH', path, { name: 'c' }, { 'if-none-match': '"x"' })).status).toBe(
      400,
    )
  })

  it('needs the required fields to be created, and no other value in the body', async () => {
    const acme = await withKey()
    const missing = await send(acme, 'PATCH', `${products}/x_sku/9`, { list_price: 1 })
    expect(problem(missing)).toMatchObject({
      status: 400,
      code: 'body_invalid',
      errors: [{ pointer: '/name', code: 'member_required' }],
    })
    const different = await send(acme, 'PATCH', `${products}/x_sku/9`, { name: 'a', x_sku: '8' })
    expect(problem(different)).toMatchObject({ status: 400, errors: [{ pointer: '/x_sku' }] })
    expect((await send(acme, 'PATCH', `${products}/x_sku/9`, { name: 'a', x_sku: '9' })).status).toBe(201)
  })

  it('is unknown, with help, if the field is not unique; accounts without such fields have no such path', async () => {
    const acme = await withKey()
    const near = await send(acme, 'GET', `${products}/x_skv/1`)
    expect(problem(near)).toMatchObject({
      status: 404,
      code: 'key_unknown',
      detail: expect.stringContaining('Did you mean x_sku?'),
    })
    const plain = await send(acme, 'GET', `${products}/name/Bolt`)
    expect(problem(plain)).toMatchObject({
      status: 404,
      code: 'key_unknown',
      detail: expect.stringContaining('name is not unique among products.'),
    })
    const globex = await account(client, `plain${++accounts}`)
    expect(problem(await send(globex, 'GET', `${products}/x_sku/1`))).toMatchObject({
      status: 404,
      code: 'path_unknown',
    })
  })

  it('of type integer has one form', async () => {
    const acme = await withKey({ resource: 'partner', name: 'x_odoo_id', type: 'integer', unique: true })
    const created = await send(acme, 'PATCH', `${partners}/x_odoo_id/4711`, { name: 'a' })
    expect(created.body).toMatchObject({ data: { x_odoo_id: 4711 } })
    expect((await send(acme, 'GET', `${partners}/x_odoo_id/4711`)).status).toBe(200)
    for (const text of ['04711', '4711.0', 'abc', '1e3', ' 4711'])
      expect((await send(acme, 'GET', `${partners}/x_odoo_id/${encodeURIComponent(text)}`)).status).toBe(404)
    expect((await send(acme, 'PATCH', `${partners}/x_odoo_id/abc`, { name: 'a' })).status).toBe(404)
    await expectConsistent(acme, 'partner')
  })

  it('of many clients that send the same values at the same time is one record each', async () => {
    const acme = await withKey()
    const values = Array.from({ length: 7 }, (_, i) => `S${i}`)
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, writer) =>
        values.map((value) =>
          send(
            acme,
            'PATCH',
            `${products}/x_sku/${value}`,
            { name: `by ${writer}` },
            {},
            writer % 2 === 0 ? service : other,
          ),
        ),
      ).flat(),
    )
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200, 201]))
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(values.length)
    expect(
      (await list(acme, products, '&fields=x_sku')).map((one) => String(one['x_sku'])).toSorted(),
    ).toEqual(values)
    await expectConsistent(acme)
  })
})

describe('a value that another record has', () => {
  it('is a conflict that names the record, in a create and in a patch', async () => {
    const acme = await withKey()
    expect((await send(acme, 'POST', products, { name: 'a', x_sku: 'A' })).status).toBe(201)
    expect((await send(acme, 'POST', products, { name: 'b', x_sku: 'B' })).status).toBe(201)
    const taken = await send(acme, 'POST', products, { name: 'c', x_sku: 'A' })
    expect(problem(taken)).toEqual({
      status: 409,
      code: 'key_taken',
      detail: 'x_sku "A" is that of product 1. Nothing was written.',
      errors: [
        { pointer: '/x_sku', code: 'value_taken', message: 'x_sku "A" is that of product 1.', record: 1 },
      ],
    })
    expect(problem(await send(acme, 'PATCH', `${products}/2`, { x_sku: 'A' }))).toMatchObject({
      code: 'key_taken',
    })
    expect((await send(acme, 'PATCH', `${products}/1`, { x_sku: null })).status).toBe(200)
    expect((await send(acme, 'PATCH', `${products}/2`, { x_sku: 'A' })).status).toBe(200)
    expect((await send(acme, 'GET', `${products}/x_sku/B`)).status).toBe(404)
    expect((await send(acme, 'GET', `${products}/x_sku/A`)).body).toMatchObject({ data: { id: 2 } })
    // Null is no value, and every record may have it.
    expect((await send(acme, 'POST', products, { name: 'd', x_sku: null })).status).toBe(201)
    expect((await send(acme, 'POST', products, { name: 'e' })).status).toBe(201)
    await expectConsistent(acme)
  })

  it('is free in another account, resource and field', async () => {
    const acme = await withKey(
      { resource: 'product', name: 'x_ean', type: 'text', unique: true },
      { resource: 'partner', name: 'x_sku', type: 'text', unique: true },
    )
    const globex = await withKey()
    expect((await send(acme, 'POST', products, { name: 'a', x_sku: 'A', x_ean: 'A' })).status).toBe(201)
    expect((await send(acme, 'POST', partners, { name: 'a', x_sku: 'A' })).status).toBe(201)
    expect((await send(globex, 'POST', products, { name: 'a', x_sku: 'A' })).status).toBe(201)
  })

  it('is replayed, not repeated, with an Idempotency-Key', async () => {
    const acme = await withKey()
    const headers = { 'idempotency-key': 'once' }
    const first = await send(acme, 'POST', products, { name: 'a', x_sku: 'A' }, headers)
    const second = await send(acme, 'POST', products, { name: 'a', x_sku: 'A' }, headers, other)
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body])
    const upserts = { 'idempotency-key': 'upsert' }
    const put = await send(acme, 'PATCH', `${products}/x_sku/B`, { name: 'b' }, upserts)
    const again = await send(acme, 'PATCH', `${products}/x_sku/B`, { name: 'b' }, upserts, other)
    expect([put.status, again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([
      201,
      201,
      'true',
      put.body,
    ])
  })
})

describe('fields of the catalog', () => {
  it('become unique if their values are, also beside requests, and stay what they were when that ends', async () => {
    const acme = await withKey()
    for (const code of ['A', 'B', null, null])
      await send(acme, 'POST', products, { name: 'x', default_code: code })
    await send(acme, 'POST', products, { name: 'x', default_code: 'A' })
    const twice = await send(acme, 'POST', fields, {
      resource: 'product',
      name: 'default_code',
      unique: true,
    })
    expect(problem(twice)).toMatchObject({
      status: 409,
      code: 'values_not_unique',
      detail: expect.stringContaining('Several products have the same default_code: "A" (products 1, 5).'),
    })
    await send(acme, 'PATCH', `${products}/5`, { default_code: 'C' })
    const made = await declare(acme, { resource: 'product', name: 'default_code', unique: true })
    expect(made.body).toMatchObject({
      data: { id: 'product.default_code', type: 'text', unique: true, state: 'ready' },
    })
    expect((await send(acme, 'GET', `${products}/default_code/B`)).body).toMatchObject({ data: { id: 2 } })
    expect(problem(await send(acme, 'POST', products, { name: 'x', default_code: 'C' })).code).toBe(
      'key_taken',
    )
    expect((await send(acme, 'PATCH', `${products}/default_code/D`, { name: 'd' })).status).toBe(201)
    await expectConsistent(acme)
    expect((await list(acme, products, '&filter=default_code=D'))[0]).toMatchObject({ name: 'd' })
    expect((await service.request(acme, 'DELETE', `${fields}/product.default_code`)).status).toBe(204)
    expect((await send(acme, 'POST', products, { name: 'x', default_code: 'C' })).status).toBe(201)
    expect((await send(acme, 'GET', `${products}/1`)).body).toMatchObject({ data: { default_code: 'A' } })
  })

  it('of an account without definitions wait for requests that do not know them', async () => {
    const acme = await account(client, `first${++accounts}`)
    await send(acme, 'POST', partners, { name: 'a', email: 'a@x.example' })
    const made = await declare(acme, { resource: 'partner', name: 'email', unique: true })
    expect(made.body).toMatchObject({ data: { id: 'partner.email', unique: true, state: 'building' } })
    const early = await send(acme, 'GET', `${partners}/email/a@x.example`)
    expect([early.status, problem(early).code]).toEqual([404, 'key_unknown'])
    await client.query('update field set build_after = now() where account_id = $1', [acme.accountId])
    const sweep = await sweepOf()
    await sweep.sweep(60)
    expect((await send(acme, 'GET', `${partners}/email/a@x.example`)).body).toMatchObject({ data: { id: 1 } })
    expect((await service.request(acme, 'GET', `${fields}/partner.email`)).body).toMatchObject({
      data: { state: 'ready' },
    })
    await expectConsistent(acme, 'partner')
  })

  it('get no duplicates from writers beside the build', async () => {
    const acme = await withKey()
    const rows = Array.from({ length: 12_000 }, (_, i) => ({ id: i + 1, name: 'x', default_code: `C${i}` }))
    await client.query(`update tally set service_ids = false where account_id = $1`, [acme.accountId])
    expect((await batch(acme, '', rows)).at(-1)).toMatchObject({ $end: { inserted: 12_000 } })
    let created = 0
    const stop = new AbortController()
    const writers = [service, other].map(async (to, i) => {
      for (let n = 0; !stop.signal.aborted; n++) {
        const path = `${products}/${1 + ((n * 997) % 12_000)}`
        const response = await send(acme, 'PATCH', path, { default_code: `N${i}-${n}` }, {}, to)
        expect(response.status).toBe(200)
        created += 1
      }
    })
    const made = await service.post(acme, fields, { resource: 'product', name: 'default_code', unique: true })
    await eventually(() => created > 100)
    stop.abort()
    await Promise.all(writers)
    expect(made.status).toBe(201)
    await client.query('update field set build_after = now() where account_id = $1', [acme.accountId])
    await (await sweepOf()).sweep(60)
    expect((await service.request(acme, 'GET', `${fields}/product.default_code`)).body).toMatchObject({
      data: { state: 'ready' },
    })
    await expectConsistent(acme)
  })

  it('are built with a few lookups of each value, also before the planner has statistics', async () => {
    const acme = await withKey()
    await insertProducts(client, acme, 5_000)
    await client.query(`update product set default_code = 'C' || id where account_id = $1`, [acme.accountId])
    await declare(acme, { resource: 'product', name: 'default_code', unique: true })
    await client.query(`delete from product_key where account_id = $1 and value like 'C%'`, [acme.accountId])
    await client.query(
      `update field set unique_state = 'building', built_to = null, build_after = now() where account_id = $1 and name = 'default_code'`,
      [acme.accountId],
    )
    const readSoFar = async () => {
      const { rows } = await client.query<{ read: number }>(
        `select idx_tup_read::int as read from pg_stat_user_indexes where indexrelname = 'product_key_pkey'`,
      )
      return rows[0]?.read ?? 0
    }
    const before = await readSoFar()
    // A connection reports what it has read at the latest when it is closed.
    const ends: (() => unknown)[] = []
    await (await sweepOf((end) => ends.push(end))).sweep(60)
    for (const end of ends) await end()
    expect((await service.request(acme, 'GET', `${fields}/product.default_code`)).body).toMatchObject({
      data: { state: 'ready' },
    })
    const read = (await readSoFar()) - before
    expect(read).toBeGreaterThan(0)
    expect(read).toBeLessThan(20_000)
    await expectConsistent(acme)
  })
})

async function sweepOf(end = atEnd): Promise<FieldSweep> {
  const limits = { ...defaultLimits, ...patientLimits }
  const database = new Database({
    url,
    role: 'quartermaster_server',
    writeRole: 'quartermaster_writer',
    pooler: 'none',
    emit: () => {},
    connectionsMax: 2,
    readMsMax: 60_000,
    limits,
  })
  end(() => database.close())
  return new FieldSweep(database, limits)
}

describe('deleted fields', () => {
  it('leave no value, and a new field of the same name begins without', async () => {
    const acme = await withKey()
    for (let i = 0; i < 5; i++) await send(acme, 'PATCH', `${products}/x_sku/${i}`, { name: 'x' })
    expect((await service.request(acme, 'DELETE', `${fields}/product.x_sku`)).status).toBe(204)
    await declare(acme, { resource: 'product', name: 'x_sku', type: 'text', unique: true })
    expect((await send(acme, 'GET', `${products}/x_sku/1`)).status).toBe(404)
    expect((await send(acme, 'PATCH', `${products}/x_sku/1`, { name: 'y' })).status).toBe(201)
    const sweep = await sweepOf()
    await sweep.sweep(0)
    const { rows } = await client.query('select value, id::int from product_key where account_id = $1', [
      acme.accountId,
    ])
    expect(rows).toEqual([{ value: '1', id: 6 }])
    await expectConsistent(acme)
  })
})

describe('batches by a unique field', () => {
  it('insert, change and delete records, with ids that the service assigns, and can be repeated', async () => {
    const acme = await withKey()
    const rows = [
      { x_sku: 'A', name: 'a', list_price: 1 },
      { x_sku: 'B', name: 'b' },
      { x_sku: 'C', name: 'c' },
    ]
    const end = (result: Record<string, unknown>[]) => result.at(-1)
    expect(end(await batch(acme, '?key=x_sku', rows))).toEqual({
      $end: { read: 3, inserted: 3, updated: 0, unchanged: 0, deleted: 0, rejected: 0 },
    })
    expect(end(await batch(acme, '?key=x_sku', rows, undefined, other))).toMatchObject({
      $end: { unchanged: 3 },
    })
    const more = [{ x_sku: 'B', list_price: 2 }, { $delete: { x_sku: 'A' } }, { $delete: { x_sku: 'none' } }]
    expect(end(await batch(acme, '?key=x_sku', more))).toMatchObject({
      $end: { updated: 1, deleted: 1, unchanged: 1 },
    })
    expect(await list(acme, products, '&fields=id,x_sku,list_price')).toEqual([
      { id: 2, x_sku: 'B', list_price: 2 },
      { id: 3, x_sku: 'C', list_price: 0 },
    ])
    const { rows: audit } = await client.query(
      `select action from audit where account_id = $1 and action = 'account.ids'`,
      [acme.accountId],
    )
    expect(audit).toEqual([])
    await expectConsistent(acme)
  })

  it('take rows in their order: a record that was deleted is created again, with a new id', async () => {
    const acme = await withKey()
    const rows = [
      { x_sku: 'A', name: 'first' },
      { $delete: { x_sku: 'A' } },
      { x_sku: 'A', name: 'second' },
      { x_sku: 'A', list_price: 5 },
    ]
    expect((await batch(acme, '?key=x_sku', rows)).at(-1)).toMatchObject({
      $end: { inserted: 2, deleted: 1, updated: 1 },
    })
    expect(await list(acme, products, '&fields=id,name,list_price')).toEqual([
      { id: 2, name: 'second', list_price: 5 },
    ])
    const { body } = await send(acme, 'POST', products, { name: 'next' })
    expect(body).toEqual({ data: { id: 3 } })
  })

  it('reject what they must not write, and say why', async () => {
    const acme = await withKey({ resource: 'product', name: 'x_ean', type: 'text', unique: true })
    await send(acme, 'PATCH', `${products}/x_sku/A`, { name: 'a', x_ean: '1' })
    const rows = [
      { x_sku: 'B', name: 'b', x_ean: '1' },
      { x_sku: null, name: 'c' },
      { name: 'd' },
      { x_sku: 'E', list_price: 1 },
      { id: 7, x_sku: 'F', name: 'f' },
      { $delete: 'A' },
      { $delete: { x_ean: '1' } },
      { $delete: { x_sku: 'A', x_ean: '1' } },
    ]
    const results = await batch(acme, '?key=x_sku', [{ x_sku: 'Z', name: 'z' }, ...rows])
    const lines = results.slice(0, -1).toSorted((a, b) => Number(a['line']) - Number(b['line']))
    const notKey = expect.stringContaining('is not an object with x_sku')
    expect(lines.map(({ line, key, field, code, reason }) => [line, key, field, code, reason])).toEqual([
      [2, 'B', 'x_ean', 'key_taken', 'is that of product 1'],
      [3, undefined, 'x_sku', undefined, 'is required'],
      [4, undefined, 'x_sku', undefined, 'is required'],
      [5, 'E', 'name', undefined, 'is required for a new product (no product has this x_sku)'],
      [6, 'F', 'id', undefined, expect.stringContaining('must be omitted')],
      [7, undefined, '$delete', undefined, notKey],
      [8, undefined, '$delete', undefined, notKey],
      [9, undefined, '$delete', undefined, expect.stringContaining('not an object with x_sku')],
    ])
    await expectConsistent(acme)
  })

  it('only change with mode=update, and only insert with mode=insert', async () => {
    const acme = await withKey()
    await send(acme, 'PATCH', `${products}/x_sku/A`, { name: 'a' })
    const rows = [
      { x_sku: 'A', name: 'A' },
      { x_sku: 'B', name: 'B' },
    ]
    expect(await batch(acme, '?key=x_sku&mode=update', rows)).toMatchObject([
      {
        line: 2,
        key: 'B',
        field: 'x_sku',
        reason: 'is unknown: no product has it, and mode=update inserts none',
      },
      { $end: { updated: 1, rejected: 1 } },
    ])
    expect(await batch(acme, '?key=x_sku&mode=insert', [...rows, { $delete: { x_sku: 'A' } }])).toMatchObject(
      [
        { line: 1, id: 1, key: 'A', code: 'record_exists' },
        { line: 3, field: '$delete' },
        { $end: { inserted: 1, rejected: 2 } },
      ],
    )
    expect((await batch(acme, '?key=x_skv', rows))[0]).toMatchObject({ code: 'request_invalid' })
  })

  it('are written only if a row still has the ETag of its record', async () => {
    const acme = await withKey()
    const created = await send(acme, 'PATCH', `${products}/x_sku/A`, { name: 'a' })
    const etag = created.headers.get('etag')
    expect(await batch(acme, '?key=x_sku', [{ x_sku: 'A', name: 'b', $if_match: etag }])).toMatchObject([
      { $end: { updated: 1 } },
    ])
    expect(await batch(acme, '?key=x_sku', [{ x_sku: 'A', name: 'c', $if_match: etag }])).toMatchObject([
      { key: 'A', id: 1, code: 'changed' },
      { $end: { rejected: 1 } },
    ])
    expect(await batch(acme, '?key=x_sku', [{ $delete: { x_sku: 'A' }, $if_match: etag }])).toMatchObject([
      { code: 'changed' },
      { $end: { rejected: 1 } },
    ])
    expect(await batch(acme, '?key=x_sku', [{ x_sku: 'N', name: 'n', $if_match: etag }])).toMatchObject([
      { code: 'record_unknown' },
      { $end: { rejected: 1 } },
    ])
  })

  it('may be CSV or a JSON object', async () => {
    const acme = await withKey()
    const csv = ['x_sku,name', 'A,a', '"B ""x""",b']
    expect((await batch(acme, '?key=x_sku', csv, 'text/csv')).at(-1)).toMatchObject({
      $end: { inserted: 2 },
    })
    expect((await batch(acme, '?key=x_sku', ['id,x_sku,name', '1,A,a'], 'text/csv'))[0]).toMatchObject({
      code: 'body_invalid',
    })
    const json = await send(acme, 'POST', `${products}/batch?key=x_sku`, {
      rows: [{ x_sku: 'A', name: 'A' }, { $delete: { x_sku: 'B "x"' } }, { x_sku: 'C', name: '' }],
    })
    expect(json.body).toMatchObject({ data: { totals: { updated: 1, deleted: 1, inserted: 1 } } })
  })

  it('by id move values between records in the order of their rows', async () => {
    const acme = await withKey()
    await send(acme, 'PATCH', `${products}/x_sku/A`, { name: 'a' })
    await send(acme, 'PATCH', `${products}/x_sku/B`, { name: 'b' })
    const taken = [
      { id: 1, x_sku: 'B' },
      { id: 2, x_sku: 'A' },
    ]
    expect(await batch(acme, '?mode=update', taken)).toMatchObject([
      { line: 1, code: 'key_taken', reason: 'is that of product 2' },
      { line: 2, code: 'key_taken', reason: 'is that of product 1' },
      { $end: { rejected: 2 } },
    ])
    const swapped = [
      { id: 1, x_sku: null },
      { id: 2, x_sku: 'A' },
      { id: 1, x_sku: 'B' },
    ]
    expect((await batch(acme, '?mode=update', swapped)).at(-1)).toMatchObject({ $end: { updated: 3 } })
    expect(await list(acme, products, '&fields=id,x_sku')).toEqual([
      { id: 1, x_sku: 'B' },
      { id: 2, x_sku: 'A' },
    ])
    await expectConsistent(acme)
  })

  it('give the same result however rows are divided into transactions', async () => {
    const random = seeded(7)
    const rows = Array.from({ length: 3_000 }, (): object => {
      const sku = `S${Math.floor(random() * 40)}`
      const kind = random()
      if (kind < 0.15) return { $delete: { x_sku: sku } }
      const ean = random() < 0.5 ? { x_ean: random() < 0.2 ? null : `E${Math.floor(random() * 40)}` } : {}
      return { x_sku: sku, ...(kind < 0.9 ? { name: `n${Math.floor(random() * 5)}` } : {}), ...ean }
    })
    const results: unknown[] = []
    for (const size of [3_000, 7]) {
      const acme = await withKey({ resource: 'product', name: 'x_ean', type: 'text', unique: true })
      const totals = { inserted: 0, updated: 0, deleted: 0, unchanged: 0, rejected: 0 }
      for (let from = 0; from < rows.length; from += size) {
        const end = (await batch(acme, '?key=x_sku', rows.slice(from, from + size))).at(-1)
        const counts: typeof totals = JSON.parse(JSON.stringify(end?.['$end']))
        for (const name of ['inserted', 'updated', 'deleted', 'unchanged', 'rejected'] as const)
          totals[name] += counts[name]
      }
      await expectConsistent(acme)
      const records = await list(acme, products, '&fields=id,x_sku,x_ean,name')
      results.push({ totals, records })
    }
    expect(results[0]).toEqual(results[1])
    expect(results[0]).toMatchObject({ totals: { rejected: expect.any(Number) } })
  })

  it('use ids from 2^32 on if another system assigns the others', async () => {
    const acme = await account(client, `external${++accounts}`, undefined, 'external')
    await declare(acme, { resource: 'product', name: 'x_sku', type: 'text', unique: true })
    await batch(acme, '', [{ id: 5, name: 'theirs', x_sku: 'T' }])
    await batch(acme, '?key=x_sku', [
      { x_sku: 'A', name: 'ours' },
      { x_sku: 'T', name: 'theirs, changed' },
    ])
    const { body } = await send(acme, 'POST', products, { name: 'next' })
    expect(body).toEqual({ data: { id: 4294967297 } })
    expect(await list(acme, products, '&fields=id,name')).toEqual([
      { id: 5, name: 'theirs, changed' },
      { id: 4294967296, name: 'ours' },
      { id: 4294967297, name: 'next' },
    ])
  })
})

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}
