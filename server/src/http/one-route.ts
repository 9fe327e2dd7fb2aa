import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../catalog/resources.ts'
import { Failure } from '../errors.ts'
import { limits } from '../limits.ts'
import { markOf, plannedOne } from '../query/planned.ts'
import { type OneRow, oneStatement } from '../query/statement.ts'
import { etagOf, isKnown, sendAnswer, sendNotModified } from './answer.ts'
import { checkFor } from './authenticate.ts'
import type { Reads } from './list-route.ts'
import { rawQueryOf } from './url.ts'

export function oneRoute({ store, answers }: Reads, resource: Resource) {
  return async (
    request: FastifyRequest<{ Params: { id: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const check = checkFor(request, `${resource.name}:read`)
    const { fields, key: fieldsKey } = plannedOne(resource, rawQueryOf(request))
    const { id } = request.params
    if (!isId(id)) throw unknown(resource, id)
    const key = `${id} ${fieldsKey}`
    const mark = markOf(key)
    const etag = etagOf(check.tally, mark)
    if (isKnown(request, etag)) return sendNotModified(reply, etag)
    const answer = await answers.get(check, key, async () => {
      const [row] = await store.read<OneRow>(oneStatement(check.access, resource, fields, id))
      if (row === undefined || row.record === null) throw unknown(resource, id)
      const body = Buffer.from(`{"data":${row.record}}`)
      return { history: row.history, version: row.version, etag: etagOf(row, mark), body, link: undefined }
    })
    return sendAnswer(request, reply, answer)
  }
}

function unknown(resource: Resource, id: string): Failure {
  return new Failure(
    'record_unknown',
    `There is no ${resource.name} with the id ${JSON.stringify(id.slice(0, 40))}.`,
  )
}

/** No record has an id of any other form: not 007, not 1.0, not one beyond what a JSON number holds exactly. */
function isId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number(text) <= limits.integerMax
}
