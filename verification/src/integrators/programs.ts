/** Small programs that import the client, use its types and send requests to a running service. Each prints names as JSON. */

const requests = `
const qm = new Quartermaster({ baseUrl: BASE_URL, apiKey: API_KEY })
const names = []
const page = await qm.products.list({ fields: ['id', 'name'], filter: filter\`name=\${'Washer & "nut"'}\` })
for (const product of page.data) names.push(product.name)
for await (const product of qm.products.all({ fields: ['name'], filter: (p) => p.list_price.gt(10) })) names.push(product.name)
`

export const expected = '["Washer & \\"nut\\"","Hex bolt","Gear"]'

export const fromArguments = (program: string) =>
  program.replace('BASE_URL', 'process.argv[2]').replace('API_KEY', 'process.argv[3]')

export const esm = fromArguments(
  `import { filter, Quartermaster } from '@quartermaster/client'\n${requests}\nconsole.log(JSON.stringify(names))\n`,
)

export const commonJs = fromArguments(
  `import('@quartermaster/client').then(async ({ filter, Quartermaster }) => {\n${requests}\nconsole.log(JSON.stringify(names))\n})\n`,
)

export const deno = esm.replace('process.argv[2]', 'Deno.args[0]').replace('process.argv[3]', 'Deno.args[1]')

/** For the strictest compiler settings, which also check the types of the package. */
export const typescript = `import { filter, type Page, type Product, Quartermaster } from '@quartermaster/client'
declare const process: { readonly argv: readonly string[] }
const [, , baseUrl = '', apiKey = ''] = process.argv
${requests
  .replace('BASE_URL', 'baseUrl')
  .replace('API_KEY', 'apiKey')
  .replace('const names = []', 'const names: string[] = []')
  .replace('const page =', "const page: Page<Pick<Product, 'id' | 'name'>> =")}
console.log(JSON.stringify(names))
`

export const tsconfig = (module: 'nodenext' | 'esnext', moduleResolution: 'nodenext' | 'bundler') =>
  JSON.stringify({
    compilerOptions: {
      target: 'es2022',
      module,
      moduleResolution,
      types: [],
      strict: true,
      skipLibCheck: false,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      outDir: 'out',
    },
    include: ['*.ts'],
  })

/** Runs in a browser, which reaches the service under the origin of the page. */
export const page = '<!doctype html><title>waiting</title><script type="module" src="/main.js"></script>'

export const browser = (key: string) =>
  `import { filter, Quartermaster } from '@quartermaster/client'\ntry {\n${requests
    .replace('BASE_URL', 'location.origin')
    .replace(
      'API_KEY',
      JSON.stringify(key),
    )}\ndocument.title = JSON.stringify(names)\n} catch (error) { document.title = String(error) }\n`
