import type { FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../../errors/errors.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import { acceptsHtml } from '../console/routes.ts'
import { rawQueryOf } from '../plugins/request-context.ts'
import { memoize } from '../reference/page.ts'
import { acceptsEncoding } from '../request/headers.ts'
import { isNotModified } from '../respond.ts'
import { type Encoding, readSite, type Site, type SiteFile } from './files.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** Only files of this host, and the two inline scripts of the pages, which set the colour scheme before anything is painted. */
function policyOf({ scripts }: Site): string {
  return [
    "default-src 'none'",
    `script-src 'self' ${scripts.map((hash) => `'${hash}'`).join(' ')}`,
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

const base = '/docs/'

/** The name of an asset contains a hash of its contents, so it never changes. */
const assetCacheControl = 'public, max-age=31536000, immutable'

const notBuilt = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Quartermaster documentation</title>
<h1>The documentation is not built</h1><p>Run <code>npm run build -w site</code> in this checkout, then restart the service.</p></html>`

/** The documentation: the same static files for every account, without a key. The manifest is read on the first request. */
export function docsRoutes(
  read: () => Promise<Site | undefined> = readSite,
): Readonly<Record<'/docs' | '/docs/*', Handler>> {
  const site = memoize(read)
  const file: Handler = async (request, reply) => {
    parseNoParameters(rawQueryOf(request))
    // Not the parameter of the route: the router removes the slash at the end.
    const path = request.raw.url?.split('?', 1)[0] ?? ''
    if (path === base.slice(0, -1)) return redirect(reply, base)
    const found = await site()
    if (found === undefined) return reply.code(503).type('text/html; charset=utf-8').send(notBuilt)
    const name = path.slice(base.length)
    const target = found.files.get(name === '' || name.endsWith('/') ? `${name}index.html` : name)
    if (target !== undefined) return await sendFile(request, reply, found, target)
    if (found.files.has(`${name}/index.html`)) return redirect(reply, `${path}/`)
    const missing = found.files.get('404.html')
    if (missing === undefined || !acceptsHtml(request)) {
      throw new Failure('path_unknown', 'The documentation has no such page. It begins at /docs/.')
    }
    return await sendFile(request, reply.code(404), found, missing)
  }
  return { '/docs': file, '/docs/*': file }
}

function redirect(reply: FastifyReply, path: string): FastifyReply {
  return reply.header('cache-control', 'no-cache').redirect(path, 308)
}

async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  site: Site,
  target: SiteFile,
): Promise<FastifyReply> {
  if (target.type.startsWith('text/html')) {
    reply.header('content-security-policy', policyOf(site)).header('referrer-policy', 'no-referrer')
  }
  reply.header('cache-control', target.isAsset ? assetCacheControl : 'no-cache')
  reply.header('etag', target.etag).header('vary', 'accept-encoding')
  if (reply.statusCode === 200 && isNotModified(request, target.etag)) return reply.code(304).send()
  const encoding = target.isText ? encodingOf(request) : undefined
  if (encoding !== undefined) reply.header('content-encoding', encoding)
  return reply.type(target.type).send(await target.read(encoding))
}

function encodingOf({ headers }: FastifyRequest): Encoding {
  const accepted = headers['accept-encoding']
  if (acceptsEncoding(accepted, 'br')) return 'br'
  return acceptsEncoding(accepted, 'gzip') ? 'gzip' : undefined
}
