import type { FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../../errors/errors.ts'
import { memoize } from '../reference/page.ts'
import { acceptsEncoding } from '../request/headers.ts'
import { isNotModified } from '../respond.ts'
import { type ConsoleFile, type ConsoleFiles, readConsole } from './files.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** Only files of this host, and requests to it. No inline script or style, no frame, no form target. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The name of an asset contains a hash of its contents, so it never changes. */
const assetCacheControl = 'public, max-age=31536000, immutable'

const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Quartermaster console</title>
<h1>The console is not built</h1><p>Run <code>npm run build -w console</code> in this checkout, then restart the service.</p></html>`

/**
 * The console: the same files for every account, without a key. All paths of the application have the same page, which
 * reads the path and the parameters in the browser. The files are read on the first request.
 */
export function consoleRoutes(
  read: () => Promise<ConsoleFiles | undefined> = readConsole,
): Readonly<Record<'/console' | '/console/*', Handler>> {
  const files = memoize(read)
  const page: Handler = async (request, reply) => {
    const found = await files()
    reply
      .header('content-security-policy', policy)
      .header('referrer-policy', 'no-referrer')
      .header('cache-control', 'no-cache')
    if (found !== undefined) return sendFile(request, reply, found.page)
    return reply.code(503).type('text/html; charset=utf-8').send(notBuilt)
  }
  return {
    '/console': page,
    '/console/*': async (request, reply) => {
      const rest = wildcardOf(request)
      if (!rest.startsWith('assets/')) return page(request, reply)
      const asset = (await files())?.assets.get(rest.slice('assets/'.length))
      if (asset === undefined)
        throw new Failure('path_unknown', 'The console has no such file. Reload the page.')
      return sendFile(request, reply.header('cache-control', assetCacheControl), asset)
    },
  }
}

/** Redirects a browser from / to the console. Any other client gets the error of an unknown path. */
export const rootRoute: Handler = async (request, reply) => {
  if (!acceptsHtml(request)) {
    throw new Failure('path_unknown', 'The path does not exist. All paths are listed in /openapi.json.')
  }
  return reply.header('cache-control', 'no-store').header('vary', 'accept').redirect('/console', 303)
}

/** Browsers name text/html when a person opens a page; curl and HTTP libraries do not. */
export function acceptsHtml({ headers }: FastifyRequest): boolean {
  return headers.accept?.toLowerCase().includes('text/html') === true
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): FastifyReply {
  reply.header('etag', file.etag).header('vary', 'accept-encoding')
  if (isNotModified(request, file.etag)) return reply.code(304).send()
  reply.type(file.type)
  const accepted = request.headers['accept-encoding']
  if (acceptsEncoding(accepted, 'br')) return reply.header('content-encoding', 'br').send(file.brotli)
  if (acceptsEncoding(accepted, 'gzip')) return reply.header('content-encoding', 'gzip').send(file.gzipped)
  return reply.send(file.body)
}

function wildcardOf({ params }: FastifyRequest): string {
  const hasRest = typeof params === 'object' && params !== null && '*' in params
  return hasRest ? String(params['*']) : ''
}
