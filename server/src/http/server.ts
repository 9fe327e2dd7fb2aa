import { METHODS } from 'node:http'
import Fastify, {
  type FastifyContextConfig,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type HTTPMethods,
  type RouteOptions,
} from 'fastify'
import type { AccountReads } from '../accounts/account-reads.ts'
import type { AccountWrites } from '../accounts/account-writes.ts'
import { isKeyId } from '../accounts/key-format.ts'
import { type Resource, resources } from '../catalog/resources.ts'
import { views } from '../catalog/views.ts'
import type { ChangeFeed } from '../changes/change-feed.ts'
import type { FeedWaiters } from '../changes/waiters.ts'
import { Failure } from '../errors/errors.ts'
import { limits } from '../limits/limits.ts'
import { parseNoParameters } from '../query/list-request.ts'
import type { TestMessages } from '../webhooks/test-messages.ts'
import { isWebhookId } from '../webhooks/webhook.ts'
import { acceptsHtml, consoleRoutes, rootRoute } from './console/routes.ts'
import { batchPath, changesPath, resourcePath, viewPath } from './paths.ts'
import {
  type AuthenticationParts,
  accountNameOf,
  authenticate,
  hostOf,
  isPublic,
} from './plugins/authenticate.ts'
import { createHttpServer } from './plugins/load-shedding.ts'
import { type RequestObserver, requestIdOf, routeOf, serverTiming } from './plugins/request-context.ts'
import { referenceRoutes } from './reference/routes.ts'
import { formMediaType, mergePatchMediaType } from './request/content-type.ts'
import { rawQueryOf } from './request/raw-request.ts'
import { rejectUnsupported, requireHost } from './request/reject-unsupported.ts'
import { clientErrorHandler, errorHandler, sendProblem } from './respond.ts'
import { type BatchParts, batchRoute } from './routes/batch.ts'
import { deleteRoute, patchRoute } from './routes/change.ts'
import { changesRoute } from './routes/changes.ts'
import { createRoute, type WriteParts } from './routes/create.ts'
import { createKeyRoute, revokeKeyRoute, rotateKeyRoute } from './routes/keys.ts'
import { listRoute, type Reads } from './routes/list.ts'
import { recordRoute } from './routes/record.ts'
import { oneViewRoute, viewRoute } from './routes/views.ts'
import {
  activateWebhookRoute,
  changeWebhookRoute,
  createWebhookRoute,
  deleteWebhookRoute,
  pauseWebhookRoute,
  replayWebhookRoute,
  rotateWebhookRoute,
  testWebhookRoute,
  type WebhookParts,
} from './routes/webhooks.ts'

/** What the composition root creates for the routes and hooks. */
export interface ServerParts extends Reads, WriteParts, BatchParts {
  readonly webhooks: TestMessages
  readonly feed: ChangeFeed
  /** Closed when the server closes. */
  readonly waiters: FeedWaiters
  readonly authentication: AuthenticationParts
  readonly observer: RequestObserver
  /** Rejects if this process cannot serve requests. */
  readonly ready: () => Promise<unknown>
  readonly isStopping: () => boolean
  readonly readMsMax: number
  /** Called with every route that is registered. */
  readonly onRoute?: (route: RouteOptions) => void
}

/** Registers every hook and route, in the order in which a request passes them. */
export function buildServer(parts: ServerParts): FastifyInstance {
  const { accountReads, writes, waiters, authentication, observer, shares, emit, ready, isStopping } = parts
  const app = createFastify(parts)
  // Fastify routes only some of the methods that Node parses. The others also need a 405.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  if (parts.onRoute !== undefined) app.addHook('onRoute', parts.onRoute)
  app.decorateRequest('verified', undefined)
  app.decorateRequest('context', undefined)
  app.decorateRequest('route', undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  app.addHook('onRequest', async (request, reply) => {
    observer.reportIfDisconnected(request, reply)
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
    if (isStopping()) reply.header('connection', 'close')
    requireHost(request.raw)
    if (routeOf(request).config.isVerifiedInHandler === true) return
    if (!isPublic(request)) await authenticate(request, reply, authentication)
    rejectUnsupported(request)
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
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    observer.report(request, reply)
    done()
  })
  app.setErrorHandler(errorHandler(emit))
  app.setNotFoundHandler(() => {
    throw new Failure('path_unknown', 'The path does not exist. All paths are listed in /openapi.json.')
  })

  publicRoute(app, '/livez', async () => ({ status: 'ok' }))
  publicRoute(app, '/readyz', ready)
  for (const [path, handler] of Object.entries(referenceRoutes())) publicRoute(app, path, handler)
  pageRoutes(app)
  app.addHook('preClose', async () => waiters.close())
  for (const resource of Object.values(resources)) {
    resourceRoutes(app, parts, resource)
    changesRoutes(app, parts.feed, resource)
  }
  batchRoutes(app, parts, authentication)
  manageRoutes(app, accountReads, writes, authentication)
  webhookRoutes(app, accountReads, {
    writes,
    messages: parts.webhooks,
    trustedProxies: authentication.trustedProxies,
  })
  return app
}

function createFastify(parts: ServerParts): FastifyInstance {
  const { database, accountReads, authentication, observer, emit } = parts
  const { hosts, trustedProxies, connections } = authentication
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
      authenticate(request, reply, authentication).then(
        () => errorHandler(emit)(error, request, reply),
        (failure: Failure) => sendProblem(reply, failure, request.id),
      )
      reply.raw.once('finish', () => observer.report(request, reply))
      observer.reportIfDisconnected(request, reply)
    },
  })
}

const json = { config: { bodies: ['application/json'] } } as const
const bodyless = { config: { bodies: [] } } as const
const repeatable = { config: { ...json.config, writeHeaders: ['idempotency-key'] } } as const

/** Routes for the administrator of an account. */
function manageRoutes(
  app: FastifyInstance,
  accountReads: AccountReads,
  writes: AccountWrites,
  { trustedProxies }: AuthenticationParts,
): void {
  const listMethods: HTTPMethods[] = ['GET', 'HEAD', 'QUERY']
  for (const view of Object.values(views)) {
    const url = viewPath(view)
    app.route({
      method: listMethods,
      url,
      bodyLimit: limits.queryBodyBytesMax,
      config: { bodies: [formMediaType] },
      handler: viewRoute(accountReads, view),
    })
    const canCreate = view.name === 'key' || view.name === 'webhook'
    allowOnly(app, url, canCreate ? [...listMethods, 'POST'] : listMethods)
  }
  const keys = viewPath(views.key)
  app.post(keys, repeatable, createKeyRoute(writes, trustedProxies))
  app.route({
    method: ['GET', 'HEAD'],
    url: `${keys}/:id`,
    handler: oneViewRoute(accountReads, views.key, 'key_id', isKeyId),
  })
  allowOnly(app, `${keys}/:id`, ['GET', 'HEAD'])
  app.post(`${keys}/:id/rotate`, json, rotateKeyRoute(writes, trustedProxies))
  allowOnly(app, `${keys}/:id/rotate`, ['POST'])
  app.post(`${keys}/:id/revoke`, bodyless, revokeKeyRoute(writes, trustedProxies))
  allowOnly(app, `${keys}/:id/revoke`, ['POST'])
}

function webhookRoutes(app: FastifyInstance, accountReads: AccountReads, parts: WebhookParts): void {
  const path = viewPath(views.webhook)
  app.post(path, json, createWebhookRoute(parts))
  const one = `${path}/:id`
  app.route({
    method: ['GET', 'HEAD'],
    url: one,
    handler: oneViewRoute(accountReads, views.webhook, 'id', isWebhookId),
  })
  app.patch(one, json, changeWebhookRoute(parts))
  app.delete(one, deleteWebhookRoute(parts))
  allowOnly(app, one, ['GET', 'HEAD', 'PATCH', 'DELETE'])
  const actions = {
    activate: activateWebhookRoute(parts),
    pause: pauseWebhookRoute(parts),
    rotate: rotateWebhookRoute(parts),
    replay: replayWebhookRoute(parts),
    test: testWebhookRoute(parts),
  }
  for (const [action, handler] of Object.entries(actions)) {
    app.post(`${one}/${action}`, action === 'replay' ? json : bodyless, handler)
    allowOnly(app, `${one}/${action}`, ['POST'])
  }
}

function resourceRoutes(app: FastifyInstance, parts: ServerParts, resource: Resource): void {
  const config = { resource: resource.name }
  const path = resourcePath(resource)
  const listMethods: HTTPMethods[] = ['GET', 'HEAD', 'QUERY']
  app.route({
    method: listMethods,
    url: path,
    bodyLimit: limits.queryBodyBytesMax,
    config: { ...config, bodies: [formMediaType] },
    handler: listRoute(parts, resource),
  })
  app.post(path, repeatable, createRoute(parts, resource))
  allowOnly(app, path, [...listMethods, 'POST'])

  const one = `${path}/:id`
  const writeHeaders = ['if-match', 'idempotency-key'] as const
  app.route({
    method: ['GET', 'HEAD'],
    url: one,
    config: { ...config, isVerifiedInHandler: true },
    handler: recordRoute(parts, resource, parts.authentication),
  })
  app.patch(
    one,
    { config: { bodies: ['application/json', mergePatchMediaType], writeHeaders } },
    patchRoute(parts, resource),
  )
  app.delete(one, { config: { writeHeaders } }, deleteRoute(parts, resource))
  allowOnly(app, one, ['GET', 'HEAD', 'PATCH', 'DELETE'])
}

function changesRoutes(app: FastifyInstance, feed: ChangeFeed, resource: Resource): void {
  const methods: HTTPMethods[] = ['GET', 'HEAD', 'QUERY']
  const url = changesPath(resource)
  app.route({
    method: methods,
    url,
    bodyLimit: limits.queryBodyBytesMax,
    config: { resource: resource.name, bodies: [formMediaType] },
    handler: changesRoute(feed, resource),
  })
  allowOnly(app, url, methods)
}

/** Their bodies are streamed to the handlers. */
function batchRoutes(app: FastifyInstance, parts: BatchParts, { trustedProxies }: AuthenticationParts): void {
  void app.register(async (streaming) => {
    streaming.removeAllContentTypeParsers()
    streaming.addContentTypeParser('*', (_request, _payload, done) => done(null))
    for (const resource of Object.values(resources)) {
      const url = batchPath(resource)
      streaming.post(
        url,
        { config: { bodies: ['application/x-ndjson', 'text/csv'], acceptsGzip: true } },
        batchRoute(parts, resource, trustedProxies),
      )
      allowOnly(streaming, url, ['POST'])
    }
  })
}

/** A route that requires no key. */
function publicRoute(
  app: FastifyInstance,
  url: string,
  handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  const checkedHandler = (request: FastifyRequest, reply: FastifyReply) => {
    parseNoParameters(rawQueryOf(request))
    return handler(request, reply)
  }
  app.route({ method: ['GET', 'HEAD'], url, config: { isPublic: true }, handler: checkedHandler })
  allowOnly(app, url, ['GET', 'HEAD'], { isPublic: true })
}

/** The pages of the console, which have parameters, and / for browsers. */
function pageRoutes(app: FastifyInstance): void {
  const methods: HTTPMethods[] = ['GET', 'HEAD']
  for (const [url, handler] of Object.entries(consoleRoutes())) {
    app.route({ method: methods, url, config: { isPublic: true }, handler })
    allowOnly(app, url, methods, { isPublic: true })
  }
  app.route({ method: methods, url: '/', config: { isPublic: acceptsHtml }, handler: rootRoute })
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
