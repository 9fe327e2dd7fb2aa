import type { FastifyRequest } from 'fastify'

/** The query of the URL, unparsed: a filter may contain `&`, which a standard query parser would split. */
export function rawQueryOf(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
}
