import { resources } from '../../../../server/src/catalog/resources.ts'
import { resourcePath } from '../../../../server/src/http/paths.ts'
import type { Route } from './route-table.ts'

/** A valid value for each parameter in the path of a route, by the route's path before it. */
const samples: Readonly<Record<string, string>> = {
  '/manage/v1/keys/:id': 'AAAAAAAA',
  '/manage/v1/webhooks/:id': 'wh_0a1b2c3d4e5f60718293a4b5',
  '/reference/errors/:code': 'filter_invalid',
  '/console/*': 'products',
  ...Object.fromEntries(Object.values(resources).map((resource) => [`${resourcePath(resource)}/:id`, '1'])),
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

/** The members that a JSON body of the route may have, and for routes of administrators those of all their bodies. */
export function membersOf({ url }: Route): readonly string[] {
  const resource = Object.values(resources).find((one) => url.startsWith(resourcePath(one)))
  if (resource !== undefined) return resource.fields.map(({ name }) => name)
  return ['name', 'scopes', 'expires_at', 'overlap_seconds', 'resource', 'url', 'fields', 'filter', 'since']
}
