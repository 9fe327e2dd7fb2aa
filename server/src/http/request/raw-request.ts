import type { FastifyRequest } from 'fastify'
import { Failure, invalid } from '../../errors/errors.ts'
import { excerpt } from '../../errors/faults.ts'
import type { ListSource } from '../../query/list-request.ts'
import { contextOf } from '../plugins/request-context.ts'
import { acceptedBody, contentTypeFailure } from './content-type.ts'

/** The query of the URL, unparsed: a filter may contain `&`, which a standard query parser would split. */
export function rawQueryOf(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
}

/** The unparsed parameters of a list: from the URL of a GET or the body of a QUERY. */
export function rawParameters(request: FastifyRequest): [string, ListSource] {
  const query = rawQueryOf(request)
  if (request.method !== 'QUERY') return [query, 'url']
  if (query !== '') {
    throw invalid({
      parameter: excerpt(query.split('=', 1)[0] ?? ''),
      code: 'parameter_unknown',
      message: 'Send the parameters of a QUERY request in its body, not in the URL.',
    })
  }
  const form = formBody(request)
  contextOf(request).form = form
  return [form, 'body']
}

function formBody(request: FastifyRequest): string {
  if (acceptedBody(request) === undefined)
    throw contentTypeFailure(request.method, request.headers['content-type'])
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bodyOf(request))
  } catch {
    throw new Failure('body_invalid', 'The body is not valid UTF-8.')
  }
}
