import { scopes } from '../../accounts/key-format.ts'
import { views } from '../../catalog/views.ts'
import { limits } from '../../limits.ts'
import { manageSamples } from './manage-samples.ts'
import { answerHeaders } from './parts.ts'
import { guarded, json, listOperation, oneOperation, ref } from './paths.ts'
import { exampleRecord, recordSchema } from './schemas.ts'

const scope = 'account:manage'
const needs = `Needs the scope \`${scope}\`.`
const list = (name: keyof typeof views) =>
  listOperation(views[name], {
    tag: 'manage',
    scope,
    order: 'newest first',
    samples: manageSamples.list(views[name].path),
    exported: false,
  })

const expiry = {
  type: ['string', 'null'],
  format: 'date-time',
  description: 'A date or date-time in the future; null: never.',
  examples: ['2099-01-01T00:00:00.000Z'],
}

const newKey = {
  description: 'The new key. It is shown this once; only its hash is kept.',
  headers: {
    ...answerHeaders,
    Location: { description: 'The path of the key.', schema: { type: 'string' } },
  },
  content: json(
    { type: 'object', required: ['data'], properties: { data: ref('schemas', 'newKey') } },
    {
      data: {
        key: 'qm_EXAMPLEexampleEXAMPLEexampleEX000000',
        ...exampleRecord(views.key),
        last_used_on: null,
      },
    },
  ),
}

const changed = {
  '400': ref('responses', 'invalid'),
  ...guarded,
  '409': ref('responses', 'keyConflict'),
  '413': ref('responses', 'tooLarge'),
}

const createOperation = {
  operationId: 'create_key',
  tags: ['manage'],
  summary: 'Make a key',
  'x-codeSamples': manageSamples.create,
  description:
    `${needs} A key that manages the account may give any scope. An \`Idempotency-Key\` makes sure that a request sent ` +
    'again makes no second key; the first is not shown again.',
  parameters: [ref('parameters', 'idempotencyKey')],
  requestBody: {
    required: true,
    content: json(
      {
        type: 'object',
        required: ['name', 'scopes'],
        properties: {
          name: { type: 'string', minLength: 1, maxLength: limits.keyNameCharactersMax },
          scopes: { type: 'array', minItems: 1, items: { type: 'string', enum: scopes } },
          expires_at: expiry,
        },
        additionalProperties: false,
      },
      { name: 'web shop', scopes: ['product:read', 'partner:create'], expires_at: '2099-01-01T00:00:00Z' },
    ),
  },
  responses: { '201': newKey, ...changed, '422': ref('responses', 'mismatch') },
}

const rotateOperation = {
  operationId: 'rotate_key',
  tags: ['manage'],
  summary: 'Make a new key in place of another',
  'x-codeSamples': manageSamples.rotate,
  description:
    `${needs} The new key has the name and the scopes of the old one, which goes on until the overlap ends. Only an ` +
    'active key is rotated, so that a request sent again makes no second key.',
  parameters: [ref('parameters', 'keyId')],
  requestBody: {
    required: true,
    content: json(
      {
        type: 'object',
        required: ['overlap_seconds'],
        properties: {
          overlap_seconds: {
            type: 'integer',
            minimum: 0,
            maximum: limits.keyOverlapSecondsMax,
            description: 'For how long the old key goes on; 0 revokes it at once.',
          },
          expires_at: {
            ...expiry,
            description: `${expiry.description} Left out: it lives as long as the old one was made to.`,
          },
        },
        additionalProperties: false,
      },
      { overlap_seconds: 86_400 },
    ),
  },
  responses: { '201': newKey, ...changed, '404': ref('responses', 'notFound') },
}

const revokeOperation = {
  operationId: 'revoke_key',
  tags: ['manage'],
  summary: 'Revoke a key',
  'x-codeSamples': manageSamples.revoke,
  description: `${needs} Holds from the next request on. A key may revoke itself. Revoking it again changes nothing.`,
  parameters: [ref('parameters', 'keyId')],
  responses: {
    '200': {
      description: 'The key, which opens nothing any more.',
      headers: answerHeaders,
      content: json(
        { type: 'object', required: ['data'], properties: { data: ref('schemas', 'key') } },
        {
          data: { ...exampleRecord(views.key), state: 'revoked', revoked_at: '2026-11-14T10:02:11.480Z' },
        },
      ),
    },
    '400': ref('responses', 'invalid'),
    ...guarded,
    '404': ref('responses', 'notFound'),
  },
}

export const managePaths = {
  '/manage/v1/keys': { get: list('key'), post: createOperation },
  '/manage/v1/keys/{key_id}': {
    get: oneOperation(views.key, 'manage', scope, ref('parameters', 'keyId'), manageSamples.one),
  },
  '/manage/v1/keys/{key_id}/rotate': { post: rotateOperation },
  '/manage/v1/keys/{key_id}/revoke': { post: revokeOperation },
  '/manage/v1/audit': { get: list('audit') },
  '/manage/v1/requests': { get: list('request') },
  '/manage/v1/usage': { get: list('usage') },
}

const { properties, ...keySchema } = recordSchema(views.key)
export const manageSchemas = {
  newKey: {
    ...keySchema,
    required: ['key', 'key_id'],
    properties: {
      key: {
        type: 'string',
        pattern: '^qm_[0-9A-Za-z]{36}$',
        description: 'The key itself, this once.',
        examples: ['qm_EXAMPLEexampleEXAMPLEexampleEX000000'],
      },
      ...properties,
    },
  },
}
