import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { containsKey, containsKeyMessage } from '../../accounts/key-format.ts'
import { type RecordField, typeNames } from '../../catalog/field.ts'
import type { Resource } from '../../catalog/resources.ts'
import type { Fault } from '../../errors/errors.ts'
import { excerpt, Faults } from '../../errors/faults.ts'
import { nearest } from '../../errors/nearest.ts'
import { limits } from '../../limits/limits.ts'
import { fieldsHash } from '../../query/fields-hash.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import { recordEtag } from '../../tally-state.ts'
import { createRecord } from '../../writes/create-record.ts'
import { isFlat, parseExactJson } from '../../writes/exact-json.ts'
import { type FieldValue, valueOfJson } from '../../writes/field-value.ts'
import type { Idempotency } from '../../writes/idempotency.ts'
import { type EtagOf, ownValues, type RecordValues, writableFields } from '../../writes/record-values.ts'
import {
  cachedRecordHeaders,
  createdHeaders,
  json,
  jsonResponse,
  resourceTag,
  respondsWith,
} from '../openapi/parts.ts'
import { curl, literalOf, sendsJson, typescript } from '../openapi/samples.ts'
import { bodySchema, propertiesOf, ref, responseSchema, type Schema, schemaName } from '../openapi/schemas.ts'
import { resourcePath } from '../paths.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { clientSignal, contextOf, rawQueryOf, routeOf, timed } from '../plugins/request-context.ts'
import { writeOwn } from '../plugins/write-own.ts'
import { type JsonBody, jsonBody, pointerTo, textMember } from '../request/body.ts'
import { idempotencyKeyOf } from '../request/headers.ts'
import { sendCreated } from '../respond.ts'
import type { Handler, Route, RouteParts } from './route.ts'

export function createRoute(resource: Resource): Route {
  const { name, noun, plural } = resource
  const path = resourcePath(resource)
  const example = exampleOf(resource)
  const orderKey = `${name}-of-order-4711`
  return {
    methods: ['POST'],
    path,
    scopes: name === 'partner' ? ['partner:create', 'partner:write'] : [`${name}:write`],
    resource: name,
    bodies: ['application/json'],
    wrongBodyType: 'body_invalid',
    writeHeaders: ['idempotency-key'],
    operation: {
      operationId: `create_${name}`,
      tag: resourceTag(resource),
      summary: `Create a ${noun}`,
      samples: [
        curl('', path, sendsJson, `-H 'Idempotency-Key: ${orderKey}'`, `-d '${JSON.stringify(example)}'`),
        typescript(
          `const { id } = await qm.${plural}.create(`,
          `  ${literalOf(example)},`,
          `  { idempotencyKey: '${orderKey}' },`,
          ')',
          'console.log(id)',
        ),
      ],
      parameters: ['idempotencyKey'],
      body: json(ref('schemas', `New${schemaName(resource)}`), example),
      responses: {
        '201': jsonResponse(
          `The ${noun} has been created.`,
          `Created${schemaName(resource)}Response`,
          { data: { id: 123 } },
          { ...cachedRecordHeaders, ...createdHeaders('new record') },
        ),
        ...respondsWith('invalid', 'conflict', 'tooLarge', 'mismatch'),
      },
      schemas: schemasOf(resource),
    },
    handler: (parts) => createHandler(parts, resource),
  }
}

function schemasOf(resource: Resource): Record<string, Schema> {
  const name = schemaName(resource)
  return {
    [`New${name}`]: bodySchema(
      `New ${resource.noun}`,
      bodyProperties(resource),
      Object.keys(exampleOf(resource)),
    ),
    [`Created${name}Response`]: responseSchema(`Created ${resource.noun} response`, {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'integer', format: 'int64', minimum: 1 } },
    }),
  }
}

/** As in a record, but a name is not empty, and a decimal may be a string, which no JSON parser rounds. */
export function bodyProperties(resource: Resource): Record<string, Schema> {
  const fields = writableFields(resource)
  const properties = propertiesOf(fields)
  return Object.fromEntries(
    fields.map(({ name, type, nullable }) => {
      const schema = properties[name] ?? {}
      if (name === 'name') return [name, { ...schema, minLength: 1 }]
      if (type !== 'decimal') return [name, schema]
      return [name, { ...schema, type: ['number', 'string', ...(nullable ? ['null'] : [])] }]
    }),
  )
}

function createHandler(parts: RouteParts, route: Resource): Handler {
  const path = resourcePath(route)
  const etagOfRoute = etagOfRecord(route)
  return async (request, reply) => {
    const scope = accessFor(request)
    parseNoParameters(rawQueryOf(request))
    const created = await writeOwn(request, parts.definitions, route, async (resource) => {
      const values = recordValues(request, resource)
      const custom = ownValues(resource, values, { withNulls: false })
      const create = { scope, author: scope.keyId, values, custom, recordsMax: scope.recordsMax }
      const etagOf = resource === route ? etagOfRoute : etagOfRecord(resource)
      const idempotency = idempotencyOf(request, path, values)
      return await timed(request, () =>
        parts.writes.run(scope, clientSignal(reply), () =>
          createRecord(parts, resource, create, { etagOf, idempotency }),
        ),
      )
    })
    contextOf(request).records = 1
    if (created.replayed) reply.header('idempotent-replayed', 'true')
    if (created.etag !== null) reply.header('etag', created.etag)
    return sendCreated(reply, `${path}/${created.id}`, `{"data":{"id":${created.id}}}`)
  }
}

/** The ETag of a GET without `fields`. */
export function etagOfRecord(resource: Resource): EtagOf {
  const hash = fieldsHash(resource)
  return (id, position) => recordEtag(position, id, hash)
}

/** Parses the body of a create, which must have every required field, or of a patch. Reports all faults at once. */
export function recordValues(request: FastifyRequest, resource: Resource): RecordValues {
  const isCreate = request.method === 'POST'
  const body = jsonBody(request, {
    example: isCreate ? JSON.stringify(exampleOf(resource)) : '{"name":"New name"}',
    // An object that is not flat is rejected below; the slow parser of exact numbers need not see it.
    parse: (text) => (isFlat(text, resource.fields.length) ? parseExactJson(text) : JSON.parse(text)),
  })
  const faults = new Faults()
  const fields = writableFields(resource)
  addUnknownFields(resource, fields, body, faults)
  const values = new Map<string, string | null>()
  for (const field of fields) {
    const isPresent = Object.hasOwn(body, field.name)
    if (!isPresent && !(isCreate && field.absent === 'required')) continue
    const value = field.name === 'name' ? nameOf(body, faults) : checkedValue(field, body, isPresent, faults)
    if (value === null || typeof value === 'string') values.set(field.name, value)
  }
  faults.throwIfAny('body_invalid')
  return values
}

/** The required fields of a new record with their examples. */
export function exampleOf(resource: Resource): Record<string, unknown> {
  const required = writableFields(resource).filter(({ absent }) => absent === 'required')
  return Object.fromEntries(required.map(({ name, example }) => [name, example]))
}

function addUnknownFields(
  resource: Resource,
  fields: readonly RecordField[],
  body: JsonBody,
  faults: Faults,
): void {
  const names = fields.map(({ name }) => name)
  const stored = [...resource.fields, ...(resource.onRequest ?? [])].map(({ name }) => name)
  const assigned = stored.filter((name) => !names.includes(name))
  for (const member of Object.keys(body)) {
    if (names.includes(member)) continue
    faults.add(() => ({
      pointer: pointerTo(member),
      code: 'member_unknown',
      message: assigned.includes(member)
        ? `"${member}" cannot be set: the service assigns ${assigned.join(', ')}.`
        : unknownMessage(resource, member, names),
      expected: names,
    }))
  }
}

function unknownMessage(resource: Resource, member: string, names: readonly string[]): string {
  const near = nearest(member, names)
  const help = near === undefined ? `Its fields are ${names.join(', ')}.` : `Did you mean ${near}?`
  return `A ${resource.noun} has no field "${excerpt(member)}". ${help}`
}

/** A name is trimmed, not empty, and on one line, because people search and sort by it. */
function nameOf(body: JsonBody, faults: Faults): string {
  return textMember(body, 'name', limits.partnerNameCharactersMax, faults)
}

/** Any other field: the rules of an import. Texts are stored as they were sent. */
function checkedValue(field: RecordField, body: JsonBody, isPresent: boolean, faults: Faults): FieldValue {
  const value = body[field.name]
  const fault = (code: Fault['code'], message: string): FieldValue => {
    faults.add(() => ({ pointer: pointerTo(field.name), code, message, expected: [expectedOf(field)] }))
    return { reason: message }
  }
  if (!isPresent) return fault('member_required', `${field.name} is missing.`)
  if (value === null && !field.nullable) return fault('member_invalid', `${field.name} cannot be null.`)
  if (typeof value === 'string' && containsKey(value)) {
    return fault('member_invalid', `${field.name} ${containsKeyMessage}`)
  }
  const checked = valueOfJson(field, value)
  if (checked === null || typeof checked === 'string') return checked
  return fault('member_invalid', `${field.name} ${checked.reason}.`)
}

function expectedOf({ type, charactersMax, nullable }: RecordField): string {
  const bound = charactersMax === undefined ? '' : ` of at most ${charactersMax} characters`
  return `${typeNames[type]}${bound}${nullable ? ', or null' : ''}`
}

/**
 * The Idempotency-Key with a hash of the request: its method, path, If-Match and values. The hash of a partner's create that has
 * only a name is that of the previous version, so that a retry may reach a process of either version.
 */
export function idempotencyOf(
  request: FastifyRequest,
  path: string,
  values: RecordValues = new Map(),
): Idempotency | undefined {
  const key = idempotencyKeyOf(request)
  if (key === undefined) return undefined
  const { resource } = routeOf(request).config
  if (resource === undefined) throw new Error('the route does not write records')
  const name = values.size === 1 && path.endsWith('/partner') ? values.get('name') : undefined
  const text = JSON.stringify([request.method, path, request.headers['if-match'] ?? null, ...values])
  return {
    key,
    resource,
    requestHash: createHash('sha256')
      .update(name ?? text)
      .digest(),
  }
}
