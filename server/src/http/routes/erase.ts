import type { FastifyRequest } from 'fastify'
import type { Resource } from '../../catalog/resources.ts'
import { eraseRecord } from '../../erasure/erase-record.ts'
import { Failure, invalid } from '../../errors/errors.ts'
import { Faults } from '../../errors/faults.ts'
import { parseParameters } from '../../query/parameters.ts'
import { accessFor, requireScope } from '../plugins/authenticate.ts'
import { actorOf, clientSignal, contextOf, rawQueryOf, timed } from '../plugins/request-context.ts'
import { writeOwn } from '../plugins/write-own.ts'
import { bodyOf } from '../request/body.ts'
import { requireId } from './record-address.ts'
import type { Handler, RouteParts } from './route.ts'

export const eraseParameter = {
  name: 'erase',
  in: 'query',
  description: 'Also removes the values from logs and stored results. Needs the scope `partner:erase`.',
  schema: { type: 'string', enum: ['true'] },
}

export const eraseText =
  'With `erase=true` nothing of the record stays: neither what the service stores for retries and for cached totals, nor its values in the ' +
  'request log. Readers of changes receive `deleted` with `"erased":true`. It takes neither `If-Match` nor `Idempotency-Key`: repeat it at any time. ' +
  'With the scope `partner:erase` alone, `erase=true` is required.'

/** Erases a record if the request has `erase=true`, and otherwise passes the request on. */
export function erasingHandler(
  { writes, database, definitions, authentication }: RouteParts,
  route: Resource,
  deleting: Handler,
): Handler {
  return async (request, reply) => {
    const access = accessFor(request)
    if (!erases(rawQueryOf(request))) {
      requireScope(access, `${route.name}:write`)
      return await deleting(request, reply)
    }
    requireScope(access, 'partner:erase')
    rejectWriteHeaders(request)
    if (bodyOf(request).length > 0)
      throw new Failure('body_invalid', 'A DELETE request must not have a body.')
    const { id } = request.params
    requireId(route, id)
    const actor = actorOf(request, access, authentication.trustedProxies)
    await writeOwn(request, definitions, route, async (resource) => {
      const record = { accountId: access.accountId, resource, id }
      await timed(request, () =>
        writes.run(access, clientSignal(reply), () =>
          database.writeTo(access, (transaction) => eraseRecord(transaction, record, { actor })),
        ),
      )
    })
    contextOf(request).records = 1
    return reply.code(204).send()
  }
}

function erases(raw: string): boolean {
  const faults = new Faults()
  const text = parseParameters(raw, ['erase'], faults).get('erase')
  if (text !== undefined && text !== 'true') {
    faults.add(() => ({
      parameter: 'erase',
      code: 'choice_invalid',
      message: 'erase must be true.',
      expected: ['true'],
    }))
  }
  faults.throwIfAny()
  return text !== undefined
}

function rejectWriteHeaders({ headers }: FastifyRequest): void {
  for (const header of ['if-match', 'idempotency-key']) {
    if (headers[header] === undefined) continue
    throw invalid({
      parameter: header,
      code: 'header_invalid',
      message: `With erase=true, ${header} is not accepted: an erasure can be repeated.`,
    })
  }
}
