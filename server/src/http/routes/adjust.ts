import type { FastifyRequest } from 'fastify'
import { typeNames } from '../../catalog/field.ts'
import type { Resource } from '../../catalog/resources.ts'
import { Failure } from '../../errors/errors.ts'
import { excerpt, Faults } from '../../errors/faults.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import { adjustRecord } from '../../writes/change-record.ts'
import { isFlat, parseExactJson } from '../../writes/exact-json.ts'
import { valueOfJson } from '../../writes/field-value.ts'
import { adjustableFields, type RecordValues } from '../../writes/record-values.ts'
import {
  cachedRecordHeaders,
  json,
  jsonResponse,
  parameters,
  resourceTag,
  respondsWith,
} from '../openapi/parts.ts'
import { curl, literalOf, sendsJson, typescript } from '../openapi/samples.ts'
import { bodySchema, exampleRecord, ref, type Schema, schemaName } from '../openapi/schemas.ts'
import { adjustPath, resourcePath } from '../paths.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { clientSignal, contextOf, rawQueryOf, timed } from '../plugins/request-context.ts'
import { writeOwn } from '../plugins/write-own.ts'
import { jsonBody, pointerTo } from '../request/body.ts'
import { ifMatchOf } from '../request/headers.ts'
import { sendPatched } from '../respond.ts'
import { etagOfRecord, idempotencyOf } from './create.ts'
import { type AddressOf, addressPath, byId } from './record-address.ts'
import type { Handler, Operation, Route, RouteParts } from './route.ts'

/** `POST …/{id}/adjust`, for a resource with decimals: adds to them. */
export function adjustRoutes(resource: Resource): Route[] {
  const operation = adjustOperation(resource, `${resourcePath(resource)}/7`, '7')
  if (operation === undefined) return []
  return [
    {
      methods: ['POST'],
      path: adjustPath(resource),
      ...adjustAccess(resource),
      operation,
      handler: (parts) => adjustHandler(parts, resource, byId),
    },
  ]
}

export function adjustAccess({ name }: Resource) {
  return {
    scopes: [`${name}:write`],
    resource: name,
    bodies: ['application/json'],
    writeHeaders: ['if-match', 'idempotency-key'],
  } as const
}

/** Undefined for a resource without decimals. `path` and `argument` name the record of the samples. */
export function adjustOperation(resource: Resource, path: string, argument: string) {
  if (adjustableFields(resource).length === 0) return undefined
  const { name, noun, plural } = resource
  const schema = `${schemaName(resource)}Adjustment`
  const example = exampleOf(resource)
  const key = `sale-4711-${path.slice(path.lastIndexOf('/') + 1)}`
  return {
    operationId: `adjust_${name}`,
    tag: resourceTag(resource),
    summary: `Add to numbers of a ${noun}`,
    samples: [
      curl(
        '',
        `${path}/adjust`,
        sendsJson,
        `-H 'Idempotency-Key: ${key}'`,
        `-d '${JSON.stringify(example)}'`,
      ),
      typescript(
        `const adjusted = await qm.${plural}.adjust(${argument}, ${literalOf(example)})`,
        `console.log(adjusted.${Object.keys(example)[0]})`,
      ),
    ],
    description: `Adds each number to the field, exactly. Changes that other clients write at the same time are kept. Needs an
\`Idempotency-Key\`, because an adjustment sent twice would count twice.`,
    parameters: ['id', 'ifMatch', { ...parameters.idempotencyKey, required: true }],
    body: json(ref('schemas', schema), example),
    responses: {
      '200': jsonResponse(
        `The complete ${noun} after the change.`,
        `Changed${schemaName(resource)}Response`,
        { data: exampleRecord(resource) },
        cachedRecordHeaders,
      ),
      ...respondsWith(
        'invalid',
        'notFound',
        'adjustmentConflict',
        'preconditionFailed',
        'tooLarge',
        'mismatch',
      ),
    },
    schemas: { [schema]: schemaOf(resource) },
  } satisfies Operation
}

function schemaOf(resource: Resource): Schema {
  const properties = adjustableFields(resource).map(({ name }) => [
    name,
    { type: ['number', 'string'], description: `What is added to \`${name}\`; negative to subtract.` },
  ])
  return {
    ...bodySchema(`Adjustment of a ${resource.noun}`, Object.fromEntries(properties)),
    minProperties: 1,
    description:
      'The numbers to add. As a string, a number keeps every digit, which some JSON parsers round.',
  }
}

/** The last one: the quantity of a product. */
function exampleOf(resource: Resource): Record<string, number> {
  return Object.fromEntries(
    adjustableFields(resource)
      .slice(-1)
      .map(({ name }) => [name, -3]),
  )
}

export function adjustHandler(
  { writes, idempotent, definitions }: RouteParts,
  route: Resource,
  addressOf: AddressOf,
): Handler {
  const etagOfRoute = etagOfRecord(route)
  return async (request, reply) => {
    const scope = accessFor(request)
    parseNoParameters(rawQueryOf(request))
    const written = await writeOwn(request, definitions, route, async (resource) => {
      const address = addressOf(request, resource)
      const etagOf = resource === route ? etagOfRoute : etagOfRecord(resource)
      const deltas = deltasOf(request, resource)
      const idempotency = idempotencyOf(request, `${addressPath(resource, address)}/adjust`, deltas)
      if (idempotency === undefined) throw keyRequired()
      const target = { scope, resource, author: scope.keyId, address, etags: ifMatchOf(request), idempotency }
      return await timed(request, () =>
        writes.run(scope, clientSignal(reply), () => adjustRecord(idempotent, target, deltas, etagOf)),
      )
    })
    contextOf(request).records = 1
    return sendPatched(reply, written)
  }
}

function keyRequired(): Failure {
  return new Failure(
    'idempotency_key_required',
    'Send an Idempotency-Key: without one, an adjustment that is repeated after a lost response would count twice. Nothing was written.',
  )
}

/** The numbers to add, by field. Reports all faults at once. */
function deltasOf(request: FastifyRequest, resource: Resource): RecordValues {
  const fields = adjustableFields(resource)
  const names = fields.map(({ name }) => name)
  const body = jsonBody(request, {
    example: JSON.stringify(exampleOf(resource)),
    // An object that is not flat is rejected below; the slow parser of exact numbers need not see it.
    parse: (text) => (isFlat(text, resource.fields.length) ? parseExactJson(text) : JSON.parse(text)),
  })
  const faults = new Faults()
  for (const member of Object.keys(body)) {
    if (names.includes(member)) continue
    faults.add(() => ({
      pointer: pointerTo(member),
      code: 'member_unknown',
      message: `"${excerpt(member)}" cannot be adjusted: a ${resource.noun} has the decimals ${names.join(', ')}.`,
      expected: names,
    }))
  }
  const deltas = new Map<string, string>()
  for (const field of fields) {
    if (!Object.hasOwn(body, field.name)) continue
    const delta = valueOfJson({ ...field, nullable: false }, body[field.name])
    if (typeof delta === 'string') deltas.set(field.name, delta)
    else {
      const reason = body[field.name] === null ? 'cannot be null' : delta?.reason
      faults.add(() => ({
        pointer: pointerTo(field.name),
        code: 'member_invalid',
        message: `${field.name} ${reason}.`,
        expected: [typeNames.decimal],
      }))
    }
  }
  if (deltas.size === 0 && faults.count === 0) {
    faults.add(() => ({
      pointer: '',
      code: 'member_required',
      message: `The body must name a field to adjust: ${names.join(', ')}.`,
      expected: names,
    }))
  }
  faults.throwIfAny('body_invalid')
  return deltas
}
