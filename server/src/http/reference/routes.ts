import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Resource, type ResourceName, resources } from '../../catalog/resources.ts'
import { Failure } from '../../errors/errors.ts'
import type { Definitions } from '../../fields/definitions.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import type { AccountScope } from '../../scope.ts'
import { openApi, openApiOf } from '../openapi/document.ts'
import { rawQueryOf } from '../plugins/request-context.ts'
import { errorIndex, errorPages } from './error-pages.ts'
import { memoize, type Page, pageOf, sendPage } from './page.ts'
import { referencePage } from './reference-page.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** The OpenAPI document and the reference pages by path. Each is built on its first request and cached. */
export function referenceRoutes(definitions: Definitions): Readonly<Record<string, Handler>> {
  const reference = memoize(referencePage)
  const index = memoize(errorIndex)
  const pages = memoize(errorPages)
  const sendsPage =
    (page: (request: FastifyRequest) => Promise<Page>): Handler =>
    async (request, reply) => {
      parseNoParameters(rawQueryOf(request))
      return sendPage(request, reply, await page(request))
    }
  const document = memoize(() => pageOf('application/json; charset=utf-8', JSON.stringify(openApi)))
  return {
    '/openapi.json': async (request, reply) => {
      parseNoParameters(rawQueryOf(request))
      const { verified } = request
      const own = verified === undefined ? undefined : await ownResources(definitions, verified.access)
      if (own === undefined) return sendPage(request, reply, await document())
      reply.header('cache-control', 'no-store').type('application/json; charset=utf-8')
      return reply.send(JSON.stringify(openApiOf(own)))
    },
    '/reference': sendsPage(reference),
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

/** The document is about an account if the request has its key. */
export function isWithoutKey({ headers }: FastifyRequest): boolean {
  return headers.authorization === undefined
}

/** Undefined if the account has declared no fields. */
async function ownResources(
  definitions: Definitions,
  access: AccountScope,
): Promise<Record<ResourceName, Resource> | undefined> {
  const read = async (resource: Resource) => (await definitions.current(access, resource)).resource
  const [product, partner, company] = await Promise.all([
    read(resources.product),
    read(resources.partner),
    read(resources.company),
  ])
  const own = { product, partner, company }
  return Object.values(own).some(({ schema }) => schema !== undefined) ? own : undefined
}

function codeOf({ params }: FastifyRequest): string {
  const isNamed = typeof params === 'object' && params !== null && 'code' in params
  return isNamed ? String(params.code) : ''
}
