import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { acceptsGzip } from '../request/headers.ts'
import { isNotModified } from '../respond.ts'

/** A static document, encoded and compressed. */
export interface Page {
  readonly type: string
  readonly etag: string
  readonly body: Buffer
  readonly gzipped: Buffer
  /** Content-Security-Policy of an HTML page. */
  readonly policy: string | undefined
}

/** One hour: the next version of the service has other pages at the same paths. */
const cacheControl = 'public, max-age=3600'

/** Without an icon link browsers request /favicon.ico, which would be a 401. */
export const noIcon = '<link rel="icon" href="data:,">'

const gzipBuffer = promisify(gzip)

export async function pageOf(type: string, text: string, policy?: string): Promise<Page> {
  const body = Buffer.from(text)
  const etag = `W/"${hash('sha1', body, 'base64url').slice(0, 16)}"`
  return { type, etag, body, gzipped: await gzipBuffer(body, { level: 9 }), policy }
}

/** A source for `Content-Security-Policy` that allows exactly this inline script or style. */
export function hashSource(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`
}

export function sendPage(request: FastifyRequest, reply: FastifyReply, page: Page): FastifyReply {
  reply.header('etag', page.etag).header('cache-control', cacheControl).header('vary', 'accept-encoding')
  if (isNotModified(request, page.etag)) return reply.code(304).send()
  reply.type(page.type)
  if (page.policy !== undefined) reply.header('content-security-policy', page.policy)
  if (!acceptsGzip(request.headers['accept-encoding'])) return reply.send(page.body)
  return reply.header('content-encoding', 'gzip').send(page.gzipped)
}

/** Caches the result of `build`; retries after a failure. */
export function memoize<T>(build: () => Promise<T>): () => Promise<T> {
  let promise: Promise<T> | undefined
  return () => {
    promise ??= build().catch((error: unknown) => {
      promise = undefined
      throw error
    })
    return promise
  }
}
