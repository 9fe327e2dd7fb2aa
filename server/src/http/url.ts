import type { FastifyRequest } from 'fastify'
import type { Resource } from '../catalog/resources.ts'
import type { View } from '../catalog/views.ts'

/** The query of the URL, unparsed: a filter may contain `&`, which a standard query parser would split. */
export function rawQueryOf(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

/** Links are built from this path, not from the request's URL: clients share cached responses. */
export function resourcePath({ path }: Resource): string {
  return `/api/v1/${path}`
}

export function viewPath({ path }: View): string {
  return `/manage/v1/${path}`
}

export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
}
