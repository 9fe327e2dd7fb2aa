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
import type { Actor } from '../../accounts/audit.ts'
import { type Scope, scopes } from '../../accounts/key-format.ts'
import type { Access } from '../../accounts/key-verifier.ts'
import { views } from '../../catalog/views.ts'
import type { Fault } from '../../errors.ts'
import { excerpt, Faults } from '../../faults.ts'
import { limits } from '../../limits.ts'
import { parseNoParameters } from '../../query/list-request.ts'
import { parseTimeSpan } from '../../query/timestamp.ts'
import { clientAddressOf } from '../client-address.ts'
import { clientSignal } from '../client-signal.ts'
import { idempotencyKeyOf } from '../idempotency-key.ts'
import { addUnknownMembers, type BodyShape, badBody, jsonBody, kindOf, textMember } from '../json-body.ts'
import { accessFor } from '../plugins/authenticate.ts'
import { contextOf } from '../plugins/request-context.ts'
import { bodyOf, rawQueryOf, viewPath } from '../url.ts'
import { sendFresh } from './views.ts'

type Body = Readonly<Record<string, unknown>>
type KeyRequest = FastifyRequest<{ Params: { id: string } }>

const wishShape: BodyShape = {
  what: 'A key is made from its name, its scopes and its expiry',
  members: ['name', 'scopes', 'expires_at'],
  example: '{"name":"web shop","scopes":["product:read"]}',
}
const rotationShape: BodyShape = {
  what: 'A rotation takes the overlap and the expiry of the new key',
  members: ['overlap_seconds', 'expires_at'],
  example: '{"overlap_seconds":86400}',
}

export function createKeyRoute(writes: AccountWrites, trustedProxies: BlockList) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const access = accessFor(request, 'account:manage')
    parseNoParameters(rawQueryOf(request))
    const wish = wishOf(jsonBody(request, wishShape))
    const idempotency = idempotencyOf(request, wish)
    const actor = actorOf(request, access, trustedProxies)
    const made = await writes.run(access, clientSignal(reply), (database) =>
      database.write((transaction) => createKey(transaction, access, actor, wish, idempotency)),
    )
    return sendNewKey(reply, made)
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
    refuseAnyBody(request)
    const actor = actorOf(request, access, trustedProxies)
    const key = await writes.run(access, clientSignal(reply), (database) =>
      database.write((transaction) => revokeKey(transaction, access, actor, request.params.id)),
    )
    contextOf(request).records = 1
    return sendFresh(reply, JSON.stringify({ data: keyJson(key) }))
  }
}

function sendNewKey(reply: FastifyReply, made: NewKey): FastifyReply {
  contextOf(reply.request).records = 1
  reply.code(201).header('location', `${viewPath(views.key)}/${made.keyId}`)
  return sendFresh(reply, JSON.stringify({ data: { key: made.key, ...keyJson(made satisfies Key) } }))
}

function actorOf(request: FastifyRequest, { keyId }: Access, trustedProxies: BlockList): Actor {
  const application = request.headers['user-agent'] ?? null
  return { kind: 'key', id: keyId, application, address: clientAddressOf(request, trustedProxies) }
}

function wishOf(body: Body): KeyParameters {
  const faults = new Faults()
  addUnknownMembers(body, wishShape, faults)
  const wish = {
    name: textMember(body, 'name', limits.keyNameCharactersMax, faults),
    scopes: scopesIn(body['scopes'], faults),
    expiresAt: expiryIn(body['expires_at'], faults) ?? null,
  }
  faults.throwIfAny('body_invalid')
  return wish
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

function scopesIn(given: unknown, faults: Faults): Scope[] {
  const fault = (pointer: string, code: Fault['code'], message: () => string) =>
    faults.add(() => ({ pointer, code, message: message(), expected: scopes }))
  if (given === undefined) fault('/scopes', 'member_required', () => 'The scopes are missing.')
  else if (!Array.isArray(given)) {
    fault('/scopes', 'member_invalid', () => `The scopes must be a list; they are ${kindOf(given)}.`)
  } else if (given.length === 0) fault('/scopes', 'member_invalid', () => 'A key needs at least one scope.')
  if (!Array.isArray(given)) return []
  return given.flatMap((each: unknown, at) => {
    const found = scopes.find((scope) => scope === each)
    if (found !== undefined) return [found]
    fault(`/scopes/${at}`, 'member_invalid', () => {
      const scope = typeof each === 'string' ? `"${excerpt(each)}"` : kindOf(each)
      return `${scope} is no scope. Scopes are ${scopes.join(', ')}.`
    })
    return []
  })
}

/** Undefined where nothing is said; null is never. */
function expiryIn(given: unknown, faults: Faults): Date | null | undefined {
  if (given === undefined || given === null) return given
  const span = typeof given === 'string' ? parseTimeSpan(given) : undefined
  if (span !== undefined && span.start > Date.now()) return new Date(span.start)
  const wrong =
    span !== undefined
      ? 'lies in the past'
      : typeof given === 'string'
        ? `is "${excerpt(given)}"`
        : `is ${kindOf(given)}`
  faults.add(() => ({
    pointer: '/expires_at',
    code: 'member_invalid',
    message: `The expires_at must be an ISO 8601 date or date-time in the future, or null for never; it ${wrong}.`,
    expected: ['a date or date-time such as 2027-01-01 or 2027-01-01T12:00:00Z', 'null'],
  }))
  return undefined
}

function overlapIn(given: unknown, faults: Faults): number {
  const most = limits.keyOverlapSecondsMax
  if (typeof given === 'number' && Number.isInteger(given) && given >= 0 && given <= most) return given
  faults.add(() => ({
    pointer: '/overlap_seconds',
    code: given === undefined ? 'member_required' : 'member_invalid',
    message:
      given === undefined
        ? 'The overlap_seconds are missing: for how long the old key goes on; 0 revokes it at once.'
        : `The overlap_seconds must be an integer from 0 to ${most}; they are ${typeof given === 'number' ? given : kindOf(given)}.`,
    expected: [`an integer from 0 to ${most}`],
  }))
  return 0
}

function refuseAnyBody(request: FastifyRequest): void {
  if (bodyOf(request).length === 0) return
  throw badBody({ pointer: '', code: 'json_invalid', message: 'A revocation takes no body.' })
}

/** Of what was asked for, whatever the order of its members. */
function idempotencyOf(request: FastifyRequest, wish: KeyParameters): KeyIdempotency | undefined {
  const key = idempotencyKeyOf(request)
  if (key === undefined) return undefined
  const asked = JSON.stringify([wish.name, wish.scopes.toSorted(), wish.expiresAt])
  return { key, requestHash: createHash('sha256').update(asked).digest() }
}
