import {
  createKey,
  type Key,
  keyJson,
  listKeys,
  type NewKey,
  revokeKey,
  rotateKey,
} from '../../accounts/api-keys.ts'
import { accountNamed } from '../../accounts/directory.ts'
import { expiryIn, scopesIn } from '../../accounts/lifecycle/description.ts'
import { Faults } from '../../errors/faults.ts'
import { limits } from '../../limits/limits.ts'
import { inTransaction, type Transaction } from '../../postgres/transaction.ts'
import type { AccountScope } from '../../scope.ts'
import { addUnknownMembers, type BodyShape, jsonBody, rejectBody, textMember } from '../request/body.ts'
import { sendUncached } from '../respond.ts'
import { keySchema } from './account-routes.ts'
import { base, type OperatorCallParts, type OperatorParts, type OperatorRoute } from './operator-route.ts'
import { integerIn } from './query.ts'

/** Routes that list, create, rotate and revoke keys of an account. */

const keys = `${base}/accounts/{name}/keys`

const keyShape: BodyShape = {
  name: 'OperatorKeyRequest',
  title: 'New key',
  members: keySchema.properties,
  required: keySchema.required,
  what: 'A key is created from name, scopes and expires_at',
  example: '{"name":"web shop","scopes":["product:read"]}',
}

const rotationShape: BodyShape = {
  name: 'OperatorKeyRotation',
  title: 'Key rotation',
  members: {
    overlap_seconds: {
      type: 'integer',
      minimum: 0,
      maximum: limits.keyOverlapSecondsMax,
      description: 'How long the old key stays valid; 0 revokes it immediately.',
    },
  },
  required: ['overlap_seconds'],
  what: 'A rotation has overlap_seconds',
  example: '{"overlap_seconds":86400}',
}

const exampleKey = {
  key_id: 'Xq3ZpL0a',
  name: 'web shop',
  scopes: ['product:read'],
  state: 'active',
  created_at: '2026-11-14T09:30:00.000Z',
  expires_at: null,
  revoked_at: null,
  rotated_to: null,
  last_used_on: null,
}
const newKey = { data: { key: 'qm_EXAMPLEexampleEXAMPLEexampleEX000000', ...exampleKey } }

const listKeysRoute: OperatorRoute = {
  method: 'GET',
  path: keys,
  scope: 'read',
  operationId: 'list_account_keys',
  summary: "List an account's keys, newest first",
  query: {
    limit: {
      description: 'The maximum number of keys.',
      schema: {
        type: 'integer',
        minimum: 1,
        maximum: limits.commandRowsMax,
        default: limits.commandRowsDefault,
      },
    },
  },
  success: { status: 200, description: 'The keys.', example: { data: [exampleKey], more: false } },
  errors: [404],
  handler:
    ({ connections }) =>
    async ({ reply, name, query }) => {
      const limit = integerIn(query, 'limit', {
        min: 1,
        max: limits.commandRowsMax,
        standard: limits.commandRowsDefault,
      })
      const found = await connections.run(async (connection) =>
        listKeys(connection, await accountNamed(connection, name), limit + 1),
      )
      const data = found.slice(0, limit).map(keyJson)
      return sendUncached(reply, JSON.stringify({ data, more: found.length > limit }))
    },
}

const createKeyRoute: OperatorRoute = {
  method: 'POST',
  path: keys,
  scope: 'provision',
  operationId: 'create_account_key',
  summary: 'Create a key',
  description:
    'The key is shown only in this response. A retry creates a second key; to avoid that, describe the key with `PUT`.',
  body: keyShape,
  success: { status: 201, description: 'The new key.', example: newKey },
  errors: [404, 409],
  handler: (parts) => async (call) => {
    const body = jsonBody(call.request, keyShape)
    const faults = new Faults()
    addUnknownMembers(body, keyShape, faults)
    const parameters = {
      name: textMember(body, 'name', limits.keyNameCharactersMax, faults),
      scopes: scopesIn(body['scopes'], faults, '/scopes'),
      expiresAt: expiryIn(body['expires_at'], faults, '/expires_at'),
    }
    faults.throwIfAny('body_invalid')
    const created = await changeKeys(parts, call, (transaction, scope) =>
      createKey(transaction, scope, call.actor, parameters),
    )
    return sendNewKey(call, created)
  },
}

const rotateKeyRoute: OperatorRoute = {
  method: 'POST',
  path: `${keys}/{key_id}/rotate`,
  scope: 'provision',
  operationId: 'rotate_account_key',
  summary: 'Replace a key with a new one of the same name and scopes',
  body: rotationShape,
  success: { status: 201, description: 'The new key.', example: newKey },
  errors: [404, 409],
  handler: (parts) => async (call) => {
    const body = jsonBody(call.request, rotationShape)
    const faults = new Faults()
    addUnknownMembers(body, rotationShape, faults)
    const overlap = body['overlap_seconds']
    const overlapSeconds =
      typeof overlap === 'number' &&
      Number.isInteger(overlap) &&
      overlap >= 0 &&
      overlap <= limits.keyOverlapSecondsMax
        ? overlap
        : undefined
    if (overlapSeconds === undefined) {
      const expected = [`an integer from 0 to ${limits.keyOverlapSecondsMax}`]
      const message = `overlap_seconds must be ${expected[0]}.`
      faults.add(() => ({ pointer: '/overlap_seconds', code: 'member_invalid', message, expected }))
    }
    faults.throwIfAny('body_invalid')
    const { created } = await changeKeys(parts, call, (transaction, scope) =>
      rotateKey(transaction, scope, call.actor, call.keyId, {
        overlapSeconds: overlapSeconds ?? 0,
        expiresAt: undefined,
      }),
    )
    return sendNewKey(call, created)
  },
}

const revokeKeyRoute: OperatorRoute = {
  method: 'POST',
  path: `${keys}/{key_id}/revoke`,
  scope: 'provision',
  operationId: 'revoke_account_key',
  summary: 'Revoke a key',
  description: 'It is rejected from the next request on. Revoking it again changes nothing.',
  success: {
    status: 200,
    description: 'The revoked key.',
    example: { data: { ...exampleKey, state: 'revoked' } },
  },
  errors: [404],
  handler: (parts) => async (call) => {
    rejectBody(call.request, 'A revocation')
    const key = await changeKeys(parts, call, (transaction, scope) =>
      revokeKey(transaction, scope, call.actor, call.keyId),
    )
    return sendUncached(call.reply, JSON.stringify({ data: keyJson(key) }))
  },
}

async function changeKeys<T>(
  { connections }: OperatorParts,
  { name }: OperatorCallParts,
  work: (transaction: Transaction, scope: AccountScope) => Promise<T>,
): Promise<T> {
  return await connections.run(async (connection) => {
    const scope = await accountNamed(connection, name)
    return await inTransaction(connection, (transaction) => work(transaction, scope))
  })
}

function sendNewKey({ reply, name }: OperatorCallParts, created: NewKey): unknown {
  const body = JSON.stringify({ data: { key: created.key, ...keyJson(created satisfies Key) } })
  const path = `${base}/accounts/${name}/keys/${created.keyId}`
  return sendUncached(reply.code(201).header('location', path), body)
}

export const keyRoutes: readonly OperatorRoute[] = [
  listKeysRoute,
  createKeyRoute,
  rotateKeyRoute,
  revokeKeyRoute,
]
