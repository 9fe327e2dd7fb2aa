import { describe, expect, it } from 'vitest'
import { FieldSweep } from '../src/fields/field-sweep.ts'
import { defaultLimits } from '../src/limits/passed-limits.ts'
import { Database } from '../src/postgres/database.ts'
import { atEnd } from './at-end.ts'
import { account, connected, freshDatabase, type TestAccount } from './database.ts'
import { patientLimits, startTestService } from './service.ts'

/** Fields that accounts declare: their definitions, and their values in every part of the API. Two processes serve the requests. */

const products = '/api/v1/inventory/product'
const fields = '/manage/v1/fields'
const types = ['text', 'integer', 'decimal', 'boolean', 'timestamp'] as const

const url = await freshDatabase()
const client = await connected(url)
const service = await startTestService(url)
const other = await startTestService(url)
let accounts = 0

const newAccount = () => account(client, `own${++accounts}`)

async function declare(of: TestAccount, name: string, type: string, resource = 'product', label = '') {
  const { status, body } = await service.post(of, fields, { resource, name, type, label })
  expect([status, body]).toEqual([201, { data: expect.objectContaining({ id: `${resource}.${name}` }) }])
}

async function withFields(): Promise<TestAccount> {
  const created = await newAccount()
  for (const type of types) await declare(created, `x_${type}`, type)
  return created
}

/** The body of a response, of which the test knows the members that it has. */
interface Body {
  readonly data: readonly { readonly id: number }[]
  readonly meta: { readonly total: number }
  readonly cursor: string
  readonly errors: readonly { readonly pointer: string; readonly message: string }[]
}

function typed(body: unknown): Body {
  return JSON.parse(JSON.stringify(body))
}

async function get(of: TestAccount, path: string, from = service) {
  const { status, body, headers } = await from.request(of, 'GET', path)
  return { status, body, etag: headers.get('etag') }
}

function send(of: TestAccount, method: string, path: string, body: object, headers = {}) {
  return service.request(of, method, path, {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })
}

async function text(of: TestAccount, path: string, accept: string, from = service): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${from.port}${path}`, {
    headers: { 'x-forwarded-host': `${of.name}.localhost`, authorization: `Bearer ${of.key}`, accept },
  })
  const body = await response.text()
  expect([response.status, response.status === 200 ? '' : body]).toEqual([200, ''])
  return body
}

async function batch(of: TestAccount, rows: readonly object[], query = ''): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${service.port}${products}/batch${query}`, {
    method: 'POST',
    headers: {
      'x-forwarded-host': `${of.name}.localhost`,
      authorization: `Bearer ${of.key}`,
      'content-type': 'application/x-ndjson',
    },
    body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  })
  return await response.text()
}

const values = {
  x_text: 'say "ä\\\t💡"',
  x_integer: -42,
  x_decimal: 12.5,
  x_boolean: false,
  x_timestamp: '2026-11-14T09:30:00.250Z',
}
const nulls = { x_text: null, x_integer: null, x_decimal: null, x_boolean: null, x_timestamp: null }

async function idsOf(of: TestAccount, filter: string, from = service): Promise<number[]> {
  const path = `${products}?fields=id&limit=1000&filter=${encodeURIComponent(filter)}`
  const { status, body } = await get(of, path, from)
  expect([filter, status, body]).toEqual([filter, 200, expect.anything()])
  const { data, meta } = typed(body)
  expect(meta.total).toBe(data.length)
  return data.map(({ id }) => id)
}

describe('definitions', () => {
  it('are listed, read, changed and deleted, with audit entries', async () => {
    const acme = await newAccount()
    await declare(acme, 'x_barcode', 'text', 'product', 'Barcode')
    const field = {
      id: 'product.x_barcode',
      resource: 'product',
      name: 'x_barcode',
      type: 'text',
      label: 'Barcode',
      unique: false,
      state: 'ready',
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
    }
    expect((await get(acme, fields)).body).toMatchObject({ data: [field], meta: { total: 1 } })
    expect((await get(acme, `${fields}/product.x_barcode`)).body).toEqual({ data: field })
    const changed = await send(acme, 'PATCH', `${fields}/product.x_barcode`, { label: 'EAN' })
    expect([changed.status, changed.body]).toEqual([200, { data: { ...field, label: 'EAN' } }])
    expect((await service.request(acme, 'DELETE', `${fields}/product.x_barcode`)).status).toBe(204)
    expect((await get(acme, `${fields}/product.x_barcode`)).status).toBe(404)
    expect((await get(acme, fields)).body).toMatchObject({ data: [] })
    const audit = await get(acme, '/manage/v1/audit?fields=action&filter=subject=product.x_barcode')
    expect(audit.body).toMatchObject({
      data: [{ action: 'field.delete' }, { action: 'field.change' }, { action: 'field.create' }],
    })
  })

  it('are rejected with all faults, twice, and above the maximum', async () => {
    const acme = await newAccount()
    const bad = await service.post(acme, fields, { resource: 'x', name: 'barcode', type: 'string', unit: 1 })
    expect(bad.status).toBe(400)
    const pointers = typed(bad.body).errors.map(({ pointer }) => pointer)
    expect(pointers.toSorted()).toEqual(['/name', '/resource', '/type', '/unit'])
    for (let i = 0; i < 64; i++) await declare(acme, `x_f${i}`, 'integer')
    const again = await service.post(acme, fields, { resource: 'product', name: 'x_f1', type: 'text' })
    expect([again.status, again.body]).toEqual([409, expect.objectContaining({ code: 'field_exists' })])
    const more = await service.post(acme, fields, { resource: 'product', name: 'x_more', type: 'text' })
    expect([more.status, more.body]).toEqual([409, expect.objectContaining({ code: 'fields_exhausted' })])
    const all = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`x_f${i}`, i]))
    const created = await service.post(acme, products, { name: 'all', ...all })
    expect(created.status).toBe(201)
    expect((await get(acme, `${products}/1`)).body).toMatchObject({ data: all })
  })

  it('of other accounts and resources are unknown', async () => {
    const [acme, globex] = [await newAccount(), await newAccount()]
    await declare(acme, 'x_vat', 'text', 'partner')
    for (const [of, path] of [
      [acme, products],
      [globex, '/api/v1/resources/partner'],
    ] as const)
      expect((await get(of, `${path}?fields=x_vat`)).status).toBe(400)
    expect((await get(globex, fields)).body).toMatchObject({ data: [] })
  })

  it('are known to every process with the next request, and to caches, ETags and conditional requests', async () => {
    const acme = await newAccount()
    await service.post(acme, products, { name: 'bolt' })
    for (const path of [products, `${products}/1`, `${products}?filter=name=bolt`]) {
      const before = await get(acme, path, other)
      await get(acme, path, other)
      const name = `x_${path.length}`.replace(/\d+/, (n) => `a${n}`)
      await declare(acme, name, 'integer')
      const after = await other.request(acme, 'GET', path, {
        headers: { 'if-none-match': before.etag ?? '' },
      })
      expect([after.status, JSON.stringify(after.body)]).toEqual([
        200,
        expect.stringContaining(`"${name}":null`),
      ])
      await service.request(acme, 'DELETE', `${fields}/product.${name}`)
      expect(JSON.stringify((await get(acme, path, other)).body)).not.toContain(name)
    }
  })

  it('with a key, the OpenAPI document has the fields of the account', async () => {
    const acme = await newAccount()
    const plain = await text(acme, '/openapi.json', 'application/json')
    await declare(acme, 'x_weight', 'decimal', 'product', 'Weight in kg')
    const own: { components: { schemas: Record<string, { properties: object }> } } = JSON.parse(
      await text(acme, '/openapi.json', 'application/json'),
    )
    for (const name of ['Product', 'NewProduct', 'ProductPatch'])
      expect(own.components.schemas[name]?.properties).toMatchObject({
        x_weight: { description: 'Weight in kg' },
      })
    expect(plain).not.toContain('x_weight')
    expect(await (await fetch(`http://127.0.0.1:${service.port}/openapi.json`)).text()).toBe(plain)
  })
})

describe('values', () => {
  it('are created, read, changed, cleared and selected', async () => {
    const acme = await withFields()
    const created = await service.post(acme, products, { name: 'bolt', ...values })
    expect([created.status, created.body]).toEqual([201, { data: { id: 1 } }])
    const read = await get(acme, `${products}/1`)
    expect(read.body).toEqual({ data: expect.objectContaining({ id: 1, name: 'bolt', ...values }) })
    expect(Object.keys(typed(read.body).data).slice(-5)).toEqual(Object.keys(values))
    expect(created.headers.get('etag')).toBe(read.etag)
    expect((await get(acme, `${products}?fields=x_decimal,id,x_text`)).body).toMatchObject({
      data: [{ x_decimal: 12.5, id: 1, x_text: values.x_text }],
    })
    expect(await text(acme, `${products}?fields=x_decimal,id,x_text`, 'application/json')).toContain(
      `{"x_decimal":12.5,"id":1,"x_text":${JSON.stringify(values.x_text)}}`,
    )
    expect(await text(acme, `${products}/1?fields=x_decimal,id,x_text`, 'application/json')).toBe(
      `{"data":{"x_decimal":12.5,"id":1,"x_text":${JSON.stringify(values.x_text)}}}`,
    )
    const patched = await send(acme, 'PATCH', `${products}/1`, { x_text: null, x_integer: 7, name: 'nut' })
    expect(patched.body).toEqual({
      data: expect.objectContaining({ ...values, name: 'nut', x_text: null, x_integer: 7 }),
    })
    const same = await send(acme, 'PATCH', `${products}/1`, { x_text: null, x_integer: 7, x_boolean: false })
    expect(same.headers.get('etag')).toBe(patched.headers.get('etag'))
    const stale = await send(
      acme,
      'PATCH',
      `${products}/1`,
      { x_integer: 8 },
      { 'if-match': read.etag ?? '' },
    )
    expect(stale.status).toBe(412)
    const cleared = await send(acme, 'PATCH', `${products}/1`, nulls)
    expect(cleared.body).toMatchObject({ data: nulls })
    const { rows } = await client.query('select custom from product where account_id = $1', [acme.accountId])
    expect(rows).toEqual([{ custom: null }])
  })

  it('are exact: decimals keep every digit, and two that are equal are one', async () => {
    const acme = await withFields()
    const exact = '123456789012345678901234.123456789012'
    const body = `{"name":"exact","x_decimal":${exact}}`
    const headers = { 'content-type': 'application/json' }
    await service.request(acme, 'POST', products, { body, headers })
    await service.post(acme, products, { name: 'short', x_decimal: '0.50' })
    for (const path of [products, `${products}/1`])
      expect(await text(acme, path, 'application/json')).toContain(`"x_decimal":${exact},`)
    expect(await text(acme, `${products}/2`, 'application/json')).toContain('"x_decimal":0.5,')
    expect(await idsOf(acme, `x_decimal=${exact}`)).toEqual([1])
    expect(await idsOf(acme, `x_decimal>${exact.slice(0, -1)}1`)).toEqual([1])
    expect(await idsOf(acme, 'x_decimal=5e-1')).toEqual([2])
  })

  it('that are not of the type are rejected, and unknown names have a suggestion', async () => {
    const acme = await withFields()
    const rejected = await service.post(acme, products, {
      name: 'x',
      x_text: 1,
      x_integer: 1.5,
      x_decimal: 'one',
      x_boolean: 'true',
      x_timestamp: '2026-02-30',
      x_txt: 'a',
    })
    expect(rejected.status).toBe(400)
    const { errors } = typed(rejected.body)
    expect(errors.map(({ pointer }) => pointer).toSorted()).toEqual(
      [...Object.keys(values), 'x_txt'].map((name) => `/${name}`).toSorted(),
    )
    expect(errors.find(({ pointer }) => pointer === '/x_txt')?.message).toContain('Did you mean x_text?')
    const filtered = await get(acme, `${products}?filter=x_txt=a`)
    expect(filtered.body).toMatchObject({ errors: [{ expected: ['x_text'], suggestion: 'x_text=a' }] })
    expect((await get(acme, `${products}?filter=x_text>a`)).body).toMatchObject({
      errors: [{ code: 'operator_not_for_type' }],
    })
    const long = await service.post(acme, products, { name: 'x', x_text: 'a'.repeat(513) })
    expect(long.status).toBe(400)
  })

  it('are filtered with the operators of their types', async () => {
    const acme = await withFields()
    const rows = [
      { id: 1, name: 'a', ...values },
      { id: 2, name: 'b', x_text: '100% sure', x_integer: 3, x_decimal: -0.5, x_boolean: true },
      { id: 3, name: 'c', x_text: '', x_timestamp: '9999-12-31T23:59:59.999Z' },
      { id: 4, name: 'd' },
    ]
    expect(await batch(acme, rows)).toContain('"inserted":4')
    const expected: [string, number[]][] = [
      ['x_text="100% sure"', [2]],
      ['x_text=', [3]],
      ['x_text=null', [4]],
      ['x_text!=null', [1, 2, 3]],
      ['x_text!=""', [1, 2, 4]],
      ['x_text*SURE', [2]],
      ['x_text*Ä', [1]],
      ['x_text!*%', [1, 3, 4]],
      ['x_text["",null]', [3, 4]],
      ['x_text!["",null]', [1, 2]],
      ['x_integer<0', [1]],
      ['x_integer>=3', [2]],
      ['x_integer!=3', [1, 3, 4]],
      ['x_integer[3,-42,9]', [1, 2]],
      ['x_decimal<0|x_decimal>12', [1, 2]],
      ['x_boolean=true', [2]],
      ['x_boolean!=true', [1, 3, 4]],
      ['x_timestamp=2026-11-14', [1]],
      ['x_timestamp!=2026-11-14', [2, 3, 4]],
      ['x_timestamp<=9999-12-31', [1, 3]],
      ['x_timestamp=9999-12-31', [3]],
      ['x_text!=null&x_integer!=null&id>1', [2]],
    ]
    for (const [filter, ids] of expected) {
      expect([filter, await idsOf(acme, filter)]).toEqual([filter, ids])
    }
  })
})

describe('values in bulk', () => {
  it('are batched, and a row changes only the fields that it has', async () => {
    const acme = await withFields()
    expect(await batch(acme, [{ id: 1, name: 'a', ...values }])).toContain('"inserted":1')
    expect(await batch(acme, [{ id: 1, name: 'a', ...values }])).toContain('"unchanged":1')
    expect(
      await batch(acme, [
        { id: 1, x_integer: 5 },
        { id: 1, x_text: null },
      ]),
    ).toContain('"updated":2')
    expect(await batch(acme, [{ id: 1, x_text: null, x_integer: 5 }])).toContain('"unchanged":1')
    expect((await get(acme, `${products}/1`)).body).toMatchObject({
      data: { ...values, x_integer: 5, x_text: null },
    })
    const rejected = await batch(acme, [
      { id: 2, name: 'b', x_integer: 'five' },
      { id: 3, name: 'c', x_txt: 1 },
    ])
    expect(rejected).toContain('"field":"x_integer","reason":"is not an integer"')
    expect(rejected).toContain('did you mean x_text?')
  })

  it('go through CSV and NDJSON exports unchanged', async () => {
    const [acme, copy] = [await withFields(), await withFields()]
    await batch(acme, [
      { id: 1, name: 'a', ...values },
      { id: 2, name: 'b', x_text: '=1+1' },
      { id: 3, name: 'c', x_text: '' },
    ])
    const expected = await text(acme, products, 'application/x-ndjson')
    for (const [accept, type] of [
      ['text/csv', 'text/csv'],
      ['text/csv; form=spreadsheet', 'text/csv'],
      ['application/x-ndjson', 'application/x-ndjson'],
    ] as const) {
      const file = await text(acme, products, accept)
      await service.request(copy, 'DELETE', `${products}/1`)
      const response = await fetch(`http://127.0.0.1:${service.port}${products}/batch`, {
        method: 'POST',
        headers: {
          'x-forwarded-host': `${copy.name}.localhost`,
          authorization: `Bearer ${copy.key}`,
          'content-type': type,
        },
        body: file,
      })
      expect([accept, await response.text()]).toEqual([accept, expect.stringContaining('"rejected":0')])
      const copied = await text(copy, products, 'application/x-ndjson')
      expect(copied.split('\n').slice(0, 3)).toEqual(expected.split('\n').slice(0, 3))
    }
    expect((await text(acme, `${products}?fields=id,x_text`, 'text/csv')).split('\r\n')[0]).toBe('id,x_text')
  })

  it('are in the change feed, also for a client that waits while a field is declared', async () => {
    const acme = await newAccount()
    await service.post(acme, products, { name: 'bolt' })
    const first = typed((await get(acme, `${products}/changes`)).body)
    const waiting = get(acme, `${products}/changes?wait=30&since=${first.cursor}`, other)
    await declare(acme, 'x_sku', 'text')
    await send(acme, 'PATCH', `${products}/1`, { x_sku: 'A-1' })
    const { body } = await waiting
    expect(body).toMatchObject({ data: [{ change: 'updated', record: { id: 1, x_sku: 'A-1' } }] })
    const selected = await get(acme, `${products}/changes?fields=id,x_sku&filter=x_sku=A-1`)
    expect(selected.body).toMatchObject({ data: [{ record: { id: 1, x_sku: 'A-1' } }] })
    await service.request(acme, 'DELETE', `${products}/1`)
    const last = await get(acme, `${products}/changes?fields=x_sku&since=${first.cursor}`)
    expect(last.body).toMatchObject({ data: [{ change: 'deleted', id: 1 }] })
  })

  it('have carried totals, also if a process that does not know the fields has changed records', async () => {
    const acme = await withFields()
    const rows = Array.from({ length: 21_000 }, (_, i) => ({
      id: i + 1,
      name: `p${i}`,
      x_text: i % 300 === 0 ? 'rare' : 'common',
    }))
    await batch(acme, rows)
    const total = async () => {
      const { body } = await get(acme, `${products}?limit=1&filter=x_text*comm`)
      return typed(body).meta.total
    }
    const common = rows.filter(({ x_text }) => x_text === 'common').length
    expect(await total()).toBe(common)
    await send(acme, 'PATCH', `${products}/2`, { x_text: 'rare' })
    expect(await total()).toBe(common - 1)
    await service.request(acme, 'DELETE', `${products}/3`)
    expect(await total()).toBe(common - 2)
    // As a process that does not know the fields: its before-images lack the values.
    await send(acme, 'PATCH', `${products}/4`, { x_text: 'rare' })
    await client.query('update product_before set custom = null where account_id = $1', [acme.accountId])
    expect(await total()).toBe(common - 3)
  })
})

describe('a deleted field', () => {
  it('is gone at once, its name is free, and its values are removed later', async () => {
    const acme = await withFields()
    await service.post(acme, products, { name: 'bolt', ...values })
    await service.request(acme, 'DELETE', `${fields}/product.x_text`)
    expect(JSON.stringify((await get(acme, `${products}/1`, other)).body)).not.toContain('x_text')
    expect((await get(acme, `${products}?filter=x_text=a`)).status).toBe(400)
    await declare(acme, 'x_text', 'integer')
    expect((await get(acme, `${products}/1`)).body).toMatchObject({ data: { x_text: null, x_integer: -42 } })
    const before = await get(acme, `${products}/1`)
    const database = new Database({
      url,
      role: 'quartermaster_server',
      writeRole: 'quartermaster_writer',
      pooler: 'none',
      emit: () => {},
      connectionsMax: 2,
      readMsMax: 300_000,
      limits: { ...defaultLimits, ...patientLimits },
    })
    atEnd(() => database.close())
    await new FieldSweep(database, { journalSweepMs: 0 }).sweep(60)
    const stored = async () => {
      const { rows } = await client.query<{ custom: object }>(
        'select custom from product where account_id = $1',
        [acme.accountId],
      )
      return Object.keys(rows[0]?.custom ?? {})
    }
    expect(await stored()).toHaveLength(5)
    await new FieldSweep(database, { journalSweepMs: 0 }).sweep(0)
    expect(await stored()).toHaveLength(4)
    const left = await client.query(`select from field where account_id = $1 and state = 'dropping'`, [
      acme.accountId,
    ])
    expect(left.rows).toEqual([])
    expect(await get(acme, `${products}/1`)).toEqual(before)
  })
})
