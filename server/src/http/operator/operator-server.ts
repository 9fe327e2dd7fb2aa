import { METHODS } from 'node:http'
import type { BlockList } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { runOn } from '../../accounts/lifecycle/run-on.ts'
import { endCall, newCallId, startCall } from '../../accounts/operators/operator-audit.ts'
import { acceptedToken, type OperatorToken } from '../../accounts/operators/tokens.ts'
import { Failure, pathUnknown } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'
import type { EmitEvent } from '../../observability/events.ts'
import type { OwnerConnections } from '../../postgres/owner-connections.ts'
import { clientErrorHandler } from '../http-server.ts'
import { bearerOf } from '../plugins/authenticate.ts'
import {
  clientAddressOf,
  contextOf,
  RequestObserver,
  rawQueryOf,
  requestIdOf,
} from '../plugins/request-context.ts'
import { rejectRepeated, rejectUnsupported, requireHost } from '../request/headers.ts'
import { errorHandler, sendUncached } from '../respond.ts'
import { type OperatorRoute, urlOf } from './operator-route.ts'
import { operatorRoutes } from './operator-routes.ts'
import { queryOf } from './query.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the operator API. */
    operatorToken: OperatorToken | undefined
    /** The id of the row in the audit log of the operator API. */
    callId: string | undefined
  }
}

export interface OperatorServerParts {
  readonly connections: OwnerConnections
  readonly trustedProxies: BlockList
  readonly emit: EmitEvent
  /** Aborted when the process closes the connections of requests in flight. */
  readonly shutdown: AbortSignal
}

/** The operator API. No route of it is on the public port, and none of the public API is here. */
export function buildOperatorServer(parts: OperatorServerParts): FastifyInstance {
  const { emit, trustedProxies, connections } = parts
  const observer = new RequestObserver(emit, trustedProxies, parts.shutdown)
  const app = Fastify({
    logger: false,
    genReqId: requestIdOf,
    bodyLimit: limits.operatorBodyBytesMax,
    routerOptions: { maxParamLength: limits.urlBytesMax, querystringParser: () => ({}) },
    forceCloseConnections: 'idle',
    clientErrorHandler: clientErrorHandler(emit),
  })
  app.server.maxConnections = limits.adminConnectionsMax
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  for (const name of ['verified', 'context', 'route', 'operatorToken', 'callId', 'allowedOrigin'] as const)
    app.decorateRequest(name, undefined)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.addHook('onRequest', async (request, reply) => {
    observer.reportIfDisconnected(request, reply)
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
    requireHost(request.raw)
    if (request.routeOptions.config.isPublic === true) return
    await authenticate(request, parts)
    rejectUnsupported(request)
  })
  app.addHook('onSend', async (request, reply) => {
    const { callId } = request
    if (callId === undefined) return
    request.callId = undefined
    const ended = endCall(callId, reply.statusCode, contextOf(request).code)
    await connections.run((connection) => runOn(connection)(ended)).catch(() => {})
  })
  app.addHook('onResponse', (request, reply, done) => {
    observer.report(request, reply)
    done()
  })
  app.setErrorHandler(errorHandler(emit))
  app.setNotFoundHandler(() => {
    throw pathUnknown()
  })
  registerRoutes(app, parts)
  app.get('/livez', { config: { isPublic: true } }, async (_request, reply) =>
    sendUncached(reply, '{"status":"ok"}'),
  )
  app.get('/readyz', { config: { isPublic: true } }, async (_request, reply) => {
    await connections.run((connection) => connection.query('select'))
    return sendUncached(reply, '{"status":"ok"}')
  })
  return app
}

function registerRoutes(app: FastifyInstance, parts: OperatorServerParts): void {
  for (const route of operatorRoutes) {
    const handle = route.handler(parts)
    app.route({
      method: route.method,
      url: urlOf(route),
      config: route.body === undefined ? {} : { bodies: ['application/json'] },
      handler: async (request, reply) => {
        const token = requireScope(request, route)
        const query = queryOf(rawQueryOf(request), route)
        const { name = '', key_id: keyId = '' } = paramsOf(request)
        const actor = {
          kind: 'operator',
          id: token.id,
          application: request.headers['user-agent'] ?? null,
          address: clientAddressOf(request, parts.trustedProxies),
        } as const
        return await handle({ request, reply, actor, name, keyId, query })
      },
    })
  }
  for (const [url, same] of Map.groupBy(operatorRoutes, urlOf)) {
    // Fastify adds HEAD to each GET.
    const allowed = same.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    app.route({
      method: app.supportedMethods.filter((method) => !allowed.some((one) => one === method)),
      url,
      config: { rejectsMethod: true },
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        reply.header('allow', allowed.join(', '))
        throw new Failure(
          'method_not_allowed',
          `This path does not support ${request.method}; it supports ${allowed.join(', ')}.`,
        )
      },
    })
  }
}

/** A call with a valid token gets its row in the audit log before anything else happens, even if it is rejected then. */
async function authenticate(
  request: FastifyRequest,
  { connections, trustedProxies }: OperatorServerParts,
): Promise<void> {
  rejectRepeated(request.raw, 'authorization', 'Authorization')
  const bearer = bearerOf(request.headers.authorization)
  if (bearer === undefined) throw unauthenticated()
  const id = newCallId()
  const token = await connections.run(async (connection) => {
    const run = runOn(connection)
    const accepted = await acceptedToken(run, bearer)
    if (accepted === undefined) return undefined
    await run(
      startCall(id, {
        tokenId: accepted.id,
        tokenName: accepted.name,
        address: clientAddressOf(request, trustedProxies),
        application: request.headers['user-agent'] ?? null,
        method: request.method,
        path: request.raw.url ?? '',
        requestId: request.id,
      }),
    )
    return accepted
  })
  if (token === undefined) throw unauthenticated()
  request.operatorToken = token
  request.callId = id
}

function requireScope(request: FastifyRequest, { scope }: OperatorRoute): OperatorToken {
  const { operatorToken: token } = request
  if (token === undefined) throw unauthenticated()
  if (token.scopes.includes(scope)) return token
  throw new Failure('scope_missing', `This request needs the scope ${scope}, which the token does not have.`)
}

function unauthenticated(): Failure {
  return new Failure(
    'unauthenticated',
    "Send a valid operator token as 'Authorization: Bearer <token>'. API keys are not accepted here.",
  )
}

function paramsOf({ params }: FastifyRequest): { readonly name?: string; readonly key_id?: string } {
  return typeof params === 'object' && params !== null ? params : {}
}
