import type { Collection } from '../../catalog/collection.ts'
import { limits } from '../../limits.ts'

export const parameters = {
  page: {
    name: 'page',
    in: 'query',
    description: 'The page number. A page beyond the last is empty, with the true total.',
    schema: { type: 'integer', minimum: 1, maximum: limits.pageNumberMax, default: 1 },
    example: 1,
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: 'Records per page.',
    schema: {
      type: 'integer',
      minimum: 1,
      maximum: limits.pageRecordsMax,
      default: limits.pageRecordsDefault,
    },
    example: 5,
  },
  afterId: {
    name: 'after_id',
    in: 'query',
    description:
      'Only records whose id is greater. To read all records while others write, repeat the request with the last id ' +
      'that you have. The filter stays as it is, and its bounds do not count this condition.',
    schema: { type: 'integer', minimum: 0, maximum: limits.integerMax },
    example: 1,
  },
  maxId: {
    name: 'max_id',
    in: 'query',
    description: 'Only records whose id is at most this.',
    schema: { type: 'integer', minimum: 0, maximum: limits.integerMax },
    example: 1000,
  },
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The identifier of the record.',
    schema: { type: 'string' },
    example: '1',
  },
  keyId: {
    name: 'key_id',
    in: 'path',
    required: true,
    description: 'The id of the key.',
    schema: { type: 'string' },
    example: 'Xq3ZpL0a',
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      `Makes the request safe to send again for ${limits.idempotencyHours} hours: the same key and body is answered ` +
      'as the first time, with `Idempotent-Replayed: true`, and creates nothing.',
    schema: { type: 'string', minLength: 1, maxLength: limits.idempotencyKeyCharactersMax },
    example: '0d1cbf3e-5c0f-4a63-9d0a-5ad3b8a4a8f1',
  },
} as const

export const headers = {
  requestId: {
    description: 'Names this request in our logs. The one you send is taken over where it is fit for that.',
    schema: { type: 'string' },
  },
  link: {
    description: 'RFC 8288: `first`, `prev`, `next` and `last`, relative to the request. Not on an export.',
    schema: { type: 'string' },
  },
  rateLimitPolicy: {
    description:
      'draft-ietf-httpapi-ratelimit-headers: how many requests (`q`) the account and the key may send in so many ' +
      'seconds (`w`). On every answer to a request with a valid key.',
    schema: { type: 'string' },
    example: '"account";q=60000;w=60, "key";q=30000;w=60',
  },
  rateLimit: {
    description:
      'How many requests are left (`r`), and in how many seconds there are all of them again (`t`).',
    schema: { type: 'string' },
    example: '"account";r=59990;t=42, "key";r=29998;t=57',
  },
  totalCount: {
    description:
      'On an export: how many records will come, where that is known beforehand; always without a filter.',
    schema: { type: 'integer', minimum: 0 },
  },
  retryAfter: {
    description: 'Seconds after which another try makes sense.',
    schema: { type: 'integer', minimum: 1 },
  },
} as const

/** What every answer to a request with a valid key has. */
export const answerHeaders = {
  'X-Request-Id': { $ref: '#/components/headers/requestId' },
  'RateLimit-Policy': { $ref: '#/components/headers/rateLimitPolicy' },
  RateLimit: { $ref: '#/components/headers/rateLimit' },
} as const

/** Examples of errors, each with the query that brings it about. */
const badRequests = {
  unknown_field: {
    summary: 'A field that does not exist',
    'x-request': 'filter=nane=Bolt',
    value: {
      type: '/reference/errors/request_invalid',
      title: 'The request has invalid parameters.',
      status: 400,
      detail: 'A {resource} has no field "nane". Did you mean name?',
      code: 'request_invalid',
      request_id: '5f0c1d6e-7a38-4a53-8f7c-0f7f2a1c9b11',
      errors: [
        {
          parameter: 'filter',
          code: 'field_unknown',
          message: 'A {resource} has no field "nane". Did you mean name?',
          expected: ['name'],
          offset: 0,
          length: 4,
          suggestion: 'name=Bolt',
        },
      ],
    },
  },
  limit_too_high: {
    summary: 'More records than a page holds',
    'x-request': 'limit=5000',
    value: {
      type: '/reference/errors/request_invalid',
      title: 'The request has invalid parameters.',
      status: 400,
      detail: 'The limit must be an integer from 1 to 1000; it is "5000".',
      code: 'request_invalid',
      request_id: '5f0c1d6e-7a38-4a53-8f7c-0f7f2a1c9b11',
      errors: [
        {
          parameter: 'limit',
          code: 'limit_invalid',
          message: 'The limit must be an integer from 1 to 1000; it is "5000".',
          expected: ['an integer from 1 to 1000'],
        },
      ],
    },
  },
}

const problem = { schema: { $ref: '#/components/schemas/problem' } }
const { 'X-Request-Id': requestId } = answerHeaders
const retryAfter = { 'Retry-After': { $ref: '#/components/headers/retryAfter' } }
const error = (description: string, carried: Record<string, unknown> = answerHeaders) => ({
  description,
  headers: carried,
  content: { 'application/problem+json': problem },
})

export const responses = {
  unauthenticated: error('No valid key of this account. One and the same answer for every reason.', {
    'X-Request-Id': requestId,
  }),
  forbidden: error('The key lacks the scope that this request needs.'),
  notFound: error('No record has this id.'),
  invalid: error(
    'Something in the request is not understood; `errors` says what, where, and how to write it.',
  ),
  keyConflict: error(
    'The key is not active, the account has as many keys as it may have, or this `Idempotency-Key` made a key before.',
  ),
  conflict: error('The first request with this `Idempotency-Key` is still running.'),
  mismatch: error('This `Idempotency-Key` was used with another body.'),
  tooLarge: error('The body is too large.'),
  limited: error(
    'The account or the key has sent all requests that it may send in a minute, or the account has too many long ' +
      'queries or exports at once; `code` says which.',
    { ...answerHeaders, ...retryAfter },
  ),
  unavailable: error('Too much work, or the database is away. Try again after `Retry-After` seconds.', {
    'X-Request-Id': requestId,
    ...retryAfter,
  }),
  late: error('The query took longer than it may.'),
} as const

/** 400 of a list, with examples in the words of the resource. */
export function invalidListResponse({ noun, fields }: Collection): unknown {
  const { limit_too_high } = badRequests
  // Only where there is a field that the wrong one is near to.
  const fitting = fields.some(({ name }) => name === 'name') ? badRequests : { limit_too_high }
  const examples = JSON.parse(JSON.stringify(fitting).replaceAll('{resource}', noun)) as unknown
  return { ...responses.invalid, content: { 'application/problem+json': { ...problem, examples } } }
}
