import type { Access } from '../../accounts/verifications.ts'
import type { Resource } from '../../catalog/resources.ts'
import type { PlanCache } from '../../lists/plan-cache.ts'
import type { RecordRequest } from '../../lists/record-reader.ts'
import type { RecordRow } from '../../query/sql/record-statement.ts'
import {
  cachedRecordHeaders,
  fieldsParameter,
  jsonResponse,
  resourceTag,
  respondsWith,
} from '../openapi/parts.ts'
import { curl, typescript } from '../openapi/samples.ts'
import { exampleRecord, schemaName, singleSchemas } from '../openapi/schemas.ts'
import { resourcePath } from '../paths.ts'
import {
  finishVerification,
  requireDefinitions,
  startVerification,
  verifiedFor,
} from '../plugins/authenticate.ts'
import { contextOf, rawQueryOf, recordSource, timed } from '../plugins/request-context.ts'
import { rejectUnsupported } from '../request/headers.ts'
import { sendRead } from '../respond.ts'
import { type AddressOf, byId, unknownAt } from './record-address.ts'
import { type Handler, type Route, type RouteParts, type RouteRequest, readMethods } from './route.ts'

export function recordRoute(resource: Resource): Route {
  const { name, plural, noun } = resource
  const path = resourcePath(resource)
  return {
    methods: readMethods,
    path: `${path}/{id}`,
    scopes: [`${name}:read`],
    resource: name,
    isVerifiedInHandler: true,
    operation: {
      operationId: `get_${name}`,
      tag: resourceTag(resource),
      summary: `Get one ${noun}`,
      samples: [
        curl('', `${path}/1?fields=id,name`),
        typescript(
          `const ${name} = await qm.${plural}.get(1, { fields: ['id', 'name'] })`,
          `console.log(${name}.name)`,
        ),
      ],
      parameters: ['id', fieldsParameter(resource), 'ifNoneMatch'],
      responses: {
        '200': jsonResponse(
          'The record.',
          `${schemaName(resource)}Response`,
          { data: exampleRecord(resource) },
          cachedRecordHeaders,
        ),
        ...respondsWith('notModified', 'invalid', 'notFound'),
      },
      schemas: singleSchemas(resource),
    },
    handler: (parts) => recordHandler(parts, resource, byId),
  }
}

/** The key is verified here, so that the record of a key that was accepted lately is read at the same time. */
export function recordHandler(parts: RouteParts, route: Resource, addressOf: AddressOf): Handler {
  const { authentication, definitions, plans, recordReader, responseCache } = parts
  return async (request, reply) => {
    const verification = startVerification(request, reply, authentication)
    const early = readBeforehand(parts, route, request, { access: verification.recent, addressOf })
    await finishVerification(request, reply, verification, authentication)
    rejectUnsupported(request)
    requireDefinitions(request)
    const verified = verifiedFor(request)
    const found = definitions.of(verified.access, route, verified.tally.schema)
    const resource = found instanceof Promise ? await found : found
    const isEarly = early?.record.resource === resource
    const record = isEarly ? early.record : recordRequestOf(request, resource, plans, addressOf)
    const context = contextOf(request)
    const read = async () => {
      context.source = 'read'
      const response = await timed(request, () =>
        recordReader.read(verified, record, isEarly ? early.row : undefined),
      )
      if (response === undefined) throw unknownAt(resource, record.address)
      return response
    }
    const response = await recordSource(
      request,
      responseCache.get(verified, cacheKeyOf(record), read, reply.raw),
    )
    context.records = 1
    return sendRead(request, reply, response)
  }
}

interface EarlyRead {
  readonly record: RecordRequest
  /** Undefined if the response is cached. */
  readonly row: Promise<RecordRow | undefined> | undefined
}

/** Requests the row of the record, unless its response is cached or the request is not valid. Throws nothing. */
function readBeforehand(
  { definitions, plans, recordReader, responseCache }: RouteParts,
  route: Resource,
  request: RouteRequest,
  { access, addressOf }: { readonly access: Access | undefined; readonly addressOf: AddressOf },
): EarlyRead | undefined {
  if (access?.scopes.has(`${route.name}:read`) !== true) return undefined
  try {
    const record = recordRequestOf(request, definitions.latest(access, route), plans, addressOf)
    if (responseCache.has(access, cacheKeyOf(record))) return { record, row: undefined }
    const row = recordReader.row(record, access.accountId)
    // Reported by the handler, if it needs the row.
    row.catch(() => {})
    return { record, row }
  } catch {
    // Reported by the handler, if the key is valid.
    return undefined
  }
}

function recordRequestOf(
  request: RouteRequest,
  resource: Resource,
  plans: PlanCache,
  addressOf: AddressOf,
): RecordRequest {
  const address = addressOf(request, resource)
  return { resource, address, ...plans.record(resource, rawQueryOf(request)) }
}

/** No id contains a slash, so a value cannot be taken for one. */
function cacheKeyOf({ address, fieldsHash }: RecordRequest): string {
  if ('id' in address) return `${address.id}-${fieldsHash}`
  const { field, value } = address.key
  return `${field.key.number}/${value}-${fieldsHash}`
}
