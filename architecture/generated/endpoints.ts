import { openApi } from '../../server/src/http/openapi/document.ts'
import { type Route, routeTable } from '../../verification/src/guard/inputs/route-table.ts'
import { code, table } from './markdown.ts'

/** What is served besides the operations of the OpenAPI document. */
const pages: Readonly<Record<string, string>> = {
  '/openapi.json': 'The OpenAPI 3.1 document; with a key, including your fields',
  '/reference': 'The API reference in a browser',
  '/reference/errors': 'All error codes',
  '/reference/errors/:code': 'What a code means and what to do',
  '/docs': 'This documentation, with a search',
  '/console': 'The console; `GET /` with `Accept: text/html` redirects there',
}

/** Files of the pages above, and the redirect. */
const parts = ['/', '/console/*', '/docs/*']

/** Paths with the names of their parameters removed. */
const nameless = (path: string) => path.replaceAll(/\{\w+\}|:\w+/g, '{}')

interface Operation {
  readonly summary: string
}

const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every operation has one
    summary: (operation as Operation).summary,
  })),
)

function rowOf({ method, url, scopes = [] }: Route) {
  const place = operations.findIndex(
    (operation) => operation.method === method && nameless(operation.path) === nameless(url),
  )
  const { path, summary } = operations[place] ?? {
    path: url.replace(/:(\w+)/, '{$1}'),
    summary: pages[url],
  }
  if (summary === undefined) throw new Error(`${method} ${url} has neither an operation nor a description.`)
  const usual = usualScope(method, path)
  const isUsual = scopes.length === (usual === undefined ? 0 : 1) && scopes[0] === usual
  const needs = scopes.length > 4 ? 'any scope' : scopes.map(code).join(' or ')
  return {
    place: place < 0 ? operations.length : place,
    method,
    path,
    scope: scopes.join(' or '),
    text: `${code(method)} ${summary}${isUsual ? '' : ` (${needs})`}`,
  }
}

/** The scope that a request needs unless the table names another. */
function usualScope(method: string, path: string): string | undefined {
  if (path.startsWith('/manage/v1/')) return 'account:manage'
  const [, resource] = /^\/api\/v1\/[a-z]+\/([a-z]+)/.exec(path) ?? []
  return resource === undefined ? undefined : `${resource}:${method === 'GET' ? 'read' : 'write'}`
}

/** The paths of the resources whose endpoints are those of products. */
const others: Readonly<Record<string, string>> = {
  partner: '/api/v1/resources/partner',
  company: '/api/v1/resources/company',
}

/** Method, path and scopes of a product's endpoint, as those of another resource. */
const asOther = (text: string, name: string, path: string) =>
  text.replace('/api/v1/inventory/product', path).replaceAll('product:', `${name}:`)

/** Every route that the service registers, with the scopes that it checks. Those of other resources are listed if they differ. */
export async function endpoints(): Promise<string> {
  const rows = (await routeTable())
    .filter(({ method, url }) => method !== 'HEAD' && method !== 'QUERY' && !parts.includes(url))
    .map(rowOf)
    .toSorted((a, b) => a.place - b.place)
    .map((row) => ({ ...row, request: `${row.method} ${row.path}` }))
  const products = rows.filter(({ path }) => path.startsWith('/api/v1/inventory/product'))
  const same = Object.entries(others).flatMap(([name, path]) =>
    products.map(({ request, scope }) => asOther(`${request} ${scope}`, name, path)),
  )
  const listed = rows.filter(({ request, scope }) => !same.includes(`${request} ${scope}`))
  const places = rows.map(({ request }) => request)
  const missing = products.filter(({ request }) =>
    Object.entries(others).some(([name, path]) => !places.includes(asOther(request, name, path))),
  )
  if (missing.some(({ path }) => !path.endsWith('/adjust')))
    throw new Error('The text below the table says that only adjustments are missing.')
  const paths = [...new Set(listed.map(({ path }) => path))]
  return [
    table(
      ['Path', 'Methods'],
      paths.map((path) => [
        code(path),
        listed
          .filter((row) => row.path === path)
          .map(({ text }) => text)
          .join('; '),
      ]),
    ),
    `${Object.values(others).map(code).join(' and ')} have the same endpoints with their own scopes, such as \`partner:read\`, except \`adjust\`.`,
  ].join('\n\n')
}
