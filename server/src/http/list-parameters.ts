import type { FastifyRequest } from 'fastify'
import { Failure, invalid } from '../errors.ts'
import { shown } from '../faults.ts'
import type { ListSource } from '../query/list-request.ts'
import { factsOf } from './facts.ts'
import { formMediaType } from './problem.ts'
import { bodyOf, rawQueryOf } from './url.ts'

/** The parameters of a list as they were sent: in the URL of a GET, in the body of a QUERY. */
export function rawParameters(request: FastifyRequest): [string, ListSource] {
  const query = rawQueryOf(request)
  if (request.method !== 'QUERY') return [query, 'url']
  if (query !== '') {
    throw invalid({
      parameter: shown(query.split('=', 1)[0] ?? ''),
      code: 'parameter_unknown',
      message: 'A QUERY request has its parameters in the body, none in the URL.',
    })
  }
  const form = formBody(request)
  factsOf(request).form = form
  return [form, 'body']
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
