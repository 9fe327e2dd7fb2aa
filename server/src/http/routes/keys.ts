import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  createKey,
  type Key,
  type KeyIdempotency,
  type KeyParameters,
  keyJson,
  type NewKey,
  type Rotation,
  revokeKey,
  rotateKey,
} from '../../accounts/api-keys.ts'
import { isKeyId, type Scope, scopes } from '../../accounts/key-format.ts'
import { views } from '../../catalog/views.ts'
import type { Fault } from '../../errors/errors.ts'
import { excerpt, Faults } from '../../errors/faults.ts'
import { limits } from '../../limits/limits.ts'
import { parseTimeSpan } from '../../query/timestamp.ts'
import { bodyContent, bodySchemas, createdHeaders, jsonResponse, respondsWith } from '../openapi/parts.ts'
import { curl, sendsJson } from '../openapi/samples.ts'
import { exampleRecord, recordSchema, ref, responseSchema } from '../openapi/schemas.ts'
import { viewPath } from '../paths.ts'
import { contextOf } from '../plugins/request-context.ts'
import {
  addUnknownMembers,
  type BodyShape,
  type JsonBody,
  jsonBody,
  kindOf,
  rejectBody,
  textMember,
} from '../request/body.ts'
import { idempotencyKeyOf } from '../request/headers.ts'
import { sendCreated, sendUncached } from '../respond.ts'
import { administrationOf } from './administration.ts'
import type { Route } from './route.ts'
import { oneViewRoute } from './views.ts'

/** Routes that read and change the keys of an account. `views.ts` has their list. */

const tag = 'Administration'
const path = viewPath(views.key)
const one = `${path}/{key_id}`
const exampleKey = 'qm_EXAMPLEexampleEXAMPLEexampleEX000000'
const { required: _, properties, ...keySchema } = recordSchema(views.key)

/** The response of a creation and of a rotation. */
const newKey = {
  response: jsonResponse(
    'The new key. It is shown only once: the service stores only its hash.',
    'NewKeyResponse',
    { data: { key: exampleKey, ...exampleRecord(views.key), last_used_on: null } },
    createdHeaders('key'),
  ),
  schemas: {
    NewKey: {
      ...keySchema,
      title: 'New key',
      required: ['key', ...views.key.fields.map(({ name }) => name)],
      properties: {
        key: {
          type: 'string',
          pattern: '^qm_[0-9A-Za-z]{36}$',
          description: 'The key itself, shown only once.',
          examples: [exampleKey],
        },
        ...properties,
      },
    },
    NewKeyResponse: responseSchema('New key response', ref('schemas', 'NewKey')),
  },
}

const expiry = {
  type: ['string', 'null'],
  format: 'date-time',
  description: 'A date or date-time in the future; null: the key never expires.',
  examples: ['2099-01-01T00:00:00.000Z'],
}

const createShape: BodyShape = {
  name: 'NewKeyRequest',
  title: 'New key request',
  members: {
    name: { type: 'string', minLength: 1, maxLength: limits.keyNameCharactersMax },
    scopes: { type: 'array', minItems: 1, items: { type: 'string', enum: scopes } },
    expires_at: expiry,
  },
  required: ['name', 'scopes'],
  what: 'A key is created from name, scopes and expires_at',
  example: '{"name":"web shop","scopes":["product:read"]}',
}

const rotationShape: BodyShape = {
  name: 'KeyRotation',
  title: 'Key rotation',
  members: {
    overlap_seconds: {
      type: 'integer',
      minimum: 0,
      maximum: limits.keyOverlapSecondsMax,
      description: 'How long the old key stays valid; 0 revokes it immediately.',
    },
    expires_at: {
      ...expiry,
      description: `${expiry.description} Default: the new key is valid for as long as the old one was.`,
    },
  },
  required: ['overlap_seconds'],
  what: 'A rotation has overlap_seconds and expires_at',
  example: '{"overlap_seconds":86400}',
}

export const keyRoute = oneViewRoute({
  view: views.key,
  tag,
  path: one,
  parameter: 'keyId',
  samplePath: `${path}/$KEY_ID`,
  idField: 'key_id',
  isId: isKeyId,
})

export const createKeyRoute: Route = {
  methods: ['POST'],
  path,
  scopes: ['account:manage'],
  bodies: ['application/json'],
  writeHeaders: ['idempotency-key'],
  operation: {
    operationId: 'create_key',
    tag,
    summary: 'Create a key',
    samples: [curl('', path, sendsJson, `-d '${createShape.example}'`)],
    description:
      'The new key may have any scope. With an `Idempotency-Key`, a retry does not create a second key; the first is not shown again.',
    parameters: ['idempotencyKey'],
    body: bodyContent(createShape, {
      name: 'web shop',
      scopes: ['product:read', 'partner:create'],
      expires_at: '2099-01-01T00:00:00Z',
    }),
    responses: {
      '201': newKey.response,
      ...respondsWith('invalid', 'keyConflict', 'tooLarge', 'mismatch'),
    },
    schemas: { ...newKey.schemas, ...bodySchemas(createShape) },
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, write } = administrationOf(request, reply, parts)
    const parameters = createParameters(jsonBody(request, createShape))
    const idempotency = idempotencyOf(request, parameters)
    const created = await write((transaction) =>
      createKey(transaction, access, actor, parameters, idempotency),
    )
    return sendNewKey(reply, created)
  },
}

export const rotateKeyRoute: Route = {
  methods: ['POST'],
  path: `${one}/rotate`,
  scopes: ['account:manage'],
  bodies: ['application/json'],
  operation: {
    operationId: 'rotate_key',
    tag,
    summary: 'Rotate a key',
    samples: [curl('', `${path}/$KEY_ID/rotate`, sendsJson, `-d '${rotationShape.example}'`)],
    description:
      'Creates a new key with the name and scopes of the old one, which stays valid until the overlap ends. Only an ' +
      'active key can be rotated, so a retry does not create a second key.',
    parameters: ['keyId'],
    body: bodyContent(rotationShape),
    responses: {
      '201': newKey.response,
      ...respondsWith('invalid', 'notFound', 'keyConflict', 'tooLarge'),
    },
    schemas: { ...newKey.schemas, ...bodySchemas(rotationShape) },
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    const rotation = rotationOf(jsonBody(request, rotationShape))
    const { created } = await write((transaction) => rotateKey(transaction, access, actor, id, rotation))
    return sendNewKey(reply, created)
  },
}

export const revokeKeyRoute: Route = {
  methods: ['POST'],
  path: `${one}/revoke`,
  scopes: ['account:manage'],
  bodies: [],
  operation: {
    operationId: 'revoke_key',
    tag,
    summary: 'Revoke a key',
    samples: [curl(' -X POST', `${path}/$KEY_ID/revoke`)],
    description:
      'Takes effect with the next request. A key may revoke itself. Revoking it again changes nothing.',
    parameters: ['keyId'],
    responses: {
      '200': jsonResponse('The revoked key.', 'RevokedKeyResponse', {
        data: { ...exampleRecord(views.key), state: 'revoked', revoked_at: '2026-11-14T10:02:11.480Z' },
      }),
      ...respondsWith('invalid', 'notFound'),
    },
    schemas: { RevokedKeyResponse: responseSchema('Revoked key response', ref('schemas', 'Key')) },
  },
  handler: (parts) => async (request, reply) => {
    const { access, actor, id, write } = administrationOf(request, reply, parts)
    rejectBody(request, 'A revocation')
    const key = await write((transaction) => revokeKey(transaction, access, actor, id))
    contextOf(request).records = 1
    return sendUncached(reply, JSON.stringify({ data: keyJson(key) }))
  },
}

function sendNewKey(reply: FastifyReply, created: NewKey): FastifyReply {
  contextOf(reply.request).records = 1
  const body = JSON.stringify({ data: { key: created.key, ...keyJson(created satisfies Key) } })
  return sendCreated(reply.header('cache-control', 'no-store'), `${path}/${created.keyId}`, body)
}

function createParameters(body: JsonBody): KeyParameters {
  const faults = new Faults()
  addUnknownMembers(body, createShape, faults)
  const parameters = {
    name: textMember(body, 'name', limits.keyNameCharactersMax, faults),
    scopes: scopesIn(body['scopes'], faults),
    expiresAt: expiryIn(body['expires_at'], faults) ?? null,
  }
  faults.throwIfAny('body_invalid')
  return parameters
}

function rotationOf(body: JsonBody): Rotation {
  const faults = new Faults()
  addUnknownMembers(body, rotationShape, faults)
  const rotation = {
    overlapSeconds: overlapIn(body['overlap_seconds'], faults),
    expiresAt: expiryIn(body['expires_at'], faults),
  }
  faults.throwIfAny('body_invalid')
  return rotation
}

function scopesIn(value: unknown, faults: Faults): Scope[] {
  const fault = (pointer: string, code: Fault['code'], message: () => string) =>
    faults.add(() => ({ pointer, code, message: message(), expected: scopes }))
  if (value === undefined) fault('/scopes', 'member_required', () => 'The scopes are missing.')
  else if (!Array.isArray(value)) {
    fault('/scopes', 'member_invalid', () => `The scopes must be an array; they are ${kindOf(value)}.`)
  } else if (value.length === 0) fault('/scopes', 'member_invalid', () => 'A key needs at least one scope.')
  else if (value.length > scopes.length) {
    fault(
      '/scopes',
      'member_invalid',
      () => `There are ${scopes.length} scopes; the array has ${value.length}.`,
    )
  }
  if (!Array.isArray(value) || value.length > scopes.length) return []
  return value.flatMap((element: unknown, index) => {
    const known = scopes.find((scope) => scope === element)
    if (known !== undefined) return [known]
    fault(`/scopes/${index}`, 'member_invalid', () => {
      const scope = typeof element === 'string' ? `"${excerpt(element)}"` : kindOf(element)
      return `${scope} is not a scope. Scopes are ${scopes.join(', ')}.`
    })
    return []
  })
}

/** Undefined if the member is missing; null for a key that never expires. */
function expiryIn(value: unknown, faults: Faults): Date | null | undefined {
  if (value === undefined || value === null) return value
  const span = typeof value === 'string' ? parseTimeSpan(value) : undefined
  if (span !== undefined && span.start > Date.now()) return new Date(span.start)
  const wrong =
    span !== undefined
      ? 'is in the past'
      : typeof value === 'string'
        ? `is "${excerpt(value)}"`
        : `is ${kindOf(value)}`
  faults.add(() => ({
    pointer: '/expires_at',
    code: 'member_invalid',
    message: `expires_at must be an ISO 8601 date or date-time in the future, or null if the key never expires; it ${wrong}.`,
    expected: ['a date or date-time such as 2027-01-01 or 2027-01-01T12:00:00Z', 'null'],
  }))
  return undefined
}

function overlapIn(value: unknown, faults: Faults): number {
  const max = limits.keyOverlapSecondsMax
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value
  faults.add(() => ({
    pointer: '/overlap_seconds',
    code: value === undefined ? 'member_required' : 'member_invalid',
    message:
      value === undefined
        ? 'overlap_seconds is missing: the number of seconds for which the old key stays valid. 0 revokes it immediately.'
        : `overlap_seconds must be an integer from 0 to ${max}; it is ${typeof value === 'number' ? value : kindOf(value)}.`,
    expected: [`an integer from 0 to ${max}`],
  }))
  return 0
}

/** The hash does not depend on the order of members and scopes. */
function idempotencyOf(request: FastifyRequest, parameters: KeyParameters): KeyIdempotency | undefined {
  const key = idempotencyKeyOf(request)
  if (key === undefined) return undefined
  const canonical = JSON.stringify([parameters.name, parameters.scopes.toSorted(), parameters.expiresAt])
  return { key, requestHash: createHash('sha256').update(canonical).digest() }
}
