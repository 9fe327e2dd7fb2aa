import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiGeneratorJar } from './openapi-generator-jar.ts'
import { run } from './run.ts'

/** A generator of clients, with a program that uses the result as its documentation shows. */
export interface Generator {
  readonly name: string
  /** npm packages with exact versions. They are installed when the check runs, because they have 100 MB. */
  readonly packages: readonly string[]
  /** Writes the client of `openapi.json` into `folder/client`. */
  generate(folder: string): Promise<void>
  /**
   * Files that do not depend on the document, and that the generator's own authors do not compile with
   * `exactOptionalPropertyTypes`.
   */
  readonly runtime: RegExp | undefined
  /** Lists products, gets one, creates a partner and gets it. Reads BASE_URL and KEY. */
  readonly program: string
}

async function binary(folder: string, name: string, args: readonly string[]): Promise<void> {
  await run(join(folder, 'node_modules/.bin', name), args, { cwd: folder })
}

const environment = `const baseUrl = process.env['BASE_URL'] ?? ''
const key = process.env['KEY'] ?? ''
function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what)
}
`

const orval: Generator = {
  name: 'orval',
  packages: ['orval@8.38.0'],
  generate: (folder) =>
    binary(folder, 'orval', ['--input', 'openapi.json', '--output', 'client/api.ts', '--client', 'fetch']),
  runtime: undefined,
  program: `import { createPartner, getPartner, getProduct, listProducts, type Product } from './client/api.ts'
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
const created = await createPartner({ name: 'orval' }, { headers: { 'Idempotency-Key': 'orval' } })
check(created.status === 201, 'create')
const partner = await getPartner(created.data.data.id, { fields: 'name' })
check(partner.status === 200 && partner.data.data.name === 'orval', 'created')
const missing = await getProduct(999)
check(missing.status === 404 && missing.data.code === 'record_unknown', 'error')
`,
}

const openapiTypescript: Generator = {
  name: 'openapi-typescript',
  packages: ['openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3'],
  generate: (folder) => binary(folder, 'openapi-typescript', ['openapi.json', '--output', 'client/api.d.ts']),
  runtime: undefined,
  program: `import createClient from 'openapi-fetch'
import type { components, paths } from './client/api.d.ts'
${environment}
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } })
const { data: page } = await client.GET('/api/v1/inventory/product', {
  params: { query: { filter: 'list_price>1', limit: 1, page: 2 } },
})
check(page?.meta.total === 2 && page.pagination.totalPages === 2, 'list')
const product = page.data[0] as components['schemas']['Product']
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
`,
}

const heyApi: Generator = {
  name: '@hey-api/openapi-ts',
  packages: ['@hey-api/openapi-ts@0.99.0', 'typescript@5.9.3'],
  generate: (folder) => binary(folder, 'openapi-ts', ['--input', 'openapi.json', '--output', 'client']),
  runtime: /^client\/(?:client|core)\//,
  program: `import { client } from './client/client.gen.ts'
import { createPartner, getPartner, getProduct, listProducts, type Product } from './client/index.ts'
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
`,
}

/** Not one of `generators`: it needs Java. */
export const openApiGenerator: Generator = {
  name: 'openapi-generator',
  packages: [],
  async generate(folder) {
    const jar = await openApiGeneratorJar(folder)
    const files = ['-i', 'openapi.json', '-g', 'typescript-fetch', '-o', 'client']
    await run('java', ['-jar', jar, 'generate', ...files], { cwd: folder })
    if (readFileSync(join(folder, 'client/index.ts'), 'utf8') === '') throw new Error('nothing was generated')
  },
  runtime: /^client\/runtime\.ts/,
  program: `import { Configuration, PartnersApi, type Product, ProductsApi, ResponseError } from './client/index.ts'
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
`,
}

export const generators: readonly Generator[] = [orval, openapiTypescript, heyApi]
