import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../../catalog/resources.ts'
import { Failure } from '../../errors/errors.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import { deleteRecord, patchRecord } from '../../writes/change-record.ts'
import type { Idempotency } from '../../writes/idempotency.ts'
import type { Target } from '../../writes/record-change.ts'
import { clientSignal } from '../client-signal.ts'
import { resourcePath } from '../paths.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { contextOf, timed } from '../plugins/request-context.ts'
import { ifMatchOf } from '../request/if-match.ts'
import { bodyOf, rawQueryOf } from '../request/raw-request.ts'
import { idempotencyOf, recordValues } from '../request/record-body.ts'
import { sendDeleted, sendPatched } from '../respond.ts'
import { etagOfRecord, type WriteParts } from './create.ts'
import { requireId } from './record.ts'

type RecordRequest = FastifyRequest<{ Params: { id: string } }>

/** `PATCH …/{id}` with a JSON merge patch (RFC 7396). */
export function patchRoute({ writes, idempotent }: WriteParts, resource: Resource) {
  const etagOf = etagOfRecord(resource)
  return async (request: RecordRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const scope = accessFor(request, `${resource.name}:write`)
    parseNoParameters(rawQueryOf(request))
    const { id } = request.params
    requireId(resource, id)
    const values = recordValues(request, resource)
    const target: Target = {
      scope,
      resource,
      id,
      etags: ifMatchOf(request),
      idempotency: idempotencyOf(request, `${resourcePath(resource)}/${id}`, values),
    }
    const written = await timed(request, () =>
      writes.run(scope, clientSignal(reply), () => patchRecord(idempotent, target, values, etagOf)),
    )
    contextOf(request).records = 1
    return sendPatched(reply, written)
  }
}

export function deleteRoute({ writes, idempotent }: WriteParts, resource: Resource) {
  return async (request: RecordRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const scope = accessFor(request, `${resource.name}:write`)
    parseNoParameters(rawQueryOf(request))
    if (bodyOf(request).length > 0)
      throw new Failure('body_invalid', 'A DELETE request must not have a body.')
    const { id } = request.params
    requireId(resource, id)
    const idempotency: Idempotency | undefined = idempotencyOf(request, `${resourcePath(resource)}/${id}`)
    const target: Target = { scope, resource, id, etags: ifMatchOf(request), idempotency }
    const written = await timed(request, () =>
      writes.run(scope, clientSignal(reply), () => deleteRecord(idempotent, target)),
    )
    contextOf(request).records = 1
    return sendDeleted(reply, written)
  }
}
