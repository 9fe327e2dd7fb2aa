import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { binary, environment, type Generator } from './generator.ts'

/** `headers` gives operations their headers as typed arguments, and `urlEncodeParameters` allows any value in a path. */
const config = `export default {
  quartermaster: {
    input: './openapi.json',
    output: { target: './client/api.ts', client: 'fetch', headers: true, urlEncodeParameters: true },
  },
}
`

export const orval: Generator = {
  name: 'orval',
  // orval takes any 0.29 of the parser, so that each run could install another one.
  packages: ['orval@8.38.0', '@scalar/openapi-parser@0.29.8'],
  async generate(folder) {
    writeFileSync(join(folder, 'orval.config.mjs'), config)
    await binary(folder, 'orval', ['--config', 'orval.config.mjs'])
  },
  runtime: undefined,
  program: `import {
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
} from './client/api.ts'
${environment}
const send = globalThis.fetch
globalThis.fetch = (path, init) => {
  const headers = new Headers(init?.headers)
  headers.set('authorization', \`Bearer \${key}\`)
  return send(\`\${baseUrl}\${String(path)}\`, { ...init, headers })
}
const page = await listProducts({ filter: 'list_price>1', limit: 1, page: 2 })
check(page.status === 200, 'list')
check(page.data.meta.total === 2 && page.data.pagination.totalPages === 2, 'total')
const [record] = page.data.data
const product = record as Product
check(product.name === 'Gear' && product.list_price === 99 && product.categ_id === null, 'record')
const one = await getProduct(product.id)
check(one.status === 200 && one.data.data.name === product.name, 'get')
const created = await createPartner({ name: 'orval' }, { 'Idempotency-Key': 'orval' })
check(created.status === 201, 'create')
const partner = await getPartner(created.data.data.id, { fields: 'name' })
check(partner.status === 200 && partner.data.data.name === 'orval', 'created')
const missing = await getProduct(999)
check(missing.status === 404 && missing.data.code === 'record_unknown', 'error')

const bolt: ProductRow = { x_sku: 'orval/1', name: 'Bolt', list_price: 0.35 }
const nut: ProductRow = { x_sku: 'orval/2', name: 'Nut', list_price: '0.125' }
const pin: ProductRow = { x_sku: 'orval/3', name: 'Pin', list_price: 'cheap' }
const batch = await batchProducts({ rows: [bolt, nut, pin] }, { key: 'x_sku' })
check(batch.status === 200, 'batch')
const { totals, rejected } = batch.data.data
check(totals.read === 3 && totals.inserted === 2 && totals.rejected === 1, 'totals of a batch')
const [rejectedRow] = rejected
check(rejectedRow?.index === 2 && rejectedRow.key === pin.x_sku, 'rejected row')
check(rejectedRow.field === 'list_price' && rejectedRow.value === 'cheap', 'reason of a rejected row')
const second = await batchProducts({ rows: [bolt, { $delete: { x_sku: 'orval/2' } }] }, { key: 'x_sku' })
check(second.status === 200, 'second batch')
check(second.data.data.totals.unchanged === 1 && second.data.data.totals.deleted === 1, 'second totals')
const none = await batchProducts({ rows: [pin] }, { key: 'x_sku' })
check(none.status === 400 && none.data.code === 'body_invalid', 'batch without a valid row')

const put = (patch: ProductPatch) => upsertProduct('x_sku', 'orval/4711', patch)
const inserted = await put({ name: 'Washer', qty_available: 10 })
check(inserted.status === 201 && inserted.data.data.x_sku === 'orval/4711', 'upsert that creates')
const changed = await put({ list_price: '0.35' })
check(changed.status === 200 && changed.data.data.id === inserted.data.data.id, 'upsert that changes')
check(changed.data.data.list_price === 0.35 && changed.data.data.qty_available === 10, 'upserted record')

const { id } = changed.data.data
const sell = () => adjustProduct(id, { qty_available: -3 }, { 'Idempotency-Key': 'sale of orval' })
const sold = await sell()
check(sold.status === 200 && sold.data.data.qty_available === 7, 'adjustment')
const repeated = await sell()
check(repeated.status === 200 && repeated.headers.get('idempotent-replayed') === 'true', 'repeated adjustment')
const found = await getProductByKey('x_sku', 'orval/4711')
check(found.status === 200 && found.data.data.qty_available === 7, 'adjusted once')

export const doNotCompile = [
  // @ts-expect-error An adjustment needs an Idempotency-Key.
  () => adjustProduct(id, { qty_available: -3 }),
  // @ts-expect-error The quantity is a number or a string.
  () => adjustProduct(id, { qty_available: true }, { 'Idempotency-Key': 'x' }),
  // @ts-expect-error A product has no field x_colour.
  () => put({ x_colour: 'red' }),
  // @ts-expect-error A batch has rows.
  () => batchProducts([bolt], { key: 'x_sku' }),
]
`,
}
