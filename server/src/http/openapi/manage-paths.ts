import { scopes } from '../../accounts/key-format.ts'
import { views } from '../../catalog/views.ts'
import { limits } from '../../limits/limits.ts'
import { manageSamples } from './manage-samples.ts'
import { responseHeaders } from './parts.ts'
import { commonErrors, json, listOperation, oneOperation, ref } from './paths.ts'
import { exampleRecord, recordSchema, unlisted } from './schemas.ts'

const scope = 'account:manage'
const needs = `Needs the scope \`${scope}\`.`
const list = (name: keyof typeof views) =>
  listOperation(views[name], {
    tag: 'Administration',
    scope,
    order: 'newest first',
    samples: manageSamples.list(views[name].path),
    isResource: false,
  })

const expiry = {
  type: ['string', 'null'],
  format: 'date-time',
  description: 'A date or date-time in the future; null: the key never expires.',
  examples: ['2099-01-01T00:00:00.000Z'],
}

const newKey = {
  description: 'The new key. It is shown only once: the service stores only its hash.',
  headers: {
    ...responseHeaders,
    Location: { description: 'The path of the key.', required: true, schema: { type: 'string' } },
  },
  content: json(ref('schemas', 'NewKeyResponse'), {
    data: {
      key: 'qm_EXAMPLEexampleEXAMPLEexampleEX000000',
      ...exampleRecord(views.key),
      last_used_on: null,
    },
  }),
}

const changeErrors = {
  '400': ref('responses', 'invalid'),
  ...commonErrors,
  '409': ref('responses', 'keyConflict'),
  '413': ref('responses', 'tooLarge'),
}

const createOperation = {
  operationId: 'create_key',
  tags: ['Administration'],
  summary: 'Create a key',
  'x-codeSamples': manageSamples.create,
  description:
    `${needs} The new key may have any scope. With an \`Idempotency-Key\`, a retry creates no second key; the first is not ` +
    'shown again.',
  parameters: [ref('parameters', 'idempotencyKey')],
  requestBody: {
    required: true,
    content: json(ref('schemas', 'NewKeyRequest'), {
      name: 'web shop',
      scopes: ['product:read', 'partner:create'],
      expires_at: '2099-01-01T00:00:00Z',
    }),
  },
  responses: { '201': newKey, ...changeErrors, '422': ref('responses', 'mismatch') },
}

const rotateOperation = {
  operationId: 'rotate_key',
  tags: ['Administration'],
  summary: 'Rotate a key',
  'x-codeSamples': manageSamples.rotate,
  description:
    `${needs} Creates a new key with the name and scopes of the old one, which stays valid until the overlap ends. Only an ` +
    'active key can be rotated, so a retry creates no second key.',
  parameters: [ref('parameters', 'keyId')],
  requestBody: {
    required: true,
    content: json(ref('schemas', 'KeyRotation'), { overlap_seconds: 86_400 }),
  },
  responses: { '201': newKey, ...changeErrors, '404': ref('responses', 'notFound') },
}

const revokeOperation = {
  operationId: 'revoke_key',
  tags: ['Administration'],
  summary: 'Revoke a key',
  'x-codeSamples': manageSamples.revoke,
  description: `${needs} Takes effect with the next request. A key may revoke itself. Revoking it again changes nothing.`,
  parameters: [ref('parameters', 'keyId')],
  responses: {
    '200': {
      description: 'The revoked key.',
      headers: responseHeaders,
      content: json(ref('schemas', 'RevokedKeyResponse'), {
        data: { ...exampleRecord(views.key), state: 'revoked', revoked_at: '2026-11-14T10:02:11.480Z' },
      }),
    },
    '400': ref('responses', 'invalid'),
    ...commonErrors,
    '404': ref('responses', 'notFound'),
  },
}

export const managePaths = {
  '/manage/v1/keys': { get: list('key'), post: createOperation },
  '/manage/v1/keys/{key_id}': {
    get: oneOperation(views.key, {
      tag: 'Administration',
      scope,
      id: ref('parameters', 'keyId'),
      samples: manageSamples.one,
      isCached: false,
    }),
  },
  '/manage/v1/keys/{key_id}/rotate': { post: rotateOperation },
  '/manage/v1/keys/{key_id}/revoke': { post: revokeOperation },
  '/manage/v1/audit': { get: list('audit') },
  '/manage/v1/requests': { get: list('request') },
  '/manage/v1/usage': { get: list('usage') },
}

const { required: _, properties, ...keySchema } = recordSchema(views.key)
const dataOf = (name: string, title: string) => ({
  type: 'object',
  ...unlisted,
  title,
  required: ['data'],
  properties: { data: ref('schemas', name) },
})

export const manageSchemas = {
  NewKey: {
    ...keySchema,
    title: 'New key',
    required: ['key', ...views.key.fields.map(({ name }) => name)],
    properties: {
      key: {
        type: 'string',
        pattern: '^qm_[0-9A-Za-z]{36}$',
        description: 'The key itself, shown only once.',
        examples: ['qm_EXAMPLEexampleEXAMPLEexampleEX000000'],
      },
      ...properties,
    },
  },
  NewKeyRequest: {
    type: 'object',
    title: 'New key request',
    required: ['name', 'scopes'],
    properties: {
      name: { type: 'string', minLength: 1, maxLength: limits.keyNameCharactersMax },
      scopes: { type: 'array', minItems: 1, items: { type: 'string', enum: scopes } },
      expires_at: expiry,
    },
    additionalProperties: false,
  },
  KeyRotation: {
    type: 'object',
    title: 'Key rotation',
    required: ['overlap_seconds'],
    properties: {
      overlap_seconds: {
        type: 'integer',
        minimum: 0,
        maximum: limits.keyOverlapSecondsMax,
        description: 'How long the old key stays valid; 0 revokes it at once.',
      },
      expires_at: {
        ...expiry,
        description: `${expiry.description} Default: the new key is valid for as long as the old one was.`,
      },
    },
    additionalProperties: false,
  },
  NewKeyResponse: dataOf('NewKey', 'New key response'),
  RevokedKeyResponse: dataOf('Key', 'Revoked key response'),
}
