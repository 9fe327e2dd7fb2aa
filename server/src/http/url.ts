import type { FastifyRequest } from 'fastify'
import type { Resource } from '../catalog/resources.ts'
import type { View } from '../catalog/views.ts'

/** What follows the first `?`, as it was sent: a filter may hold `&`, so no query parser may touch it first. */
export function rawQueryOf(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  const mark = url.indexOf('?')
  return mark < 0 ? '' : url.slice(mark + 1)
}

/** Paths are made here and never taken from a request: what one caller wrote would be in an answer that others share. */
export function resourcePath({ path }: Resource): string {
  return `/api/v1/${path}`
}

export function viewPath({ path }: View): string {
  return `/manage/v1/${path}`
}

/** The bytes of the body; none where there is none. */
export function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
}
