import { METHODS } from 'node:http'
import Fastify, {
  type FastifyContextConfig,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type HTTPMethods,
  type RouteOptions,
} from 'fastify'
import type { AllowedOrigins } from '../accounts/allowed-origins.ts'
import type { FeedWaiters } from '../changes/waiters.ts'
import { Failure, internalError, pathUnknown } from '../errors/errors.ts'
import type { Definitions } from '../fields/definitions.ts'
import { limits } from '../limits/limits.ts'
import { acceptsHtml, consoleRoutes, rootRoute } from './console/routes.ts'
import { docsRoutes } from './docs/routes.ts'
import { clientErrorHandler, createHttpServer } from './http-server.ts'
import { accountNameOf, authenticate, hostOf, isPublic, requireDefinitions } from './plugins/authenticate.ts'
import { Cors, varyByOrigin } from './plugins/cors.ts'
import { type RequestObserver, requestIdOf, routeOf, serverTiming } from './plugins/request-context.ts'
import { isWithoutKey, referenceRoutes } from './reference/routes.ts'
import { rejectUnsupported, requireHost } from './request/headers.ts'
import { errorHandler, sendProblem } from './respond.ts'
import { type Handler, type Route, type RouteParts, readMethods, urlOf } from './routes/route.ts'
import { routes } from './routes/routes.ts'

/** What the composition root creates for the routes and hooks. */
export interface ServerParts extends RouteParts {
  readonly observer: RequestObserver
  readonly origins: AllowedOrigins
  /** Closed when the server closes. */
  readonly waiters: FeedWaiters
  /** Aborted when the process begins to stop: from then on, connections are closed after their next response. */
  readonly stopping: AbortSignal
  readonly readMsMax: number
  /** Called with every route that is registered. */
  readonly onRoute?: (route: RouteOptions) => void
}

/** Registers every hook and route, in the order in which a request passes them. */
export function buildServer(parts: ServerParts): FastifyInstance {
  const { waiters, authentication, observer, shares, emit, stopping } = parts
  const cors = new Cors(parts.origins, authentication, parts.limits)
  const app = createFastify(parts, cors)
  // Fastify routes only some of the methods that Node parses. The others also need a 405.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  if (parts.onRoute !== undefined) app.addHook('onRoute', parts.onRoute)
  app.decorateRequest('verified', undefined)
  app.decorateRequest('context', undefined)
  app.decorateRequest('allowedOrigin', undefined)
  app.decorateRequest('route', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  app.addHook('onRequest', async (request, reply) => {
    observer.reportIfDisconnected(request, reply)
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
    if (stopping.aborted) reply.header('connection', 'close')
    requireHost(request.raw)
    if (request.headers.origin !== undefined && (await cors.apply(request, reply))) return reply
    if (routeOf(request).config.isVerifiedInHandler === true) return undefined
    if (!isPublic(request)) await authenticate(request, reply, authentication)
    rejectUnsupported(request)
    requireDefinitions(request)
    return undefined
  })
  // Parsing a filter of 64 KB takes 15 ms: those of one account must not run one after the other while others wait.
  app.addHook('preHandler', (request, _reply, done) => {
    const { body, verified } = request
    const bytes = (request.raw.url?.length ?? 0) + (body instanceof Buffer ? body.length : 0)
    if (bytes <= limits.longRequestBytes || verified === undefined) done()
    else shares.run(verified.access.accountId, done)
  })
  app.addHook('onSend', (request, reply, _payload, done) => {
    serverTiming(request, reply)
    if (request.allowedOrigin !== undefined) varyByOrigin(reply)
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    observer.report(request, reply)
    done()
  })
  app.setErrorHandler(errorHandler(emit))
  app.setNotFoundHandler(() => {
    throw pathUnknown()
  })

  pageRoutes(app, parts.definitions)
  app.addHook('preClose', async () => waiters.close())
  apiRoutes(app, parts)
  return app
}

function createFastify(parts: ServerParts, cors: Cors): FastifyInstance {
  const { database, accountReads, authentication, observer, emit } = parts
  const { hosts, trustedProxies, connections } = authentication
  const handleError = errorHandler(emit)
  const respondToRejected = async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    try {
      if (request.headers.origin !== undefined && (await cors.apply(request, reply))) return
      await authenticate(request, reply, authentication)
    } catch (failure) {
      if (failure instanceof Failure) sendProblem(reply, failure, request.id)
      else await handleError(internalError(failure), request, reply)
      return
    }
    await handleError(error, request, reply)
  }
  return Fastify({
    logger: false,
    genReqId: requestIdOf,
    bodyLimit: limits.createBodyBytesMax,
    serverFactory: (handle) => {
      return createHttpServer(handle, {
        emit,
        connections,
        queues: [authentication.keyVerifier, database],
        accountReads,
        corsHeadersOf: (request) => cors.headersOf(request),
        accountOf: (request) => accountNameOf(hostOf(request, trustedProxies), hosts) ?? '',
        readMsMax: parts.readMsMax,
        limits: parts.limits,
      })
    },
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: limits.urlBytesMax,
      querystringParser: () => ({}),
    },
    // Requests on open connections are served during shutdown; Connection: close ends the connection afterwards.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: clientErrorHandler(emit),
    frameworkErrors: (error, request, reply) => {
      // For a path that the router rejects Fastify runs no hooks. The key is verified first, as for any other path.
      void respondToRejected(error, request, reply)
      reply.raw.once('finish', () => observer.report(request, reply))
      observer.reportIfDisconnected(request, reply)
    },
  })
}

/** Registers the routes of the API, and rejects all other methods of their paths. */
function apiRoutes(app: FastifyInstance, parts: RouteParts): void {
  for (const route of routes) if (route.streamsBody !== true) registerRoute(app, route, parts)
  for (const [url, same] of Map.groupBy(routes, urlOf)) {
    const methods = same.flatMap((route) => route.methods)
    const [{ resource, needsDefinitions } = {}] = same
    allowOnly(app, url, methods, {
      isPublic: same.every((route) => route.isPublic === true),
      allows: methods,
      // Then the path exists only for some accounts.
      ...(needsDefinitions === true && resource !== undefined ? { resource, needsDefinitions } : {}),
    })
  }
  void app.register(async (streaming) => {
    streaming.removeAllContentTypeParsers()
    streaming.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const route of routes) if (route.streamsBody === true) registerRoute(streaming, route, parts)
  })
}

function registerRoute(app: FastifyInstance, route: Route, parts: RouteParts): void {
  const { methods, path: _, streamsBody: __, operation: ___, bodyBytesMax, handler, ...config } = route
  const { bodies } = config
  app.route<{ Params: { id: string } }>({
    method: [...methods],
    url: urlOf(route),
    bodyLimit: methods.includes('QUERY')
      ? limits.queryBodyBytesMax
      : (bodyBytesMax ?? limits.createBodyBytesMax),
    config,
    handler: methods.includes('QUERY') ? announcingQuery(handler(parts), bodies) : handler(parts),
  })
}

/** RFC 10008: whoever reads a list learns that it takes `QUERY`, and with which type of body. */
function announcingQuery(handle: Handler, bodies: Route['bodies']): Handler {
  const types = bodies?.join(', ')
  return (request, reply) => handle(request, reply.header('accept-query', types))
}

/** The reference, the documentation and the console, which need no key, and / for browsers. The OpenAPI document is that of the account if there is a key. */
function pageRoutes(app: FastifyInstance, definitions: Definitions): void {
  const method: HTTPMethods[] = [...readMethods]
  const pages = { ...referenceRoutes(definitions), ...docsRoutes(), ...consoleRoutes() }
  for (const [url, handler] of Object.entries(pages)) {
    const isAlwaysPublic = url !== '/openapi.json'
    app.route({ method, url, config: { isPublic: isAlwaysPublic || isWithoutKey }, handler })
    allowOnly(app, url, method, { isPublic: true })
  }
  app.route({ method, url: '/', config: { isPublic: acceptsHtml }, handler: rootRoute })
}

/** Responds with 405 to every other method that Node can parse, before the body is received. */
function allowOnly(
  app: FastifyInstance,
  url: string,
  methods: readonly HTTPMethods[],
  config: FastifyContextConfig = {},
): void {
  app.route({
    config: { ...config, rejectsMethod: true },
    method: app.supportedMethods.filter((method) => !methods.includes(method)),
    url,
    onRequest: async (request, reply) => {
      reply.header('allow', methods.join(', '))
      throw new Failure(
        'method_not_allowed',
        `This path does not support ${request.method}; it supports ${methods.join(', ')}.`,
      )
    },
    handler: () => undefined,
  })
}
