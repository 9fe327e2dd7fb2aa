import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../../catalog/resources.ts'
import { Failure } from '../../errors.ts'
import { excerpt } from '../../faults.ts'
import { limits } from '../../limits.ts'
import { recordQuery } from '../../lists/plan-cache.ts'
import { readRecord } from '../../lists/record-reader.ts'
import { verifiedFor } from '../plugins/authenticate.ts'
import { contextOf, recordSource, timed } from '../plugins/request-context.ts'
import { rawQueryOf } from '../request/raw-request.ts'
import { matchingEtag, sendNotModified, sendRead } from '../respond.ts'
import type { Reads } from './list.ts'

export function recordRoute({ database, responseCache }: Reads, resource: Resource) {
  return async (
    request: FastifyRequest<{ Params: { id: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const verified = verifiedFor(request, `${resource.name}:read`)
    const { fields, requestHash: fieldsHash } = recordQuery(resource, rawQueryOf(request))
    const { id } = request.params
    if (!isId(id)) throw notFound(resource, id)
    const requestHash = `${id}-${fieldsHash}`
    const context = contextOf(request)
    const etag = matchingEtag(request, verified.tally, requestHash)
    if (etag !== undefined) {
      context.source = 'unchanged'
      return sendNotModified(reply, etag)
    }
    const read = async () => {
      context.source = 'read'
      const response = await timed(request, () =>
        readRecord(database, verified, resource, fields, id, requestHash),
      )
      if (response === undefined) throw notFound(resource, id)
      return response
    }
    const response = await recordSource(request, responseCache.get(verified, requestHash, read, reply.raw))
    context.records = 1
    return sendRead(request, reply, response)
  }
}

function notFound(resource: Resource, id: string): Failure {
  return new Failure(
    'record_unknown',
    `There is no ${resource.name} with the id ${JSON.stringify(excerpt(id))}.`,
  )
}

/** A positive integer without leading zeros that a JSON number represents exactly. No record has any other id. */
function isId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number(text) <= limits.integerMax
}
