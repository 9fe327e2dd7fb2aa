import type { FastifyReply, FastifyRequest } from 'fastify'
import { Failure } from '../../errors.ts'
import { openApi } from '../openapi/document.ts'
import { errorIndex, errorPages } from './error-pages.ts'
import { type Page, pageOf, sendPage } from './page.ts'
import { type Reference, scalarReference } from './scalar.ts'

type Answer = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** The OpenAPI document and the pages of the reference by their paths. Each is made when it is first asked for, and kept. */
export function referenceRoutes(): Readonly<Record<string, Answer>> {
  const reference = once(scalarReference)
  const index = once(errorIndex)
  const pages = once(errorPages)
  const sends =
    (page: (request: FastifyRequest) => Promise<Page>): Answer =>
    async (request, reply) =>
      sendPage(request, reply, await page(request))
  const part = (name: keyof Reference) => sends(async () => (await reference())[name])
  const document = once(() => pageOf('application/json; charset=utf-8', JSON.stringify(openApi)))
  return {
    '/openapi.json': sends(document),
    '/reference': part('page'),
    '/reference/scalar.js': part('script'),
    '/reference/errors': sends(index),
    '/reference/errors/:code': sends(async (request) => {
      const page = (await pages()).get(codeOf(request))
      if (page !== undefined) return page
      throw new Failure(
        'path_unknown',
        'There is no such error. All of them are listed at /reference/errors.',
      )
    }),
  }
}

function codeOf({ params }: FastifyRequest): string {
  const isNamed = typeof params === 'object' && params !== null && 'code' in params
  return isNamed ? String(params.code) : ''
}

/** What failed once is tried again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}
