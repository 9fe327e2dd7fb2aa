import { binary, environment, type Generator } from './generator.ts'

export const heyApi: Generator = {
  name: '@hey-api/openapi-ts',
  packages: ['@hey-api/openapi-ts@0.99.0', 'typescript@5.9.3'],
  generate: (folder) => binary(folder, 'openapi-ts', ['--input', 'openapi.json', '--output', 'client']),
  runtime: /^client\/(?:client|core)\//,
  program: `import { client } from './client/client.gen.ts'
import {
  adjustProduct,
  batchProducts,
  createPartner,
  getPartner,
  getProduct,
  getProductByKey,
  listProducts,
  type Product,
  type ProductPatch,
  type ProductRow,
  upsertProduct,
} from './client/index.ts'
${environment}
client.setConfig({ baseUrl, auth: () => key })
const { data: page } = await listProducts({ query: { filter: 'list_price>1', limit: 1, page: 2 } })
check(page?.meta.total === 2 && page.pagination.totalPages === 2, 'list')
const product = page.data[0] as Product
check(product.name === 'Gear' && product.list_price === 99 && product.categ_id === null, 'record')
const { data: one } = await getProduct({ path: { id: product.id } })
check(one?.data.name === product.name, 'get')
const { data: created } = await createPartner({
  body: { name: 'hey-api' },
  headers: { 'Idempotency-Key': 'hey-api' },
})
check(created !== undefined, 'create')
const { data: partner } = await getPartner({ path: { id: created.data.id }, query: { fields: 'name' } })
check(partner?.data.name === 'hey-api', 'created')
const { error } = await getProduct({ path: { id: 999 } })
check(error?.code === 'record_unknown', 'error')

const bolt: ProductRow = { x_sku: 'hey-api/1', name: 'Bolt', list_price: 0.35 }
const nut: ProductRow = { x_sku: 'hey-api/2', name: 'Nut', list_price: '0.125' }
const pin: ProductRow = { x_sku: 'hey-api/3', name: 'Pin', list_price: 'cheap' }
const send = (rows: ProductRow[]) => batchProducts({ query: { key: 'x_sku' }, body: { rows } })
const { data: batch } = await send([bolt, nut, pin])
check(batch !== undefined, 'batch')
const { totals, rejected } = batch.data
check(totals.read === 3 && totals.inserted === 2 && totals.rejected === 1, 'totals of a batch')
const [rejectedRow] = rejected
check(rejectedRow?.index === 2 && rejectedRow.key === pin.x_sku, 'rejected row')
check(rejectedRow.field === 'list_price' && rejectedRow.value === 'cheap', 'reason of a rejected row')
const { data: second } = await send([bolt, { $delete: { x_sku: 'hey-api/2' } }])
check(second?.data.totals.unchanged === 1 && second.data.totals.deleted === 1, 'second totals')
const none = await send([pin])
check(none.response?.status === 400 && none.error?.code === 'body_invalid', 'batch without a valid row')

const path = { key: 'x_sku', value: 'hey-api/4711' }
const put = (body: ProductPatch) => upsertProduct({ path, body })
const inserted = await put({ name: 'Washer', qty_available: 10 })
check(inserted.response?.status === 201 && inserted.data?.data.x_sku === path.value, 'upsert that creates')
const changed = await put({ list_price: '0.35' })
check(changed.response?.status === 200 && changed.data?.data.id === inserted.data.data.id, 'upsert that changes')
check(changed.data.data.list_price === 0.35 && changed.data.data.qty_available === 10, 'upserted record')

const { id } = changed.data.data
const headers = { 'Idempotency-Key': 'sale of hey-api' }
const sell = () => adjustProduct({ path: { id }, headers, body: { qty_available: -3 } })
const sold = await sell()
check(sold.data?.data.qty_available === 7, 'adjustment')
const repeated = await sell()
check(repeated.response?.headers.get('idempotent-replayed') === 'true', 'repeated adjustment')
const { data: found } = await getProductByKey({ path })
check(found?.data.qty_available === 7, 'adjusted once')

export const doNotCompile = [
  // @ts-expect-error An adjustment needs an Idempotency-Key.
  () => adjustProduct({ path: { id }, body: { qty_available: -3 } }),
  // @ts-expect-error The quantity is a number or a string.
  () => adjustProduct({ path: { id }, headers, body: { qty_available: true } }),
  // @ts-expect-error A product has no field x_colour.
  () => put({ x_colour: 'red' }),
  // @ts-expect-error A batch has rows.
  () => batchProducts({ body: [bolt] }),
]
`,
}
