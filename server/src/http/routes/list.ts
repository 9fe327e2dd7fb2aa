import type { FastifyRequest } from 'fastify'
import type { Resource, ResourceName } from '../../catalog/resources.ts'
import { Failure, invalid } from '../../errors/errors.ts'
import { excerpt } from '../../errors/faults.ts'
import { exportQuery } from '../../lists/plan-cache.ts'
import type { ListSource } from '../../query/list-request.ts'
import {
  cachedHeaders,
  fieldsParameter,
  filterParameter,
  invalidListResponse,
  pageResponse,
  resourceTag,
  respondsWith,
  searchParameter,
  sortParameter,
} from '../openapi/parts.ts'
import { curl, type Sample, typescript } from '../openapi/samples.ts'
import { collectionSchemas } from '../openapi/schemas.ts'
import { resourcePath } from '../paths.ts'
import { verifiedFor } from '../plugins/authenticate.ts'
import { contextOf, rawQueryOf, recordSource, timed } from '../plugins/request-context.ts'
import { acceptedBody, bodyOf, contentTypeFailure, formMediaType } from '../request/body.ts'
import { exportFormatOf } from '../request/headers.ts'
import { matchingEtag, sendNotModified, sendRead } from '../respond.ts'
import { exportContent, sendExport } from './export.ts'
import { type Handler, listMethods, type Route, type RouteParts } from './route.ts'

/** A list, by GET with its parameters in the URL, or by QUERY with the same parameters in the body. */
export function listRoute(resource: Resource): Route {
  return {
    methods: listMethods,
    path: resourcePath(resource),
    scopes: [`${resource.name}:read`],
    resource: resource.name,
    bodies: [formMediaType],
    operation: {
      operationId: `list_${resource.plural}`,
      tag: resourceTag(resource),
      summary: `List ${resource.plural}`,
      samples: samplesOf(resource),
      description:
        'With `Accept: application/x-ndjson`, `text/csv` or `text/csv; form=spreadsheet`, and without `page` and `limit`, the response streams every matching ' +
        'record from one snapshot.',
      extension: { 'x-export': exportContent(resource) },
      parameters: [
        fieldsParameter(resource),
        filterParameter(resource),
        searchParameter,
        sortParameter(resource),
        'afterId',
        'maxId',
        'page',
        'limit',
        'ifNoneMatch',
      ],
      responses: {
        '200': pageResponse(resource, 'ordered by id or by `sort`', cachedHeaders),
        '400': invalidListResponse(resource),
        ...respondsWith('notModified', 'late'),
      },
      schemas: collectionSchemas(resource),
    },
    handler: (parts) => listHandler(parts, resource),
  }
}

function listHandler(parts: RouteParts, route: Resource): Handler {
  const { accountReads, definitions, plans, listReader, responseCache } = parts
  const path = resourcePath(route)
  return async (request, reply) => {
    const verified = verifiedFor(request)
    const found = definitions.of(verified.access, route, verified.tally.schema)
    const resource = found instanceof Promise ? await found : found
    const [raw, source] = rawParameters(request)
    const format = exportFormatOf(request.headers.accept)
    if (format !== undefined) {
      const plan = (of: Resource) => exportQuery(of, raw, source, format)
      return sendExport(parts, request, reply, verified, { query: plan(resource), plan }, format)
    }
    const admit = () => accountReads.rejectIfFull(verified.access, raw.length)
    const list = plans.list(resource, raw, source, admit)
    const context = contextOf(request)
    const etag = matchingEtag(request, verified.tally, list.requestHash)
    if (etag !== undefined) {
      context.source = 'unchanged'
      return sendNotModified(reply, etag)
    }
    const read = (signal: AbortSignal) => {
      context.source = 'read'
      return timed(request, () => listReader.read(verified, list, path, signal))
    }
    const response = await recordSource(
      request,
      responseCache.get(verified, list.requestHash, read, reply.raw),
    )
    context.records = response.records
    return sendRead(request, reply, response)
  }
}

/** The unparsed parameters of a list: from the URL of a GET or the body of a QUERY. */
export function rawParameters(request: FastifyRequest): [string, ListSource] {
  const query = rawQueryOf(request)
  if (request.method !== 'QUERY') return [query, 'url']
  if (query !== '') {
    throw invalid({
      parameter: excerpt(query.split('=', 1)[0] ?? ''),
      code: 'parameter_unknown',
      message: 'Send the parameters of a QUERY request in its body, not in the URL.',
    })
  }
  const form = formBody(request)
  contextOf(request).form = form
  return [form, 'body']
}

function formBody(request: FastifyRequest): string {
  if (acceptedBody(request) === undefined) throw contentTypeFailure(request)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bodyOf(request))
  } catch {
    throw new Failure('body_invalid', 'The body is not valid UTF-8.')
  }
}

const filters: Record<ResourceName, string> = {
  product: 'list_price>10&active=true',
  partner: 'is_customer=true|is_vendor=true',
  company: 'name*a',
}

function samplesOf(resource: Resource): readonly Sample[] {
  const { name, plural } = resource
  const path = resourcePath(resource)
  const filter = filters[name]
  const parameters = [`--data-urlencode 'filter=${filter}'`, "--data 'fields=id,name' --data 'limit=5'"]
  return [
    curl(' -G', path, ...parameters),
    { ...curl(' -X QUERY', path, ...parameters), label: 'curl: QUERY' },
    {
      ...curl(' --compressed', path, `-H 'Accept: text/csv' -o ${plural}.csv`),
      label: 'curl: all, as CSV',
    },
    typescript(
      `const page = await qm.${plural}.list({`,
      "  fields: ['id', 'name'],",
      `  filter: '${filter}',`,
      '  limit: 5,',
      '})',
      'console.log(page.meta.total, page.data)',
    ),
    {
      ...typescript(
        `const all = qm.${plural}.export({ fields: ['id', 'name'] })`,
        `for await (const ${name} of all) console.log(${name}.name)`,
      ),
      label: 'TypeScript: all',
    },
  ]
}
