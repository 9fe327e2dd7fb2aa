import type { FastifyReply, FastifyRequest } from 'fastify'
import type { View } from '../catalog/views.ts'
import { Failure } from '../errors.ts'
import { shown } from '../faults.ts'
import { limits } from '../limits.ts'
import { parseOneRequest, parseViewRequest } from '../query/list-request.ts'
import { type ListPlan, planList, planOne } from '../query/plan.ts'
import { pageQueryOf } from '../query/planned.ts'
import { type ViewRow, viewStatement } from '../query/view-statement.ts'
import type { AccountScope } from '../scope.ts'
import type { Statement } from '../sql.ts'
import type { Turns } from '../store/turns.ts'
import { accessFor } from './authenticate.ts'
import { linkHeader, listBody, pageNumbers } from './envelope.ts'
import { factsOf, timed } from './facts.ts'
import { hangUpOf } from './hang-up-of.ts'
import { rawParameters } from './list-parameters.ts'
import { rawQueryOf, viewPath } from './url.ts'

/** What an administrator lists: as any other list, but read anew every time, and kept by nobody. */
export function viewRoute(turns: Turns, view: View) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const access = accessFor(request, 'account:manage')
    const asked = parseViewRequest(...rawParameters(request), view.choices)
    const plan = planList(view, asked)
    const row = await timed(request, () =>
      readView(turns, reply, access, viewStatement(access, plan, asked.page, asked.chosen)),
    )
    factsOf(request).records = Number(row.count)
    const total = Number(row.total)
    const pages = pageNumbers(asked.page, plan.limit, total)
    const link = linkHeader(viewPath(view), pageQueryOf(asked, plan), pages)
    if (link.length <= limits.linkBytesMax) reply.header('link', link)
    return sendFresh(reply, listBody(row.records, row.count, total, pages))
  }
}

/** One of them, by the field that names it. What cannot be an id is looked for nowhere: a text with NUL in it breaks a statement. */
export function oneViewRoute(turns: Turns, view: View, by: string, isId: (text: string) => boolean) {
  const field = view.fields.find(({ name }) => name === by)
  if (field === undefined) throw new Error(`a ${view.noun} has no field ${by}`)
  return async (
    request: FastifyRequest<{ Params: { id: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const access = accessFor(request, 'account:manage')
    const { id } = request.params
    if (!isId(id)) throw unknown(view, id)
    const plan: ListPlan<View> = {
      resource: view,
      fields: planOne(view, parseOneRequest(rawQueryOf(request))),
      where: { kind: 'one-of', field, values: [id], orNull: false },
      limit: 1,
    }
    const { count, records } = await timed(request, () =>
      readView(turns, reply, access, viewStatement(access, plan, 1)),
    )
    if (count === '0') throw unknown(view, id)
    factsOf(request).records = 1
    return sendFresh(reply, `{"data":${records}}`)
  }
}

function unknown({ noun }: View, id: string): Failure {
  return new Failure('record_unknown', `The account has no ${noun} ${JSON.stringify(shown(id))}.`)
}

export function sendFresh(reply: FastifyReply, body: string): FastifyReply {
  return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(body)
}

async function readView(
  turns: Turns,
  reply: FastifyReply,
  access: AccountScope,
  statement: Statement,
): Promise<ViewRow> {
  const [row] = await turns.read<ViewRow>(access, statement, hangUpOf(reply))
  if (row === undefined) throw new Error('a list of one row had none')
  return row
}
