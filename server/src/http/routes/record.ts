import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../../catalog/resources.ts'
import { recordUnknown } from '../../errors.ts'
import { excerpt } from '../../faults.ts'
import { limits } from '../../limits.ts'
import { recordQuery } from '../../lists/plan-cache.ts'
import { readRecord } from '../../lists/record-reader.ts'
import { verifiedFor } from '../plugins/authenticate.ts'
import { contextOf, recordSource, timed } from '../plugins/request-context.ts'
import { rawQueryOf } from '../request/raw-request.ts'
import { sendRead } from '../respond.ts'
import type { Reads } from './list.ts'

export function recordRoute({ database, responseCache }: Reads, resource: Resource) {
  return async (
    request: FastifyRequest<{ Params: { id: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const verified = verifiedFor(request, `${resource.name}:read`)
    const { fields, requestHash: fieldsHash } = recordQuery(resource, rawQueryOf(request))
    const { id } = request.params
    requireId(resource, id)
    const context = contextOf(request)
    const read = async () => {
      context.source = 'read'
      const response = await timed(request, () =>
        readRecord(database, verified, resource, fields, id, fieldsHash),
      )
      if (response === undefined) throw recordUnknown(resource.noun, id)
      return response
    }
    const cacheKey = `${id}-${fieldsHash}`
    const response = await recordSource(request, responseCache.get(verified, cacheKey, read, reply.raw))
    context.records = 1
    return sendRead(request, reply, response)
  }
}

/** A positive integer without leading zeros that a JSON number represents exactly. No record has any other id. */
export function requireId({ noun }: Resource, text: string): void {
  if (!/^[1-9]\d{0,15}$/.test(text) || Number(text) > limits.integerMax)
    throw recordUnknown(noun, excerpt(text))
}
