import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../catalog/resources.ts'
import { Failure } from '../errors.ts'
import { shown } from '../faults.ts'
import { limits } from '../limits.ts'
import { plannedOne } from '../query/planned.ts'
import { type OneRow, oneStatement } from '../query/statement.ts'
import { changingOver } from '../store/sqlstate.ts'
import { isOlder } from '../tally-state.ts'
import { answerOf, etagOf, knownEtag, sendAnswer, sendNotModified } from './answer.ts'
import { checkFor } from './authenticate.ts'
import { answerFrom, factsOf, timed } from './facts.ts'
import type { Reads } from './list-route.ts'
import { rawQueryOf } from './url.ts'

export function oneRoute({ store, answers }: Reads, resource: Resource) {
  return async (
    request: FastifyRequest<{ Params: { id: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const check = checkFor(request, `${resource.name}:read`)
    const { fields, mark: fieldsMark } = plannedOne(resource, rawQueryOf(request))
    const { id } = request.params
    if (!isId(id)) throw unknown(resource, id)
    const mark = `${id}-${fieldsMark}`
    const facts = factsOf(request)
    const known = knownEtag(request, check.tally, mark)
    if (known !== undefined) {
      facts.source = 'unchanged'
      return sendNotModified(reply, known)
    }
    const read = async () => {
      facts.source = 'read'
      const [row] = await timed(request, () =>
        store.read<OneRow>(oneStatement(check.access, resource, fields, id)),
      )
      if (row !== undefined && isOlder(row, check.tally)) throw changingOver()
      if (row === undefined || row.record === null) throw unknown(resource, id)
      const etag = etagOf(row, mark)
      return answerOf(row, etag, `{"data":${row.record}}`, undefined, 1)
    }
    const answer = await answerFrom(request, answers.get(check, mark, read, reply.raw))
    facts.records = 1
    return sendAnswer(request, reply, answer)
  }
}

function unknown(resource: Resource, id: string): Failure {
  return new Failure(
    'record_unknown',
    `There is no ${resource.name} with the id ${JSON.stringify(shown(id))}.`,
  )
}

/** No record has an id of any other form: not 007, not 1.0, not one beyond what a JSON number holds exactly. */
function isId(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number(text) <= limits.integerMax
}
