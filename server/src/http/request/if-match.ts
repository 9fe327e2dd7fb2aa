import type { FastifyRequest } from 'fastify'
import { invalid } from '../../errors/errors.ts'

/** The ETags of If-Match; undefined without the header, or if it is `*`, which every record matches. */
export function ifMatchOf(request: FastifyRequest): readonly string[] | undefined {
  const header = request.headers['if-match']
  if (header === undefined || header.trim() === '*') return undefined
  const etags = header.split(',').map((etag) => etag.trim())
  if (etags.every(isEtag)) return etags
  throw invalid({
    parameter: 'If-Match',
    code: 'header_invalid',
    message: 'If-Match must be * or a list of ETags in double quotes, as in the ETag header of a response.',
    expected: ['*', 'an ETag in double quotes'],
  })
}

function isEtag(text: string): boolean {
  return /^(?:W\/)?"[^"]*"$/.test(text)
}
