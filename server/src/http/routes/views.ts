import type { FastifyReply } from 'fastify'
import type { AccountReads } from '../../accounts/account-reads.ts'
import type { View } from '../../catalog/views.ts'
import { Failure } from '../../errors/errors.ts'
import { excerpt } from '../../errors/faults.ts'
import { limits } from '../../limits/limits.ts'
import { pageQueryOf } from '../../lists/plan-cache.ts'
import { linkHeader, listBody, pageNumbers } from '../../lists/response.ts'
import { parseRecordRequest, parseViewRequest } from '../../query/list-request.ts'
import { type ListPlan, planList, planRecordFields, withAcceptedSuggestions } from '../../query/plan.ts'
import { type ViewRow, viewStatement } from '../../query/sql/view-statement.ts'
import type { AccountScope } from '../../scope.ts'
import type { Statement } from '../../sql.ts'
import {
  fieldsParameter,
  filterParameter,
  invalidListResponse,
  jsonResponse,
  type ParameterName,
  pageResponse,
  respondsWith,
  responseHeaders,
} from '../openapi/parts.ts'
import { curl } from '../openapi/samples.ts'
import { collectionSchemas, exampleRecord, schemaName, singleSchemas } from '../openapi/schemas.ts'
import { viewPath } from '../paths.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { clientSignal, contextOf, rawQueryOf, timed } from '../plugins/request-context.ts'
import { formMediaType } from '../request/body.ts'
import { sendUncached } from '../respond.ts'
import { rawParameters } from './list.ts'
import { type Handler, listMethods, type Route, type RouteParts, readMethods } from './route.ts'

type Tag = 'Administration' | 'Fields' | 'Webhooks'

/** A list for administrators: the same parameters as any other list, but never cached. */
export function viewRoute(view: View, tag: Tag): Route {
  const { plural, choices = {} } = view
  return {
    methods: listMethods,
    path: viewPath(view),
    scopes: ['account:manage'],
    bodies: [formMediaType],
    operation: {
      operationId: `list_${plural}`,
      tag,
      summary: `List ${plural}`,
      samples: [curl(' -G', viewPath(view), "--data 'limit=5'")],
      parameters: [
        ...Object.entries(choices).map(([name, values]) => ({
          name,
          in: 'query',
          description: `One of ${values.join(', ')}. Default: ${values[0]}.`,
          schema: { type: 'string', enum: values, default: values[0] },
          example: values[0],
        })),
        fieldsParameter(view),
        filterParameter(view),
        'page',
        'limit',
      ],
      responses: {
        '200': pageResponse(view, 'newest first', responseHeaders),
        '400': invalidListResponse(view),
        ...respondsWith('late'),
      },
      schemas: collectionSchemas(view),
    },
    handler: ({ accountReads }) => viewHandler(accountReads, view),
  }
}

function viewHandler(accountReads: AccountReads, view: View): Handler {
  return async (request, reply) => {
    const access = accessFor(request)
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

interface OneView {
  readonly view: View
  readonly tag: Tag
  readonly path: string
  /** The name of the shared parameter. */
  readonly parameter: ParameterName
  /** The path in the sample. */
  readonly samplePath: string
  readonly idField: string
  /** Rejects other texts before the query: PostgreSQL does not accept NUL in a text. */
  readonly isId: (text: string) => boolean
}

/** One row of a view, by its id field. */
export function oneViewRoute(one: OneView): Route {
  const { view } = one
  return {
    methods: readMethods,
    path: one.path,
    scopes: ['account:manage'],
    operation: {
      operationId: `get_${view.name}`,
      tag: one.tag,
      summary: `Get one ${view.noun}`,
      samples: [curl('', one.samplePath)],
      parameters: [one.parameter, fieldsParameter(view)],
      responses: {
        '200': jsonResponse('The record.', `${schemaName(view)}Response`, { data: exampleRecord(view) }),
        ...respondsWith('invalid', 'notFound'),
      },
      schemas: singleSchemas(view),
    },
    handler: (parts) => oneViewHandler(parts, one),
  }
}

function oneViewHandler({ accountReads }: RouteParts, { view, idField, isId }: OneView): Handler {
  const field = view.fields.find(({ name }) => name === idField)
  if (field === undefined) throw new Error(`a ${view.noun} has no field ${idField}`)
  return async (request, reply) => {
    const access = accessFor(request)
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
