import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../catalog/resources.ts'
import { Failure } from '../errors.ts'
import { limits } from '../limits.ts'
import { parseOneRequest } from '../query/list-request.ts'
import { planOne } from '../query/plan.ts'
import { type OneRow, oneStatement } from '../query/statement.ts'
import type { Store } from '../store/pool.ts'
import { accessFor } from './authenticate.ts'
import { rawQueryOf } from './url.ts'

export function oneRoute(store: Store, resource: Resource) {
  return async (
    request: FastifyRequest<{ Params: { id: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const scope = accessFor(request, `${resource.name}:read`)
    const fields = planOne(resource, parseOneRequest(rawQueryOf(request)))
    const { id } = request.params
    const [row] = isId(id) ? await store.read<OneRow>(oneStatement(scope, resource, fields, id)) : []
    if (row === undefined) {
      throw new Failure(
        'record_unknown',
        `There is no ${resource.name} with the id ${JSON.stringify(id.slice(0, 40))}.`,
      )
    }
    return reply.type('application/json; charset=utf-8').send(`{"data":${row.record}}`)
  }
}

/** No record has an id of any other form: not 007, not 1.0, not one beyond what a JSON number holds exactly. */
function isId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number(text) <= limits.integerMax
}
