import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccountReads } from '../../accounts/account-reads.ts'
import type { View } from '../../catalog/views.ts'
import { Failure } from '../../errors.ts'
import { excerpt } from '../../faults.ts'
import { limits } from '../../limits.ts'
import { linkHeader, listBody, pageNumbers } from '../../lists/envelope.ts'
import { pageQueryOf } from '../../lists/plan-cache.ts'
import { parseRecordRequest, parseViewRequest } from '../../query/list-request.ts'
import { type ListPlan, planList, planRecordFields } from '../../query/plan.ts'
import { type ViewRow, viewStatement } from '../../query/sql/view-statement.ts'
import type { AccountScope } from '../../scope.ts'
import type { Statement } from '../../sql.ts'
import { clientSignal } from '../client-signal.ts'
import { rawParameters } from '../list-parameters.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { contextOf, timed } from '../plugins/request-context.ts'
import { rawQueryOf, viewPath } from '../url.ts'

/** What an administrator lists: as any other list, but read anew every time, and kept by nobody. */
export function viewRoute(accountReads: AccountReads, view: View) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const access = accessFor(request, 'account:manage')
    const asked = parseViewRequest(...rawParameters(request), view.choices)
    const plan = planList(view, asked)
    const row = await timed(request, () =>
      readView(accountReads, reply, access, viewStatement(access, plan, asked.page, asked.chosen)),
    )
    contextOf(request).records = Number(row.count)
    const total = Number(row.total)
    const pages = pageNumbers(asked.page, plan.limit, total)
    const link = linkHeader(viewPath(view), pageQueryOf(asked, plan), pages)
    if (link.length <= limits.linkBytesMax) reply.header('link', link)
    return sendFresh(reply, listBody(row.records, row.count, total, pages))
  }
}

/** One of them, by the field that names it. What cannot be an id is looked for nowhere: a text with NUL in it breaks a statement. */
export function oneViewRoute(
  accountReads: AccountReads,
  view: View,
  by: string,
  isId: (text: string) => boolean,
) {
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
      fields: planRecordFields(view, parseRecordRequest(rawQueryOf(request))),
      where: { kind: 'one-of', field, values: [id], orNull: false },
      limit: 1,
    }
    const { count, records } = await timed(request, () =>
      readView(accountReads, reply, access, viewStatement(access, plan, 1)),
    )
    if (count === '0') throw unknown(view, id)
    contextOf(request).records = 1
    return sendFresh(reply, `{"data":${records}}`)
  }
}

function unknown({ noun }: View, id: string): Failure {
  return new Failure('record_unknown', `The account has no ${noun} ${JSON.stringify(excerpt(id))}.`)
}

export function sendFresh(reply: FastifyReply, body: string): FastifyReply {
  return reply.header('cache-control', 'no-store').type('application/json; charset=utf-8').send(body)
}

async function readView(
  accountReads: AccountReads,
  reply: FastifyReply,
  access: AccountScope,
  statement: Statement,
): Promise<ViewRow> {
  const [row] = await accountReads.read<ViewRow>(access, statement, clientSignal(reply))
  if (row === undefined) throw new Error('a list of one row had none')
  return row
}
