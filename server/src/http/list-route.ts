import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../catalog/resources.ts'
import { Failure, invalid } from '../errors.ts'
import { limits } from '../limits.ts'
import { type ListSource, parseListRequest } from '../query/list-request.ts'
import { planList } from '../query/plan.ts'
import { type ListRow, listStatement } from '../query/statement.ts'
import type { Store } from '../store/pool.ts'
import { accessFor } from './authenticate.ts'
import { linkHeader, listBody, pageNumbers } from './envelope.ts'
import { formMediaType } from './problem.ts'
import { bodyOf, pathOf, rawQueryOf } from './url.ts'

/** A list, asked by GET with its parameters in the URL or by QUERY with the same in the body. */
export function listRoute(store: Store, resource: Resource) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const scope = accessFor(request, `${resource.name}:read`)
    const [raw, source] = rawParameters(request)
    const list = parseListRequest(raw, source)
    const plan = planList(resource, list)
    const [row] = await store.read<ListRow>(listStatement(scope, plan))
    if (row === undefined)
      throw new Failure('internal', 'Something went wrong on our side. It has been noted.')
    const pages = pageNumbers(plan.page, plan.limit, Number(row.total))
    const link = linkHeader(pathOf(request), list, pages)
    if (link.length <= limits.linkBytesMax) reply.header('link', link)
    return reply.type('application/json; charset=utf-8').send(listBody(row, pages))
  }
}

function rawParameters(request: FastifyRequest): [string, ListSource] {
  const query = rawQueryOf(request)
  if (request.method !== 'QUERY') return [query, 'url']
  if (query !== '') {
    throw invalid([
      {
        parameter: query.split('=')[0]?.slice(0, 100) ?? '',
        code: 'parameter_unknown',
        message: 'A QUERY request has its parameters in the body, none in the URL.',
      },
    ])
  }
  return [formBody(request), 'body']
}

function formBody(request: FastifyRequest): string {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== formMediaType) {
    throw new Failure(
      'media_type_unsupported',
      'The body of a QUERY is application/x-www-form-urlencoded: filter=…&limit=…, as in a URL.',
    )
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bodyOf(request))
  } catch {
    throw new Failure('body_invalid', 'The body is not valid UTF-8.')
  }
}
