import type { Resource } from '../../catalog/resources.ts'
import { invalid } from '../../errors/errors.ts'
import { excerpt } from '../../errors/faults.ts'
import { limits } from '../../limits/limits.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import type { RecordValues } from '../../writes/record-values.ts'
import { upsertRecord } from '../../writes/upsert-record.ts'
import {
  cachedRecordHeaders,
  createdHeaders,
  fieldsParameter,
  json,
  jsonResponse,
  resourceTag,
  respondsWith,
  responseHeaders,
} from '../openapi/parts.ts'
import { curl, literalOf, typescript } from '../openapi/samples.ts'
import { exampleRecord, ref, schemaName } from '../openapi/schemas.ts'
import { keyedPath, resourcePath } from '../paths.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { clientSignal, contextOf, rawQueryOf, timed } from '../plugins/request-context.ts'
import { writeOwn } from '../plugins/write-own.ts'
import { mergePatchMediaType } from '../request/body.ts'
import { ifMatchOf, isIfNoneMatchAny } from '../request/headers.ts'
import { sendUpserted } from '../respond.ts'
import { adjustAccess, adjustHandler, adjustOperation } from './adjust.ts'
import { deleteHandler, writeErrors, writeHeaders } from './change.ts'
import { etagOfRecord, idempotencyOf, recordValues } from './create.ts'
import { recordHandler } from './record.ts'
import { addressPath, byKey, keyIn } from './record-address.ts'
import { type Handler, type Route, type RouteParts, readMethods } from './route.ts'

/** `…/product/x_sku/4711`: a record by the value of a unique field of the account. */
export function byKeyRoutes(resource: Resource): Route[] {
  return [readRoute(resource), upsertRoute(resource), deleteRoute(resource), ...adjustRoutes(resource)]
}

/** In samples: a field that every account can make unique. */
function sampleOf(resource: Resource): { readonly field: string; readonly value: string } {
  const field = resource.fields.find(({ canBeUnique }) => canBeUnique)
  if (field === undefined) throw new Error(`no field of ${resource.plural} can be unique`)
  return { field: field.name, value: String(field.example) }
}

function samplePath(resource: Resource): string {
  const { field, value } = sampleOf(resource)
  return `${resourcePath(resource)}/${field}/${encodeURIComponent(value)}`
}

function sampleArgument(resource: Resource): string {
  const { field, value } = sampleOf(resource)
  return `{ ${field}: '${value}' }`
}

function keyParameters(resource: Resource): readonly object[] {
  const { field, value } = sampleOf(resource)
  return [
    {
      name: 'key',
      in: 'path',
      required: true,
      description: 'The name of a unique field, as `/manage/v1/fields` lists them.',
      schema: { type: 'string' },
      example: field,
    },
    {
      name: 'value',
      in: 'path',
      required: true,
      description: 'Its value, percent-encoded.',
      schema: { type: 'string', maxLength: limits.ownTextCharactersMax },
      example: value,
    },
  ]
}

const notFoundText = 'If the account has no such unique field, the response is 404 `key_unknown`.'

function readRoute(resource: Resource): Route {
  const { name, plural, noun } = resource
  return {
    methods: readMethods,
    path: keyedPath(resource),
    scopes: [`${name}:read`],
    resource: name,
    isVerifiedInHandler: true,
    needsDefinitions: true,
    operation: {
      operationId: `get_${name}_by_key`,
      tag: resourceTag(resource),
      summary: `Get one ${noun} by a unique field`,
      samples: [
        curl('', `${samplePath(resource)}?fields=id,name`),
        typescript(
          `const ${name} = await qm.${plural}.get(${sampleArgument(resource)}, { fields: ['id', 'name'] })`,
          `console.log(${name}.name)`,
        ),
      ],
      description: notFoundText,
      parameters: [...keyParameters(resource), fieldsParameter(resource), 'ifNoneMatch'],
      responses: {
        '200': jsonResponse(
          'The record.',
          `${schemaName(resource)}Response`,
          { data: exampleRecord(resource) },
          cachedRecordHeaders,
        ),
        ...respondsWith('notModified', 'invalid', 'notFound', 'keyNotReady'),
      },
    },
    handler: (parts) => recordHandler(parts, resource, byKey),
  }
}

function upsertRoute(resource: Resource): Route {
  const { name, noun, plural } = resource
  const example = { name: resource.fields.find((field) => field.name === 'name')?.example }
  const body = json(ref('schemas', `${schemaName(resource)}Patch`), example)
  const response = `Changed${schemaName(resource)}Response`
  return {
    methods: ['PATCH'],
    path: keyedPath(resource),
    scopes: [`${name}:write`],
    resource: name,
    needsDefinitions: true,
    bodies: ['application/json', mergePatchMediaType],
    writeHeaders: [...writeHeaders, 'if-none-match'],
    operation: {
      operationId: `upsert_${name}`,
      tag: resourceTag(resource),
      summary: `Create or change a ${noun} by a unique field`,
      samples: [
        curl(
          ' -X PATCH',
          samplePath(resource),
          `-H 'Content-Type: ${mergePatchMediaType}'`,
          `-d '${JSON.stringify(example)}'`,
        ),
        typescript(
          `const ${name} = await qm.${plural}.put(${sampleArgument(resource)}, ${literalOf(example)})`,
          `console.log(${name}.id)`,
        ),
      ],
      description: `Changes the ${noun} with this value, or creates one with an id that the service assigns: 201. However many clients send the same value at the same time, it is one ${noun}, so the
request can be repeated without an \`Idempotency-Key\`. With \`If-Match\` it creates nothing, with \`If-None-Match: *\` it changes nothing: then the response is 412. ${notFoundText}`,
      parameters: [...keyParameters(resource), 'ifMatch', 'ifNoneMatchAny', 'idempotencyKey'],
      body: { ...body, [mergePatchMediaType]: body['application/json'] },
      responses: {
        '200': jsonResponse(
          `The complete ${noun} after the change.`,
          response,
          { data: exampleRecord(resource) },
          cachedRecordHeaders,
        ),
        '201': jsonResponse(
          `The ${noun} has been created.`,
          response,
          { data: exampleRecord(resource) },
          { ...cachedRecordHeaders, ...createdHeaders('new record') },
        ),
        ...writeErrors,
      },
    },
    handler: (parts) => upsertHandler(parts, resource),
  }
}

function upsertHandler({ writes, idempotent, definitions }: RouteParts, route: Resource): Handler {
  return async (request, reply) => {
    const scope = accessFor(request)
    parseNoParameters(rawQueryOf(request))
    const written = await writeOwn(request, definitions, route, async (resource) => {
      const key = keyIn(request, resource)
      const values = valuesWith(key, recordValues(request, resource))
      const target = {
        scope,
        resource,
        author: scope.keyId,
        key,
        etags: ifMatchOf(request),
        mustExist: request.headers['if-match'] !== undefined,
        mustBeNew: isIfNoneMatchAny(request),
        idempotency: idempotencyOf(request, addressPath(resource, { key }), values),
        recordsMax: scope.recordsMax,
      }
      return await timed(request, () =>
        writes.run(scope, clientSignal(reply), () =>
          upsertRecord(idempotent, target, values, etagOfRecord(resource)),
        ),
      )
    })
    contextOf(request).records = 1
    return sendUpserted(reply, written, `${resourcePath(route)}/${written.id}`)
  }
}

/** The value in the path is that of the record. Another one in the body would be a second answer to the question which record is meant. */
function valuesWith({ field, value }: ReturnType<typeof keyIn>, values: RecordValues): RecordValues {
  const given = values.get(field.name)
  if (given !== undefined && given !== value) {
    throw invalid(
      {
        pointer: `/${field.name}`,
        code: 'member_invalid',
        message: `${field.name} is ${JSON.stringify(given === null ? null : excerpt(given))}, and the path names ${JSON.stringify(excerpt(value))}. To change it, address the record by its id.`,
      },
      'body_invalid',
    )
  }
  return new Map([...values, [field.name, value]])
}

function deleteRoute(resource: Resource): Route {
  const { name, noun, plural } = resource
  return {
    methods: ['DELETE'],
    path: keyedPath(resource),
    scopes: [`${name}:write`],
    resource: name,
    needsDefinitions: true,
    writeHeaders,
    operation: {
      operationId: `delete_${name}_by_key`,
      tag: resourceTag(resource),
      summary: `Delete a ${noun} by a unique field`,
      samples: [
        curl(' -X DELETE', samplePath(resource)),
        typescript(`await qm.${plural}.delete(${sampleArgument(resource)})`),
      ],
      description: `Its id is never reused; another ${noun} may have the value. ${notFoundText}`,
      parameters: [...keyParameters(resource), 'ifMatch', 'idempotencyKey'],
      responses: {
        '204': { description: `The ${noun} has been deleted.`, headers: responseHeaders },
        ...writeErrors,
      },
    },
    handler: (parts) => deleteHandler(parts, resource, byKey),
  }
}

function adjustRoutes(resource: Resource): Route[] {
  const operation = adjustOperation(resource, samplePath(resource), sampleArgument(resource))
  if (operation === undefined) return []
  const { name, noun } = resource
  return [
    {
      methods: ['POST'],
      path: `${keyedPath(resource)}/adjust`,
      ...adjustAccess(resource),
      needsDefinitions: true,
      operation: {
        ...operation,
        operationId: `adjust_${name}_by_key`,
        summary: `Add to numbers of a ${noun} by a unique field`,
        parameters: [...keyParameters(resource), ...operation.parameters.slice(1)],
      },
      handler: (parts) => adjustHandler(parts, resource, byKey),
    },
  ]
}
