import { createHash } from 'node:crypto'
import type { BlockList } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AccountWrites } from '../../accounts/account-writes.ts'
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
import { type Scope, scopes } from '../../accounts/key-format.ts'
import { views } from '../../catalog/views.ts'
import type { Fault } from '../../errors/errors.ts'
import { excerpt, Faults } from '../../errors/faults.ts'
import { limits } from '../../limits/limits.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import { parseTimeSpan } from '../../query/timestamp.ts'
import { clientSignal } from '../client-signal.ts'
import { viewPath } from '../paths.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { contextOf } from '../plugins/request-context.ts'
import { actorOf, rejectBody } from '../request/actor.ts'
import { idempotencyKeyOf } from '../request/idempotency-key.ts'
import { addUnknownMembers, type BodyShape, jsonBody, kindOf, textMember } from '../request/json-body.ts'
import { rawQueryOf } from '../request/raw-request.ts'
import { sendCreated, sendUncached } from '../respond.ts'

type Body = Readonly<Record<string, unknown>>
type KeyRequest = FastifyRequest<{ Params: { id: string } }>

const createShape: BodyShape = {
  what: 'A key is created from name, scopes and expires_at',
  members: ['name', 'scopes', 'expires_at'],
  example: '{"name":"web shop","scopes":["product:read"]}',
}
const rotationShape: BodyShape = {
  what: 'A rotation has overlap_seconds and expires_at',
  members: ['overlap_seconds', 'expires_at'],
  example: '{"overlap_seconds":86400}',
}

export function createKeyRoute(writes: AccountWrites, trustedProxies: BlockList) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const access = accessFor(request, 'account:manage')
    parseNoParameters(rawQueryOf(request))
    const parameters = createParameters(jsonBody(request, createShape))
    const idempotency = idempotencyOf(request, parameters)
    const actor = actorOf(request, access, trustedProxies)
    const created = await writes.run(access, clientSignal(reply), (database) =>
      database.write((transaction) => createKey(transaction, access, actor, parameters, idempotency)),
    )
    return sendNewKey(reply, created)
  }
}

export function rotateKeyRoute(writes: AccountWrites, trustedProxies: BlockList) {
  return async (request: KeyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const access = accessFor(request, 'account:manage')
    parseNoParameters(rawQueryOf(request))
    const rotation = rotationOf(jsonBody(request, rotationShape))
    const actor = actorOf(request, access, trustedProxies)
    const { created } = await writes.run(access, clientSignal(reply), (database) =>
      database.write((transaction) => rotateKey(transaction, access, actor, request.params.id, rotation)),
    )
    return sendNewKey(reply, created)
  }
}

export function revokeKeyRoute(writes: AccountWrites, trustedProxies: BlockList) {
  return async (request: KeyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const access = accessFor(request, 'account:manage')
    parseNoParameters(rawQueryOf(request))
    rejectBody(request, 'A revocation')
    const actor = actorOf(request, access, trustedProxies)
    const key = await writes.run(access, clientSignal(reply), (database) =>
      database.write((transaction) => revokeKey(transaction, access, actor, request.params.id)),
    )
    contextOf(request).records = 1
    return sendUncached(reply, JSON.stringify({ data: keyJson(key) }))
  }
}

function sendNewKey(reply: FastifyReply, created: NewKey): FastifyReply {
  contextOf(reply.request).records = 1
  const body = JSON.stringify({ data: { key: created.key, ...keyJson(created satisfies Key) } })
  return sendCreated(
    reply.header('cache-control', 'no-store'),
    `${viewPath(views.key)}/${created.keyId}`,
    body,
  )
}

function createParameters(body: Body): KeyParameters {
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

function rotationOf(body: Body): Rotation {
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
