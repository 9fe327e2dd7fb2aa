import { binary, environment, type Generator } from './generator.ts'

export const openapiTypescript: Generator = {
  name: 'openapi-typescript',
  packages: ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3'],
  generate: (folder) => binary(folder, 'openapi-typescript', ['openapi.json', '--output', 'client/api.d.ts']),
  runtime: undefined,
  program: `import createClient from 'openapi-fetch'
import type { components, paths } from './client/api.d.ts'
${environment}
type Schemas = components['schemas']
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } })
const { data: page } = await client.GET('/api/v1/inventory/product', {
  params: { query: { filter: 'list_price>1', limit: 1, page: 2 } },
})
check(page?.meta.total === 2 && page.pagination.totalPages === 2, 'list')
const product = page.data[0] as Schemas['Product']
check(product.name === 'Gear' && product.list_price === 99 && product.categ_id === null, 'record')
const { data: one } = await client.GET('/api/v1/inventory/product/{id}', {
  params: { path: { id: product.id } },
})
check(one?.data.name === product.name, 'get')
const { data: created } = await client.POST('/api/v1/resources/partner', {
  params: { header: { 'Idempotency-Key': 'openapi-typescript' } },
  body: { name: 'openapi-typescript' },
})
check(created !== undefined, 'create')
const { data: partner } = await client.GET('/api/v1/resources/partner/{id}', {
  params: { path: { id: created.data.id }, query: { fields: 'name' } },
})
check(partner?.data.name === 'openapi-typescript', 'created')
const { error } = await client.GET('/api/v1/inventory/product/{id}', { params: { path: { id: 999 } } })
check(error?.code === 'record_unknown', 'error')

const bolt: Schemas['ProductRow'] = { x_sku: 'openapi-typescript/1', name: 'Bolt', list_price: 0.35 }
const nut: Schemas['ProductRow'] = { x_sku: 'openapi-typescript/2', name: 'Nut', list_price: '0.125' }
const pin: Schemas['ProductRow'] = { x_sku: 'openapi-typescript/3', name: 'Pin', list_price: 'cheap' }
const send = (rows: Schemas['ProductRow'][]) =>
  client.POST('/api/v1/inventory/product/batch', { params: { query: { key: 'x_sku' } }, body: { rows } })
const { data: batch } = await send([bolt, nut, pin])
check(batch !== undefined, 'batch')
const { totals, rejected } = batch.data
check(totals.read === 3 && totals.inserted === 2 && totals.rejected === 1, 'totals of a batch')
const [rejectedRow] = rejected
check(rejectedRow?.index === 2 && rejectedRow.key === pin.x_sku, 'rejected row')
check(rejectedRow.field === 'list_price' && rejectedRow.value === 'cheap', 'reason of a rejected row')
const { data: second } = await send([bolt, { $delete: { x_sku: 'openapi-typescript/2' } }])
check(second?.data.totals.unchanged === 1 && second.data.totals.deleted === 1, 'second totals')
const none = await send([pin])
check(none.response.status === 400 && none.error?.code === 'body_invalid', 'batch without a valid row')

const path = { key: 'x_sku', value: 'openapi-typescript/4711' }
const put = (body: Schemas['ProductPatch']) =>
  client.PATCH('/api/v1/inventory/product/{key}/{value}', { params: { path }, body })
const inserted = await put({ name: 'Washer', qty_available: 10 })
check(inserted.response.status === 201 && inserted.data?.data.x_sku === path.value, 'upsert that creates')
const changed = await put({ list_price: '0.35' })
check(changed.response.status === 200 && changed.data?.data.id === inserted.data.data.id, 'upsert that changes')
check(changed.data.data.list_price === 0.35 && changed.data.data.qty_available === 10, 'upserted record')

const { id } = changed.data.data
const header = { 'Idempotency-Key': 'sale of openapi-typescript' }
const sell = () =>
  client.POST('/api/v1/inventory/product/{id}/adjust', {
    params: { path: { id }, header },
    body: { qty_available: -3 },
  })
const sold = await sell()
check(sold.data?.data.qty_available === 7, 'adjustment')
const repeated = await sell()
check(repeated.response.headers.get('idempotent-replayed') === 'true', 'repeated adjustment')
const { data: found } = await client.GET('/api/v1/inventory/product/{key}/{value}', { params: { path } })
check(found?.data.qty_available === 7, 'adjusted once')

const adjust = '/api/v1/inventory/product/{id}/adjust'
export const doNotCompile = [
  // @ts-expect-error An adjustment needs an Idempotency-Key.
  () => client.POST(adjust, { params: { path: { id } }, body: { qty_available: -3 } }),
  // @ts-expect-error The quantity is a number or a string.
  () => client.POST(adjust, { params: { path: { id }, header }, body: { qty_available: true } }),
  // @ts-expect-error A product has no field x_colour.
  () => put({ x_colour: 'red' }),
  // @ts-expect-error A batch has rows.
  () => client.POST('/api/v1/inventory/product/batch', { body: [bolt] }),
]
`,
}
