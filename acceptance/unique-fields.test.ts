import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import {
  type HttpResponse,
  list,
  partners,
  problemIn,
  products,
  type RequestOptions,
  recordIn,
  send,
} from './client.ts'
import { issueKey, quartermaster } from './operator.ts'

/** Records named by the values of unique fields: a SKU, a customer number, an id in another system. */

const { local } = inject('target')
const environment = { DATABASE_URL: local?.databaseUrl ?? '' }
const fields = '/manage/v1/fields'
let accounts = 0

type Account = RequestOptions & { readonly host: string }

async function newAccount(): Promise<Account> {
  const host = `unique-${++accounts}`
  await quartermaster(environment, 'account', 'create', host)
  return { host, key: (await issueKey(environment, host, 'everything')).key }
}

async function withSku(): Promise<Account> {
  const mine = await newAccount()
  const declared = await write(mine, 'POST', fields, {
    resource: 'product',
    name: 'x_sku',
    type: 'text',
    unique: true,
  })
  expect(recordIn({ ...declared, status: 200 })).toMatchObject({ unique: true, state: 'ready' })
  return mine
}

function write(
  of: RequestOptions,
  method: string,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpResponse> {
  const all = { 'content-type': 'application/json', ...headers }
  return send(path, { ...of, method, headers: all, body: JSON.stringify(body) })
}

async function batch(of: RequestOptions, query: string, ...rows: readonly object[]): Promise<unknown[]> {
  const body = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  const headers = { 'content-type': 'application/x-ndjson' }
  const { text } = await send(`${products}/batch${query}`, { ...of, method: 'POST', headers, body })
  return text
    .trim()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
}

test('[O5] PATCH by a unique value creates one record, then changes it; GET and DELETE find it', async () => {
  const mine = await withSku()
  const path = `${products}/x_sku/${encodeURIComponent('A/1 ü')}`
  const created = await write(mine, 'PATCH', path, { name: 'Bolt', list_price: 2 })
  expect([created.status, created.headers.location]).toEqual([201, `${products}/1`])
  expect(recordIn({ ...created, status: 200 })).toMatchObject({ id: 1, x_sku: 'A/1 ü', list_price: 2 })
  const changed = await write(mine, 'PATCH', path, { list_price: 3 })
  expect(recordIn(changed)).toMatchObject({ id: 1, name: 'Bolt', list_price: 3 })
  const read = await send(path, mine)
  expect([recordIn(read), read.headers.etag]).toEqual([recordIn(changed), changed.headers.etag])
  const headers = { 'if-none-match': read.headers.etag ?? '' }
  expect((await send(path, { ...mine, headers })).status).toBe(304)
  const adjusted = await write(
    mine,
    'POST',
    `${path}/adjust`,
    { qty_available: 4 },
    { 'idempotency-key': '1' },
  )
  expect(recordIn(adjusted)).toMatchObject({ id: 1, qty_available: 4 })
  expect((await send(path, { ...mine, method: 'DELETE' })).status).toBe(204)
  expect(problemIn(await send(path, mine), 404).code).toBe('record_unknown')
})

test('[O5] If-Match never creates, If-None-Match: * never changes, and both together decide', async () => {
  const mine = await withSku()
  const path = `${products}/x_sku/1`
  const onlyExisting = await write(mine, 'PATCH', path, { name: 'a' }, { 'if-match': '*' })
  expect(problemIn(onlyExisting, 412).code).toBe('precondition_failed')
  expect((await write(mine, 'PATCH', path, { name: 'a' }, { 'if-none-match': '*' })).status).toBe(201)
  const onlyNew = await write(mine, 'PATCH', path, { name: 'b' }, { 'if-none-match': '*' })
  expect(problemIn(onlyNew, 412).code).toBe('precondition_failed')
  expect(recordIn(await send(path, mine))).toMatchObject({ name: 'a' })
  expect((await write(mine, 'PATCH', path, { name: 'b' }, { 'if-match': '*' })).status).toBe(200)
})

test('[O5] clients that send one value at the same time make one record', async () => {
  const mine = await withSku()
  const responses = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      for (;;) {
        const response = await write(mine, 'PATCH', `${products}/x_sku/S`, { name: `by ${i}` })
        // On a busy machine a write may have to wait for the others too long.
        if (![429, 503].includes(response.status)) return response
        await sleep(100)
      }
    }),
  )
  expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    ...Array(19).fill(200),
    201,
  ])
  expect((await list(products, mine)).meta.total).toBe(1)
})

test('[O6] a value that another record has is a conflict with the id of that record', async () => {
  const mine = await withSku()
  for (const sku of ['A', 'B', null, null])
    expect((await write(mine, 'POST', products, { name: 'x', x_sku: sku })).status).toBe(201)
  for (const taken of [
    await write(mine, 'POST', products, { name: 'y', x_sku: 'A' }),
    await write(mine, 'PATCH', `${products}/2`, { x_sku: 'A' }),
  ]) {
    const { code, errors } = problemIn(taken, 409)
    expect([code, errors]).toMatchObject([
      'key_taken',
      [{ pointer: '/x_sku', code: 'value_taken', record: 1 }],
    ])
  }
  expect(await batch(mine, '?mode=update', { id: 2, x_sku: 'A' })).toMatchObject([
    { line: 1, id: 2, field: 'x_sku', code: 'key_taken', value: 'A' },
    { $end: { rejected: 1 } },
  ])
})

test('[O7] a batch by a unique field inserts, changes and deletes, and can be sent again', async () => {
  const mine = await withSku()
  const rows = [
    { x_sku: 'A', name: 'a' },
    { x_sku: 'B', name: 'b', list_price: 1 },
    { $delete: { x_sku: 'C' } },
  ]
  expect(await batch(mine, '?key=x_sku', ...rows)).toMatchObject([{ $end: { inserted: 2, unchanged: 1 } }])
  expect(await batch(mine, '?key=x_sku', ...rows)).toMatchObject([{ $end: { unchanged: 3 } }])
  expect(await batch(mine, '?key=x_sku&mode=insert', { x_sku: 'A', name: 'z' })).toMatchObject([
    { key: 'A', id: 1, code: 'record_exists' },
    { $end: { rejected: 1 } },
  ])
  expect(await batch(mine, '?key=x_sku&mode=update', { x_sku: 'D', name: 'z' })).toMatchObject([
    { key: 'D', field: 'x_sku' },
    { $end: { rejected: 1 } },
  ])
  const { data } = await list(`${products}?fields=id,x_sku,name`, mine)
  expect(data).toEqual([
    { id: 1, x_sku: 'A', name: 'a' },
    { id: 2, x_sku: 'B', name: 'b' },
  ])
})

test('[O7] imports name records by a unique field, and archives keep it', async () => {
  const mine = await newAccount()
  const account = ['--account', mine.host]
  await quartermaster(environment, 'field', 'create', 'product', 'x_sku', 'text', '--unique', ...account)
  const folder = await mkdtemp(join(tmpdir(), 'acceptance-'))
  try {
    const file = join(folder, 'products.csv')
    await writeFile(file, 'x_sku,name\nA,Bolt\nB,Nut\n')
    const first = JSON.parse(
      await quartermaster(environment, 'import', 'product', file, '--key', 'x_sku', '--json', ...account),
    )
    expect(first).toMatchObject({ inserted: 2, rejected: 0 })
    const again = JSON.parse(
      await quartermaster(environment, 'import', 'product', file, '--key', 'x_sku', '--json', ...account),
    )
    expect(again).toMatchObject({ unchanged: 2 })
    const archive = join(folder, 'archive.ndjson')
    await writeFile(archive, await quartermaster(environment, 'account', 'export', mine.host))
    await write(mine, 'PATCH', `${products}/x_sku/C`, { name: 'later' })
    await quartermaster(environment, 'account', 'restore', archive, '--replace')
    expect(recordIn(await send(`${products}/x_sku/B`, mine))).toMatchObject({ id: 2 })
    expect((await send(`${products}/x_sku/C`, mine)).status).toBe(404)
    const taken = await write(mine, 'POST', products, { name: 'x', x_sku: 'A' })
    expect(problemIn(taken, 409).code).toBe('key_taken')
    const doctor = await quartermaster(environment, 'doctor', ...account).catch(
      ({ stdout }: { stdout: string }) => stdout,
    )
    expect(doctor).toContain(`The tallies of ${mine.host} are correct.`)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('[O8] default_code, email and company_code can become unique, if no two records have one value', async () => {
  const mine = await newAccount()
  for (const email of ['a@x.example', 'b@x.example', 'a@x.example'])
    await write(mine, 'POST', partners, { name: 'x', email })
  const twice = problemIn(
    await write(mine, 'POST', fields, { resource: 'partner', name: 'email', unique: true }),
    409,
  )
  expect([twice.code, twice.detail]).toEqual([
    'values_not_unique',
    expect.stringContaining('"a@x.example" (partners 1, 3)'),
  ])
  await write(mine, 'PATCH', `${partners}/3`, { email: 'c@x.example' })
  await quartermaster(environment, 'field', 'unique', 'partner.email', '--account', mine.host)
  expect(recordIn(await send(`${partners}/email/c@x.example`, mine))).toMatchObject({ id: 3 })
  const taken = problemIn(await write(mine, 'POST', partners, { name: 'y', email: 'b@x.example' }), 409)
  expect(taken.code).toBe('key_taken')
  expect((await send(`${fields}/partner.email`, { ...mine, method: 'DELETE' })).status).toBe(204)
  expect((await write(mine, 'POST', partners, { name: 'y', email: 'b@x.example' })).status).toBe(201)
  const wrong = problemIn(
    await write(mine, 'POST', fields, { resource: 'partner', name: 'phone', unique: true }),
    400,
  )
  expect(wrong.errors).toMatchObject([{ pointer: '/name' }, { pointer: '/type' }])
  const decimal = { resource: 'partner', name: 'x_rate', type: 'decimal', unique: true }
  expect(problemIn(await write(mine, 'POST', fields, decimal), 400).errors).toMatchObject([
    { pointer: '/unique' },
  ])
})
