import type { Collection } from '../../catalog/collection.ts'
import { limits } from '../../limits/limits.ts'

export const parameters = {
  page: {
    name: 'page',
    in: 'query',
    description: 'The page number. A page beyond the last is empty and has the same total.',
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
      'Only records with a greater id. To read all records while others write, repeat the request with the id of the last ' +
      'record received. This condition does not count towards the limits of a filter.',
    schema: { type: 'integer', minimum: 0, maximum: limits.integerMax },
    example: 1,
  },
  maxId: {
    name: 'max_id',
    in: 'query',
    description: 'Only records with this id or a smaller one.',
    schema: { type: 'integer', minimum: 0, maximum: limits.integerMax },
    example: 1000,
  },
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The identifier of the record.',
    schema: { type: 'integer', format: 'int64', minimum: 1, maximum: limits.integerMax },
    example: 1,
  },
  keyId: {
    name: 'key_id',
    in: 'path',
    required: true,
    description: 'The id of the key.',
    schema: { type: 'string' },
    example: 'Xq3ZpL0a',
  },
  webhookId: {
    name: 'webhook_id',
    in: 'path',
    required: true,
    description: 'The id of the webhook.',
    schema: { type: 'string' },
    example: 'wh_0a1b2c3d4e5f60718293a4b5',
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'An `ETag` of an earlier response to the same request. If nothing has changed since, the response is 304, without a body.',
    schema: { type: 'string' },
    example: 'W/"5f1c20b7e6a4-7-1-VBhmU6_XW5XHOVnE"',
  },
  ifMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` of the record that you have read, a list of them, or `*`. If the record has changed since, the response is 412, and ' +
      'nothing is written.',
    schema: { type: 'string' },
    example: '*',
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      `Makes the request safe to retry for ${limits.idempotencyHours} hours: the same request with the same key writes ` +
      'nothing and gets the first response again, with `Idempotent-Replayed: true`.',
    schema: { type: 'string', minLength: 1, maxLength: limits.idempotencyKeyCharactersMax },
    example: '0d1cbf3e-5c0f-4a63-9d0a-5ad3b8a4a8f1',
  },
} as const

export const headers = {
  etag: {
    required: true,
    description:
      'The version of the response, weak. Send it as `If-None-Match` to get 304 if nothing has changed.',
    schema: { type: 'string' },
    example: 'W/"5f1c20b7e6a4-7-1-VBhmU6_XW5XHOVnE"',
  },
  recordEtag: {
    required: true,
    description:
      'The version of the record, strong unless the response is compressed. It changes only with the record. Send it as `If-None-Match` to get 304 if ' +
      'the record has not changed, or as `If-Match` to change the record only if no one else has.',
    schema: { type: 'string' },
    example: '"12-5f1c20b7e6a41b2c-42-VBhmU6_XW5XHOVnE"',
  },
  requestId: {
    required: true,
    description:
      'Identifies the request in the logs of the service. A valid id in the request is used; otherwise a new one is created.',
    schema: { type: 'string' },
  },
  link: {
    required: true,
    description: 'RFC 8288: `first`, `prev`, `next` and `last`, relative to the request.',
    schema: { type: 'string' },
  },
  nextLink: {
    required: true,
    description: 'RFC 8288: `next`, the request that continues this one, relative to the request.',
    schema: { type: 'string' },
  },
  firstLink: {
    required: true,
    description: 'RFC 8288: `first`, the request that starts again, relative to the request.',
    schema: { type: 'string' },
  },
  rateLimitPolicy: {
    required: true,
    description:
      'draft-ietf-httpapi-ratelimit-headers: the number of requests (`q`) that the account and the key may send in a window ' +
      'of `w` seconds. On every response to a request with a valid key.',
    schema: { type: 'string' },
    example: '"account";q=60000;w=60, "key";q=30000;w=60',
  },
  rateLimit: {
    required: true,
    description: 'The number of requests that remain (`r`), and the seconds until the window ends (`t`).',
    schema: { type: 'string' },
    example: '"account";r=59990;t=42, "key";r=29998;t=57',
  },
  retryAfter: {
    required: true,
    description: 'Seconds to wait before a retry.',
    schema: { type: 'integer', minimum: 1 },
  },
} as const

/** The headers of every response to a request with a valid key. */
export const responseHeaders = {
  'X-Request-Id': { $ref: '#/components/headers/requestId' },
  'RateLimit-Policy': { $ref: '#/components/headers/rateLimitPolicy' },
  RateLimit: { $ref: '#/components/headers/rateLimit' },
} as const

/** The headers of every response that can be cached. */
export const cachedHeaders = { ...responseHeaders, ETag: { $ref: '#/components/headers/etag' } } as const

/** The same of one record, whose ETag is its own. */
export const cachedRecordHeaders = {
  ...responseHeaders,
  ETag: { $ref: '#/components/headers/recordEtag' },
} as const

/** Examples of errors, each with the query that causes it. */
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
    summary: 'A limit above the maximum',
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

const problem = { schema: { $ref: '#/components/schemas/Problem' } }
const { 'X-Request-Id': requestId } = responseHeaders
const retryAfter = { 'Retry-After': { $ref: '#/components/headers/retryAfter' } }
const error = (description: string, extraHeaders: Record<string, unknown> = responseHeaders) => ({
  description,
  headers: extraHeaders,
  content: { 'application/problem+json': problem },
})

export const responses = {
  notModified: {
    description:
      'Nothing has changed since the response with the `ETag` in `If-None-Match`. There is no body.',
    headers: cachedHeaders,
  },
  failed: error(
    'The service failed. Quote `request_id` to the operator. A read or an idempotent create can be retried.',
    {
      'X-Request-Id': requestId,
    },
  ),
  unauthenticated: error('No valid key of this account. The response is the same for every cause.', {
    'X-Request-Id': requestId,
  }),
  forbidden: error('The key lacks the scope that this request needs.'),
  notFound: error('No record has this id.'),
  invalid: error(
    'The request is invalid. `errors` says what is wrong, at which position, and what is expected.',
  ),
  keyConflict: error(
    'The key is not active, the account has reached its limit of keys or audit entries, or a key was already created with this `Idempotency-Key`. `code` says which.',
  ),
  webhookConflict: error(
    'The receiver has not returned the challenge, or the account has reached its limit of webhooks or audit entries. `code` says which.',
  ),
  webhooksUnavailable: error('This service is not configured to send webhooks.'),
  conflict: error(
    'The first request with this `Idempotency-Key` is still running, or the account has reached its limit of records. `code` says which.',
  ),
  mismatch: error('This `Idempotency-Key` was used with another request.'),
  preconditionFailed: error(
    'The record does not have the `ETag` of `If-Match` any more. Nothing was written.',
  ),
  tooLarge: error('The body is too large.'),
  encodingUnsupported: error('The only `Content-Encoding` is `gzip`.'),
  cursorExpired: error(
    'Not all changes after this cursor are known any more. Start again, with an export or without `since`.',
    { ...responseHeaders, Link: { $ref: '#/components/headers/firstLink' } },
  ),
  limited: error(
    'The account or the key has exceeded its rate limit, or the account has too many long queries, writes or exports in ' +
      'flight, too many stored results for an `Idempotency-Key`, or too many clients wait for changes. `code` says which.',
    { ...responseHeaders, ...retryAfter },
  ),
  unavailable: error(
    'The service is overloaded, or the database is unavailable. Retry after `Retry-After` seconds.',
    {
      'X-Request-Id': requestId,
      ...retryAfter,
    },
  ),
  late: error('The query exceeded its timeout.'),
} as const

/** The 400 response of a list, with examples for the resource. */
export function invalidListResponse({ noun, fields }: Collection): unknown {
  const { limit_too_high } = badRequests
  // The example with "nane" suggests the field "name".
  const applicable = fields.some(({ name }) => name === 'name') ? badRequests : { limit_too_high }
  const examples = JSON.parse(JSON.stringify(applicable).replaceAll('{resource}', noun)) as unknown
  return { ...responses.invalid, content: { 'application/problem+json': { ...problem, examples } } }
}
