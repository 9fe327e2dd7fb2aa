import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccountWrites } from '../../accounts/account-writes.ts'
import { resources } from '../../catalog/resources.ts'
import { Faults } from '../../faults.ts'
import { limits } from '../../limits.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import { createPartner, type Idempotency } from '../../writes/create-partner.ts'
import { clientSignal } from '../client-signal.ts'
import { resourcePath } from '../paths.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { contextOf, timed } from '../plugins/request-context.ts'
import { idempotencyKeyOf } from '../request/idempotency-key.ts'
import { addUnknownMembers, type BodyShape, jsonBody, textMember } from '../request/json-body.ts'
import { rawQueryOf } from '../request/raw-request.ts'
import { sendCreated } from '../respond.ts'

const shape: BodyShape = {
  what: 'A partner is created from its name only',
  members: ['name'],
  example: '{"name":"Nordwind Logistics"}',
}

export function createRoute(writes: AccountWrites) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const scope = accessFor(request, 'partner:create')
    parseNoParameters(rawQueryOf(request))
    const name = nameOf(request)
    const idempotency = idempotencyOf(request, name)
    const created = await timed(request, () =>
      writes.run(scope, clientSignal(reply), (database) => createPartner(database, scope, name, idempotency)),
    )
    contextOf(request).records = 1
    if (created.replayed) reply.header('idempotent-replayed', 'true')
    const path = `${resourcePath(resources.partner)}/${created.id}`
    return sendCreated(reply, path, `{"data":{"id":${created.id}}}`)
  }
}

function nameOf(request: FastifyRequest): string {
  const body = jsonBody(request, shape)
  const faults = new Faults()
  addUnknownMembers(body, shape, faults)
  const name = textMember(body, 'name', limits.partnerNameCharactersMax, faults)
  faults.throwIfAny('body_invalid')
  return name
}

function idempotencyOf(request: FastifyRequest, name: string): Idempotency | undefined {
  const key = idempotencyKeyOf(request)
  return key === undefined ? undefined : { key, requestHash: createHash('sha256').update(name).digest() }
}
