import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../run.ts'
import { environment, type Generator } from './generator.ts'
import { openApiGeneratorJar } from './openapi-generator-jar.ts'

/**
 * Version 7.0.0 gives members of OpenAPI 3.1 schemas the type `any`, so it does not convert the rows of a batch: only with the original names
 * does a row in its types have the names that the service knows.
 */
const options = ['-g', 'typescript-fetch', '--additional-properties=modelPropertyNaming=original']

/** Needs Java. */
export const openApiGenerator: Generator = {
  name: 'openapi-generator',
  packages: [],
  async generate(folder) {
    const jar = await openApiGeneratorJar(folder)
    await run('java', ['-jar', jar, 'generate', '-i', 'openapi.json', '-o', 'client', ...options], {
      cwd: folder,
    })
    if (readFileSync(join(folder, 'client/index.ts'), 'utf8') === '') throw new Error('nothing was generated')
  },
  runtime: /^client\/runtime\.ts/,
  program: `import {
  Configuration,
  PartnersApi,
  type Product,
  type ProductPatch,
  type ProductRow,
  ProductsApi,
  ResponseError,
} from './client/index.ts'
${environment}
const configuration = new Configuration({ basePath: baseUrl, accessToken: key })
const products = new ProductsApi(configuration)
const page = await products.listProducts({ filter: 'list_price>1', limit: 1, page: 2 })
check(page.meta.total === 2 && page.pagination.totalPages === 2, 'list')
const product = page.data[0] as Product
check(product.name === 'Gear' && product.list_price === 99 && product.categ_id === null, 'record')
const one = await products.getProduct({ id: product.id })
check(one.data.name === product.name, 'get')
const partners = new PartnersApi(configuration)
const created = await partners.createPartner({
  newPartner: { name: 'openapi-generator' },
  idempotencyKey: 'openapi-generator',
})
const partner = await partners.getPartner({ id: created.data.id, fields: 'name' })
check(partner.data.name === 'openapi-generator', 'created')
const error: unknown = await products.getProduct({ id: 999 }).catch((reason: unknown) => reason)
check(error instanceof ResponseError && error.response.status === 404, 'error')

const bolt: ProductRow = { x_sku: 'openapi-generator/1', name: 'Bolt', list_price: 0.35 }
const nut: ProductRow = { x_sku: 'openapi-generator/2', name: 'Nut', list_price: '0.125' }
const pin: ProductRow = { x_sku: 'openapi-generator/3', name: 'Pin', list_price: 'cheap' }
const send = (rows: ProductRow[]) => products.batchProducts({ key: 'x_sku', productBatch: { rows } })
const batch = await send([bolt, nut, pin])
const { totals, rejected } = batch.data
check(totals.read === 3 && totals.inserted === 2 && totals.rejected === 1, 'totals of a batch')
const [rejectedRow] = rejected
check(rejectedRow?.index === 2 && rejectedRow.key === pin.x_sku, 'rejected row')
check(rejectedRow.field === 'list_price' && rejectedRow.value === 'cheap', 'reason of a rejected row')
const second = await send([bolt, { $delete: { x_sku: 'openapi-generator/2' } }])
check(second.data.totals.unchanged === 1 && second.data.totals.deleted === 1, 'second totals')
const none: unknown = await send([pin]).catch((reason: unknown) => reason)
check(none instanceof ResponseError && none.response.status === 400, 'batch without a valid row')

const named = { key: 'x_sku', value: 'openapi-generator/4711' }
const put = async (productPatch: ProductPatch) => {
  const response = await products.upsertProductRaw({ ...named, productPatch })
  return { status: response.raw.status, record: (await response.value()).data }
}
const inserted = await put({ name: 'Washer', qty_available: 10 })
check(inserted.status === 201 && inserted.record.x_sku === named.value, 'upsert that creates')
const changed = await put({ list_price: '0.35' })
check(changed.status === 200 && changed.record.id === inserted.record.id, 'upsert that changes')
check(changed.record.list_price === 0.35 && changed.record.qty_available === 10, 'upserted record')

const { id } = changed.record
const sale = { id, idempotencyKey: 'sale of openapi-generator', productAdjustment: { qty_available: -3 } }
const sold = await products.adjustProduct(sale)
check(sold.data.qty_available === 7, 'adjustment')
const { raw } = await products.adjustProductRaw(sale)
check(raw.headers.get('idempotent-replayed') === 'true', 'repeated adjustment')
const found = await products.getProductByKey(named)
check(found.data.qty_available === 7, 'adjusted once')

export const doNotCompile = [
  // @ts-expect-error An adjustment needs an Idempotency-Key.
  () => products.adjustProduct({ id, productAdjustment: { qty_available: -3 } }),
  // @ts-expect-error A product has no field x_colour.
  () => put({ x_colour: 'red' }),
  // @ts-expect-error A batch has rows.
  () => products.batchProducts({ productBatch: [bolt] }),
]
`,
}
