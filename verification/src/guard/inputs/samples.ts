import { resources } from '../../../../server/src/catalog/resources.ts'
import { parameters } from '../../../../server/src/http/openapi/parts.ts'
import { resourcePath } from '../../../../server/src/http/paths.ts'
import { urlOf } from '../../../../server/src/http/routes/route.ts'
import { routes } from '../../../../server/src/http/routes/routes.ts'
import type { Route } from './route-table.ts'

/** A valid value for each parameter in the path of a route, by the route's path up to it: its example, if it has one. */
const samples: Readonly<Record<string, string>> = {
  '/reference/errors/:code': 'filter_invalid',
  '/console/*': 'products',
  ...Object.fromEntries(
    routes.flatMap((route) => {
      const [start] = /^.*:id/.exec(urlOf(route)) ?? []
      const shared = (route.operation.parameters ?? []).filter((one) => typeof one === 'string')
      const inPath = shared.map((name) => parameters[name]).find((one) => one.in === 'path')
      return start === undefined || inPath === undefined ? [] : [[start, String(inPath.example)]]
    }),
  ),
}

/** The path of the route with a value for its parameter; undefined if no value is known. */
export function samplePath({ url }: Route, value?: string): string | undefined {
  const at = url.search(/[:*]/)
  if (at < 0) return url
  const end = url.indexOf('/', at)
  const start = end < 0 ? url : url.slice(0, end)
  const sample = samples[start]
  if (sample === undefined) return undefined
  const path = url.slice(0, at) + (value ?? sample) + (end < 0 ? '' : url.slice(end))
  return /[:*]/.test(path.replace(value ?? sample, '')) ? undefined : path
}

/** The members that a JSON body of the route may have. */
export function membersOf({ method, url }: Route): readonly string[] {
  const route = routes.find((one) => urlOf(one) === url && one.methods.some((known) => known === method))
  const reference = route?.operation.body?.['application/json']?.schema['$ref']
  const [name = ''] = String(reference).split('/').slice(-1)
  const members = Object.keys(route?.operation.schemas?.[name]?.['properties'] ?? {})
  // Rows of a batch have fields, and a create rejects those that the service assigns.
  const resource = Object.values(resources).find((one) => url.startsWith(resourcePath(one)))
  return [...new Set([...(resource?.fields ?? []).map((field) => field.name), ...members])]
}
