import type { Resource } from '../../catalog/resources.ts'
import { isErasable } from '../../erasure/places.ts'
import { Failure } from '../../errors/errors.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import { deleteRecord, patchRecord } from '../../writes/change-record.ts'
import {
  cachedRecordHeaders,
  json,
  jsonResponse,
  resourceTag,
  respondsWith,
  responseHeaders,
} from '../openapi/parts.ts'
import { curl, literalOf, typescript } from '../openapi/samples.ts'
import { bodySchema, exampleRecord, ref, responseSchema, schemaName } from '../openapi/schemas.ts'
import { resourcePath } from '../paths.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { clientSignal, contextOf, rawQueryOf, timed } from '../plugins/request-context.ts'
import { writeOwn } from '../plugins/write-own.ts'
import { bodyOf, mergePatchMediaType } from '../request/body.ts'
import { ifMatchOf } from '../request/headers.ts'
import { sendDeleted, sendPatched } from '../respond.ts'
import { bodyProperties, etagOfRecord, idempotencyOf, recordValues } from './create.ts'
import { eraseParameter, eraseText, erasingHandler } from './erase.ts'
import { type AddressOf, addressPath, byId } from './record-address.ts'
import type { Handler, Route, RouteParts } from './route.ts'

export const writeHeaders = ['if-match', 'idempotency-key'] as const
const parameters = ['id', 'ifMatch', 'idempotencyKey'] as const
export const writeErrors = respondsWith(
  'invalid',
  'notFound',
  'conflict',
  'preconditionFailed',
  'tooLarge',
  'mismatch',
)

/** `PATCH …/{id}` with a JSON merge patch (RFC 7396). */
export function patchRoute(resource: Resource): Route {
  const { name, noun, plural } = resource
  const path = resourcePath(resource)
  const [patch, changed] = [`${schemaName(resource)}Patch`, `Changed${schemaName(resource)}Response`]
  const example = { name: resource.fields.find((field) => field.name === 'name')?.example }
  const body = json(ref('schemas', patch), example)
  return {
    methods: ['PATCH'],
    path: `${path}/{id}`,
    scopes: [`${name}:write`],
    resource: name,
    bodies: ['application/json', mergePatchMediaType],
    writeHeaders,
    operation: {
      operationId: `update_${name}`,
      tag: resourceTag(resource),
      summary: `Change a ${noun}`,
      samples: [
        curl(
          ' -X PATCH',
          `${path}/1`,
          `-H 'Content-Type: ${mergePatchMediaType}'`,
          `-d '${JSON.stringify(example)}'`,
        ),
        typescript(
          `const changed = await qm.${plural}.update(1, ${literalOf(example)})`,
          'console.log(changed.write_date)',
        ),
      ],
      description: 'A patch that changes nothing is not a write: `write_date` and `ETag` stay.',
      parameters,
      body: { ...body, [mergePatchMediaType]: body['application/json'] },
      responses: {
        '200': jsonResponse(
          `The complete ${noun} after the change.`,
          changed,
          { data: exampleRecord(resource) },
          cachedRecordHeaders,
        ),
        ...writeErrors,
      },
      schemas: {
        [patch]: {
          ...bodySchema(`Changes of a ${noun}`, bodyProperties(resource)),
          description:
            'A JSON merge patch (RFC 7396): fields that are absent stay as they are, null clears a field.',
        },
        [changed]: responseSchema(`Changed ${noun} response`, ref('schemas', schemaName(resource))),
      },
    },
    handler: (parts) => patchHandler(parts, resource),
  }
}

function patchHandler({ writes, idempotent, definitions }: RouteParts, route: Resource): Handler {
  const etagOfRoute = etagOfRecord(route)
  return async (request, reply) => {
    const scope = accessFor(request)
    parseNoParameters(rawQueryOf(request))
    const address = byId(request, route)
    const written = await writeOwn(request, definitions, route, async (resource) => {
      const etagOf = resource === route ? etagOfRoute : etagOfRecord(resource)
      const values = recordValues(request, resource)
      const idempotency = idempotencyOf(request, addressPath(resource, address), values)
      const target = { scope, resource, author: scope.keyId, address, etags: ifMatchOf(request), idempotency }
      return await timed(request, () =>
        writes.run(scope, clientSignal(reply), () => patchRecord(idempotent, target, values, etagOf)),
      )
    })
    contextOf(request).records = 1
    return sendPatched(reply, written)
  }
}

export function deleteRoute(resource: Resource): Route {
  const { name, noun, plural } = resource
  const path = resourcePath(resource)
  const canErase = isErasable(resource)
  return {
    methods: ['DELETE'],
    path: `${path}/{id}`,
    scopes: canErase ? [`${name}:write`, 'partner:erase'] : [`${name}:write`],
    resource: name,
    writeHeaders,
    operation: {
      operationId: `delete_${name}`,
      tag: resourceTag(resource),
      summary: `Delete a ${noun}`,
      samples: [curl(' -X DELETE', `${path}/1`), typescript(`await qm.${plural}.delete(2)`)],
      description: canErase ? `Its id is never reused. ${eraseText}` : 'Its id is never reused.',
      parameters: canErase ? [...parameters, eraseParameter] : parameters,
      responses: {
        '204': { description: `The ${noun} has been deleted.`, headers: responseHeaders },
        ...writeErrors,
      },
    },
    handler: (parts) => {
      const handler = deleteHandler(parts, resource, byId)
      return canErase ? erasingHandler(parts, resource, handler) : handler
    },
  }
}

export function deleteHandler(
  { writes, idempotent, definitions }: RouteParts,
  route: Resource,
  addressOf: AddressOf,
): Handler {
  return async (request, reply) => {
    const scope = accessFor(request)
    parseNoParameters(rawQueryOf(request))
    if (bodyOf(request).length > 0)
      throw new Failure('body_invalid', 'A DELETE request must not have a body.')
    // Its before-image has the values of the account's own fields.
    const written = await writeOwn(request, definitions, route, async (resource) => {
      const address = addressOf(request, resource)
      const idempotency = idempotencyOf(request, addressPath(resource, address))
      const target = { scope, resource, author: scope.keyId, address, etags: ifMatchOf(request), idempotency }
      return await timed(request, () =>
        writes.run(scope, clientSignal(reply), () => deleteRecord(idempotent, target)),
      )
    })
    contextOf(request).records = 1
    return sendDeleted(reply, written)
  }
}
