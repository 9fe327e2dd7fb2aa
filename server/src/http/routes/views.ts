import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccountReads } from '../../accounts/account-reads.ts'
import type { View } from '../../catalog/views.ts'
import { Failure } from '../../errors/errors.ts'
import { excerpt } from '../../errors/faults.ts'
import { limits } from '../../limits/limits.ts'
import { pageQueryOf } from '../../lists/plan-cache.ts'
import { linkHeader, listBody, pageNumbers } from '../../lists/response.ts'
import { parseRecordRequest, parseViewRequest } from '../../query/list-request.ts'
import { type ListPlan, planList, planRecordFields } from '../../query/plan.ts'
import { type ViewRow, viewStatement } from '../../query/sql/view-statement.ts'
import { withAcceptedSuggestions } from '../../query/suggestions.ts'
import type { AccountScope } from '../../scope.ts'
import type { Statement } from '../../sql.ts'
import { clientSignal } from '../client-signal.ts'
import { viewPath } from '../paths.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { contextOf, timed } from '../plugins/request-context.ts'
import { rawParameters, rawQueryOf } from '../request/raw-request.ts'
import { sendUncached } from '../respond.ts'

/** A list for administrators: the same parameters as any other list, but never cached. */
export function viewRoute(accountReads: AccountReads, view: View) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const access = accessFor(request, 'account:manage')
    const { parameters, plan } = withAcceptedSuggestions(view, () => {
      const parsed = parseViewRequest(...rawParameters(request), view.choices)
      return { parameters: parsed, plan: planList(view, parsed) }
    })
    const row = await timed(request, () =>
      readView(accountReads, reply, access, viewStatement(access, plan, parameters.page, parameters.chosen)),
    )
    contextOf(request).records = Number(row.count)
    const total = Number(row.total)
    const pages = pageNumbers(parameters.page, plan.limit, total)
    const link = linkHeader(viewPath(view), pageQueryOf(parameters, plan), pages)
    if (link.length <= limits.linkBytesMax) reply.header('link', link)
    return sendUncached(reply, listBody(row.records, row.count, total, pages))
  }
}

/** One row of a view, by its id field. `isId` rejects other texts before the query: PostgreSQL does not accept NUL in a text. */
export function oneViewRoute(
  accountReads: AccountReads,
  view: View,
  idField: string,
  isId: (text: string) => boolean,
) {
  const field = view.fields.find(({ name }) => name === idField)
  if (field === undefined) throw new Error(`a ${view.noun} has no field ${idField}`)
  return async (
    request: FastifyRequest<{ Params: { id: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const access = accessFor(request, 'account:manage')
    const { id } = request.params
    if (!isId(id)) throw notFound(view, id)
    const plan: ListPlan<View> = {
      resource: view,
      fields: withAcceptedSuggestions(view, () =>
        planRecordFields(view, parseRecordRequest(rawQueryOf(request))),
      ),
      where: { kind: 'one-of', field, values: [id], orNull: false },
      limit: 1,
    }
    const { count, records } = await timed(request, () =>
      readView(accountReads, reply, access, viewStatement(access, plan, 1)),
    )
    if (count === '0') throw notFound(view, id)
    contextOf(request).records = 1
    return sendUncached(reply, `{"data":${records}}`)
  }
}

function notFound({ noun }: View, id: string): Failure {
  return new Failure('record_unknown', `The account has no ${noun} ${JSON.stringify(excerpt(id))}.`)
}

async function readView(
  accountReads: AccountReads,
  reply: FastifyReply,
  access: AccountScope,
  statement: Statement,
): Promise<ViewRow> {
  const [row] = await accountReads.read<ViewRow>(access, statement, clientSignal(reply))
  if (row === undefined) throw new Error('the statement of a view returned no row')
  return row
}
