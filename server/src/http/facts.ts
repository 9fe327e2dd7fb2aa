import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Event, RequestFacts } from '../telemetry/events.ts'

declare module 'fastify' {
  interface FastifyRequest {
    facts: RequestFacts | undefined
  }
}

export function factsOf(request: FastifyRequest): RequestFacts {
  request.facts ??= { code: undefined, detail: undefined, records: 0, cached: false, form: undefined }
  return request.facts
}

/** All that is worth telling of a request. On the way of every one: nothing is parsed or decoded here. */
export function answered(request: FastifyRequest, reply: FastifyReply): Event {
  return {
    kind: 'request-answered',
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url ?? 'unknown',
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 1000) / 1000,
    access: request.check?.access,
    url: request.raw.url ?? '',
    bytes: request.method === 'HEAD' ? 0 : Number(reply.getHeader('content-length') ?? 0),
    facts: request.facts,
  }
}
