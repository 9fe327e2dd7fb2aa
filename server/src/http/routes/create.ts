import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccountWrites } from '../../accounts/account-writes.ts'
import type { Resource } from '../../catalog/resources.ts'
import { fieldsHash } from '../../lists/plan-cache.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import { recordEtag } from '../../record-etag.ts'
import { type CreateParts, createRecord } from '../../writes/create-record.ts'
import type { EtagOf } from '../../writes/record-values.ts'
import { clientSignal } from '../client-signal.ts'
import { resourcePath } from '../paths.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { contextOf, timed } from '../plugins/request-context.ts'
import { rawQueryOf } from '../request/raw-request.ts'
import { idempotencyOf, recordValues } from '../request/record-body.ts'
import { sendCreated } from '../respond.ts'

export interface WriteParts extends CreateParts {
  readonly writes: AccountWrites
}

export function createRoute(parts: WriteParts, resource: Resource) {
  const path = resourcePath(resource)
  const etagOf = etagOfRecord(resource)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const scope = accessFor(request, ...createScopes(resource))
    parseNoParameters(rawQueryOf(request))
    const values = recordValues(request, resource)
    const idempotency = idempotencyOf(request, path, values)
    const created = await timed(request, () =>
      parts.writes.run(scope, clientSignal(reply), () =>
        createRecord(
          parts,
          resource,
          { scope, values, recordsMax: scope.recordsMax },
          { etagOf, idempotency },
        ),
      ),
    )
    contextOf(request).records = 1
    if (created.replayed) reply.header('idempotent-replayed', 'true')
    if (created.etag !== null) reply.header('etag', created.etag)
    return sendCreated(reply, `${path}/${created.id}`, `{"data":{"id":${created.id}}}`)
  }
}

/** Each of them allows it. */
export function createScopes({ name }: Resource) {
  return name === 'partner' ? (['partner:create', 'partner:write'] as const) : ([`${name}:write`] as const)
}

/** The ETag of a GET without `fields`. */
export function etagOfRecord(resource: Resource): EtagOf {
  const hash = fieldsHash(resource)
  return (id, position) => recordEtag(position, id, hash)
}
