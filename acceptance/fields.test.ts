import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { type HttpResponse, products, type RequestOptions, send } from './client.ts'
import { issueKey, quartermaster } from './operator.ts'

/** Fields that an account declares for its records, over HTTP and by the operator. */

const { local } = inject('target')
const environment = { DATABASE_URL: local?.databaseUrl ?? '' }
const fields = '/manage/v1/fields'
let accounts = 0

async function newAccount(): Promise<RequestOptions & { readonly host: string }> {
  const host = `fields-${++accounts}`
  await quartermaster(environment, 'account', 'create', host)
  return { host, key: (await issueKey(environment, host, 'everything')).key }
}

function write(of: RequestOptions, method: string, path: string, body: object): Promise<HttpResponse> {
  const headers = { 'content-type': 'application/json' }
  return send(path, { ...of, method, headers, body: JSON.stringify(body) })
}

const dataIn = ({ text }: HttpResponse): unknown => {
  const { data }: { data: unknown } = JSON.parse(text)
  return data
}

test('[O1] an administrator declares, lists, labels and deletes fields of the own account only', async () => {
  const [mine, others] = [await newAccount(), await newAccount()]
  const created = await write(mine, 'POST', fields, {
    resource: 'company',
    name: 'x_region',
    type: 'text',
    label: 'Region',
  })
  expect([created.status, created.headers.location]).toEqual([201, `${fields}/company.x_region`])
  expect(dataIn(created)).toMatchObject({ id: 'company.x_region', type: 'text', label: 'Region' })
  const changed = await write(mine, 'PATCH', `${fields}/company.x_region`, { label: 'Area' })
  expect(dataIn(changed)).toMatchObject({ label: 'Area' })
  expect(dataIn(await send(fields, others))).toEqual([])
  expect((await send(`${fields}/company.x_region`, others)).status).toBe(404)
  const reader = { ...mine, key: (await issueKey(environment, mine.host, 'reads', ['company:read'])).key }
  expect((await send(fields, reader)).status).toBe(403)
  expect((await send(`${fields}/company.x_region`, { ...mine, method: 'DELETE' })).status).toBe(204)
  expect(dataIn(await send(fields, mine))).toEqual([])
  const audit = await send('/manage/v1/audit?fields=action&filter=subject=company.x_region', mine)
  expect(dataIn(audit)).toEqual([
    { action: 'field.delete' },
    { action: 'field.change' },
    { action: 'field.create' },
  ])
})

test('[O2] a declared field is created, read, changed, selected, filtered and exported like any other', async () => {
  const mine = await newAccount()
  await write(mine, 'POST', fields, { resource: 'product', name: 'x_barcode', type: 'text' })
  await write(mine, 'POST', fields, { resource: 'product', name: 'x_weight', type: 'decimal' })
  const created = await write(mine, 'POST', products, {
    name: 'Bolt',
    x_barcode: '4006381333931',
    x_weight: 0.25,
  })
  expect(created.status).toBe(201)
  const read = await send(`${products}/1`, mine)
  expect(read.headers.etag).toBe(created.headers.etag)
  expect(dataIn(read)).toMatchObject({ id: 1, x_barcode: '4006381333931', x_weight: 0.25 })
  const patched = await write(mine, 'PATCH', `${products}/1`, { x_weight: null })
  expect(dataIn(patched)).toMatchObject({ x_barcode: '4006381333931', x_weight: null })
  for (const filter of ['x_barcode=4006381333931', 'x_barcode*6381', 'x_weight=null', 'x_weight!=0.25'])
    expect([filter, dataIn(await send(`${products}?fields=id&filter=${filter}`, mine))]).toEqual([
      filter,
      [{ id: 1 }],
    ])
  const csv = await send(`${products}?fields=id,x_barcode,x_weight`, {
    ...mine,
    headers: { accept: 'text/csv' },
  })
  expect(csv.text).toBe('\uFEFFid,x_barcode,x_weight\r\n1,"4006381333931",\r\n')
  const wrong = await send(`${products}?filter=x_barkode=1`, mine)
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('Did you mean x_barcode?')])
})

test('[O3] a deleted field is gone at once, and one with its name begins with null', async () => {
  const mine = await newAccount()
  const declared = { resource: 'product', name: 'x_barcode', type: 'text' }
  await write(mine, 'POST', fields, declared)
  await write(mine, 'POST', products, { name: 'Bolt', x_barcode: '1' })
  await send(`${fields}/product.x_barcode`, { ...mine, method: 'DELETE' })
  expect((await send(`${products}/1`, mine)).text).not.toContain('x_barcode')
  expect((await send(`${products}?fields=x_barcode`, mine)).status).toBe(400)
  await write(mine, 'POST', fields, { ...declared, type: 'integer' })
  expect(dataIn(await send(`${products}/1?fields=x_barcode`, mine))).toEqual({ x_barcode: null })
})

test('[O4] the commands declare, list and delete fields; imports, exports and archives have their values', async () => {
  const mine = await newAccount()
  const account = ['--account', mine.host]
  await quartermaster(
    environment,
    'field',
    'create',
    'product',
    'x_sku',
    'text',
    ...account,
    '--label',
    'SKU',
  )
  await quartermaster(environment, 'field', 'create', 'product', 'x_old', 'integer', ...account)
  await quartermaster(environment, 'field', 'label', 'product.x_old', 'Old', ...account)
  await quartermaster(environment, 'field', 'delete', 'product.x_old', ...account)
  const listed: unknown = JSON.parse(await quartermaster(environment, 'field', 'list', ...account, '--json'))
  expect(listed).toMatchObject({ fields: [{ id: 'product.x_sku', label: 'SKU' }] })
  const folder = await mkdtemp(join(tmpdir(), 'acceptance-'))
  try {
    const file = join(folder, 'products.csv')
    await writeFile(file, 'id,name,x_sku\n1,Bolt,A-1\n2,Nut,\n')
    await quartermaster(environment, 'import', 'product', file, ...account)
    const exported = await quartermaster(environment, 'export', 'product', ...account, '--fields', 'id,x_sku')
    expect(exported).toMatch(/^\{"id":1,"x_sku":"A-1"\}\n\{"id":2,"x_sku":null\}\n/)
    const archive = join(folder, 'archive.ndjson')
    await writeFile(archive, await quartermaster(environment, 'account', 'export', mine.host))
    await quartermaster(environment, 'account', 'restore', archive, '--as', `${mine.host}-copy`)
    // Over the account itself, whose fields get numbers that it never had.
    await write(mine, 'PATCH', `${products}/1`, { x_sku: 'B-2' })
    await quartermaster(environment, 'account', 'restore', archive, '--replace')
    expect(dataIn(await send(`${products}/1?fields=x_sku`, mine))).toEqual({ x_sku: 'A-1' })
    const copy = ['export', 'product', '--account', `${mine.host}-copy`, '--fields', 'id,x_sku']
    const records = (lines: string) => lines.split('\n').slice(0, 2)
    expect(records(await quartermaster(environment, ...copy))).toEqual(records(exported))
    await write(mine, 'POST', fields, { resource: 'product', name: 'x_new', type: 'integer' })
    expect(dataIn(await send(`${products}/1?fields=x_sku,x_new`, mine))).toEqual({
      x_sku: 'A-1',
      x_new: null,
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})
