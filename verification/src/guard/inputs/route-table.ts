import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Scope } from '../../../../server/src/accounts/key-format.ts'
import type { BodyType } from '../../../../server/src/http/request/body.ts'
import { buildServer, type ServerParts } from '../../../../server/src/http/server.ts'
import { limits } from '../../../../server/src/limits/limits.ts'
import { defaultLimits } from '../../../../server/src/limits/passed-limits.ts'

/** A method and path that the service serves. */
export interface Route {
  readonly method: string
  /** As it is registered: `/manage/v1/keys/:id`. */
  readonly url: string
  /** Undefined if the route does not say it. */
  readonly bodies: readonly BodyType[] | undefined
  readonly bodyBytesMax: number
  readonly acceptsGzip: boolean
  /** Undefined for a page. */
  readonly scopes: readonly Scope[] | undefined
}

/**
 * All routes, from the hook that Fastify calls for each. They are those of the real server, whose parts do nothing: none of them
 * is used before a request arrives. `more` registers further ones.
 */
export async function routeTable(more: (app: FastifyInstance) => void = () => {}): Promise<readonly Route[]> {
  const routes: Route[] = []
  const app = buildServer(
    partsWith({
      limits: defaultLimits,
      readMsMax: 1,
      onRoute: (route) => void routes.push(...routesOf(route)),
    }),
  )
  more(app)
  await app.ready()
  await app.close()
  return routes
}

function routesOf({ method, url, bodyLimit, config = {} }: RouteOptions): Route[] {
  if (config.rejectsMethod === true) return []
  return [method].flat().map((one) => ({
    method: one,
    url,
    bodies: config.bodies,
    bodyBytesMax: bodyLimit ?? limits.createBodyBytesMax,
    acceptsGzip: config.acceptsGzip === true,
    scopes: config.scopes,
  }))
}

/** A part that does nothing: any of its properties is such a part again, and a function that returns nothing. */
const inert: object = new Proxy(() => undefined, {
  get: (_, name) => (typeof name === 'symbol' || name === 'then' ? undefined : inert),
})

function partsWith(given: Partial<ServerParts>): ServerParts {
  const known: Readonly<Record<string, unknown>> = given
  const parts: ServerParts = Object.create(inert)
  return new Proxy(parts, { get: (_, name) => (name in known ? known[String(name)] : inert) })
}
