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
  '/docs/*': 'guides/keep-a-copy.html',
  ...Object.fromEntries(
    routes.flatMap((route) => {
      const examples = (route.operation.parameters ?? []).flatMap((one) => {
        const parameter = typeof one === 'string' ? parameters[one] : one
        const isInPath = 'in' in parameter && parameter.in === 'path'
        return isInPath && 'example' in parameter ? [String(parameter.example)] : []
      })
      return [...urlOf(route).matchAll(/:\w+/g)].flatMap(({ index, 0: name }, i) => {
        const example = examples[i]
        return example === undefined ? [] : [[urlOf(route).slice(0, index + name.length), example]]
      })
    }),
  ),
}

/** The path of the route with a value for each parameter; undefined if one is not known. `value`: that of the last one. */
export function samplePath({ url }: Route, value?: string): string | undefined {
  const found = [...url.matchAll(/:\w+|\*/g)]
  const values = found.map(({ index, 0: name }, i) => {
    const isGiven = value !== undefined && i === found.length - 1
    return isGiven ? value : samples[url.slice(0, index + name.length)]
  })
  if (values.includes(undefined)) return undefined
  return url.replace(/:\w+|\*/g, () => values.shift() ?? '')
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
