import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { unshaped } from '../verification/src/guard/inputs/inputs.ts'
import { headers, parameters } from '../verification/src/guard/inputs/request-parts.ts'
import { routeTable } from '../verification/src/guard/inputs/route-table.ts'
import { membersOf } from '../verification/src/guard/inputs/samples.ts'

/** Whatever a route reads, `npm run bench -- guard` and `npm run verify -- guard` fill with hostile inputs. */

const root = fileURLToPath(new URL('..', import.meta.url))
const handler = () => ({})

const unshapedOf = async (...given: Parameters<typeof routeTable>) =>
  (await routeTable(...given)).flatMap((route) => unshaped(route) ?? [])

describe('hostile inputs', () => {
  it('exist for every route', async () => {
    expect((await routeTable()).length).toBeGreaterThan(80)
    expect(await unshapedOf()).toEqual([])
  })

  it('are missed for a route that does not say which bodies it accepts', async () => {
    const found = await unshapedOf((app) => void app.post('/fixture', handler))
    expect(found).toEqual(['POST /fixture: its config does not say which bodies it accepts'])
  })

  it('are missed for a route with an unknown parameter in its path', async () => {
    const found = await unshapedOf((app) => void app.get('/fixture/:name', handler))
    expect(found).toHaveLength(2) // GET, and the HEAD that Fastify adds
    expect(found[0]).toContain('/fixture/:name: verification/src/guard/inputs/samples.ts has no value')
  })

  it('exist for a route that says it', async () => {
    const config = { bodies: ['application/json'] } as const
    expect(await unshapedOf((app) => void app.post('/fixture', { config }, handler))).toEqual([])
  })

  it('fill every parameter of the OpenAPI document', () => {
    expect(parameters.toSorted()).toEqual([
      'after_id',
      'avg',
      'erase',
      'fields',
      'filter',
      'group',
      'key',
      'limit',
      'max',
      'max_id',
      'min',
      'mode',
      'page',
      'per',
      'search',
      'since',
      'sort',
      'sum',
      'wait',
    ])
  })

  it('have the members of the body of a route', async () => {
    const membersBy = new Map(
      (await routeTable()).map((route) => [`${route.method} ${route.url}`, membersOf(route)]),
    )
    expect(membersBy.get('POST /manage/v1/keys')).toEqual(['name', 'scopes', 'expires_at'])
    expect(membersBy.get('POST /manage/v1/webhooks/:id/replay')).toEqual(['since'])
    const withJson = (await routeTable()).filter(({ bodies }) => bodies?.includes('application/json'))
    expect(withJson.filter((route) => membersOf(route).length === 0)).toEqual([])
  })

  it('fill every header that the service reads', () => {
    const folder = join(root, 'server/src/http')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /(?<!\.test)\.ts$/.test(file),
    )
    const read = files.flatMap((file) =>
      [
        ...readFileSync(join(folder, file), 'utf8').matchAll(
          /\bheaders(?:\.(?!ts')([a-z]+)\b|\[\s*'([\w-]+)'\s*\])/g,
        ),
      ].map(([, dotted, quoted]) => dotted ?? quoted ?? ''),
    )
    const known = headers.map((name) => name.toLowerCase())
    // Written, not read.
    const written = ['cache-control', 'content-security-policy', 'etag', 'location', 'link']
    expect(read.length).toBeGreaterThan(20)
    expect(read.filter((name) => !known.includes(name) && !written.includes(name))).toEqual([])
  })
})
