import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../../catalog/resources.ts'
import { Failure } from '../../errors.ts'
import { excerpt } from '../../faults.ts'
import { limits } from '../../limits.ts'
import { recordQuery } from '../../lists/plan-cache.ts'
import { readRecord } from '../../lists/record-reader.ts'
import { verifiedFor } from '../plugins/authenticate.ts'
import { answerFrom, contextOf, timed } from '../plugins/request-context.ts'
import { knownEtag, sendNotModified, sendRead } from '../respond.ts'
import { rawQueryOf } from '../url.ts'
import type { Reads } from './list.ts'

export function recordRoute({ database, responseCache }: Reads, resource: Resource) {
  return async (
    request: FastifyRequest<{ Params: { id: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const verified = verifiedFor(request, `${resource.name}:read`)
    const { fields, requestHash: fieldsHash } = recordQuery(resource, rawQueryOf(request))
    const { id } = request.params
    if (!isId(id)) throw unknown(resource, id)
    const requestHash = `${id}-${fieldsHash}`
    const context = contextOf(request)
    const known = knownEtag(request, verified.tally, requestHash)
    if (known !== undefined) {
      context.source = 'unchanged'
      return sendNotModified(reply, known)
    }
    const read = async () => {
      context.source = 'read'
      const response = await timed(request, () =>
        readRecord(database, verified, resource, fields, id, requestHash),
      )
      if (response === undefined) throw unknown(resource, id)
      return response
    }
    const response = await answerFrom(request, responseCache.get(verified, requestHash, read, reply.raw))
    context.records = 1
    return sendRead(request, reply, response)
  }
}

function unknown(resource: Resource, id: string): Failure {
  return new Failure(
    'record_unknown',
    `There is no ${resource.name} with the id ${JSON.stringify(excerpt(id))}.`,
  )
}

/** No record has an id of any other form: not 007, not 1.0, not one beyond what a JSON number holds exactly. */
function isId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number(text) <= limits.integerMax
}
