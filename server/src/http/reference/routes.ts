import type { FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../../errors/errors.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import { openApi } from '../openapi/document.ts'
import { rawQueryOf } from '../plugins/request-context.ts'
import { errorIndex, errorPages } from './error-pages.ts'
import { memoize, type Page, pageOf, sendPage } from './page.ts'
import { type Reference, scalarReference } from './scalar.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** The OpenAPI document and the reference pages by path. Each is built on its first request and cached. */
export function referenceRoutes(): Readonly<Record<string, Handler>> {
  const reference = memoize(scalarReference)
  const index = memoize(errorIndex)
  const pages = memoize(errorPages)
  const sendsPage =
    (page: (request: FastifyRequest) => Promise<Page>): Handler =>
    async (request, reply) => {
      parseNoParameters(rawQueryOf(request))
      return sendPage(request, reply, await page(request))
    }
  const referencePart = (name: keyof Reference) => sendsPage(async () => (await reference())[name])
  const document = memoize(() => pageOf('application/json; charset=utf-8', JSON.stringify(openApi)))
  return {
    '/openapi.json': sendsPage(document),
    '/reference': referencePart('page'),
    '/reference/scalar.js': referencePart('script'),
    '/reference/errors': sendsPage(index),
    '/reference/errors/:code': sendsPage(async (request) => {
      const page = (await pages()).get(codeOf(request))
      if (page !== undefined) return page
      throw new Failure(
        'path_unknown',
        'This error code does not exist. All codes are listed at /reference/errors.',
      )
    }),
  }
}

function codeOf({ params }: FastifyRequest): string {
  const isNamed = typeof params === 'object' && params !== null && 'code' in params
  return isNamed ? String(params.code) : ''
}
