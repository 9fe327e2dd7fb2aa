import type { Collection } from '../../catalog/collection.ts'
import type { FieldType } from '../../catalog/field.ts'
import type { Resource } from '../../catalog/resources.ts'
import { Failure, type Fault } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'
import { problemBody } from '../problem.ts'
import type { BodyShape } from '../request/body.ts'
import { bodySchema, exampleRecord, ref, type Schema, schemaName } from './schemas.ts'

/** What several routes have in common in the OpenAPI document. */

export const json = (schema: Schema, example: unknown) => ({ 'application/json': { schema, example } })

/** The body of an operation, by its media type. */
export const bodyContent = ({ name, example }: BodyShape, documented: unknown = JSON.parse(example)) =>
  json(ref('schemas', name), documented)

export const bodySchemas = ({ name, title, members, required }: BodyShape) => ({
  [name]: bodySchema(title, members, required),
})

/** "Products": the heading of the operations of a resource. */
export function resourceTag({ plural }: Resource): string {
  return plural.charAt(0).toUpperCase() + plural.slice(1)
}

export type ParameterName = keyof typeof parameters

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
    description: 'The key id.',
    schema: { type: 'string' },
    example: 'Xq3ZpL0a',
  },
  fieldId: {
    name: 'field_id',
    in: 'path',
    required: true,
    description: 'The id of the field.',
    schema: { type: 'string' },
    example: 'product.x_barcode',
  },
  webhookId: {
    name: 'webhook_id',
    in: 'path',
    required: true,
    description: 'The webhook id.',
    schema: { type: 'string' },
    example: 'wh_0a1b2c3d4e5f60718293a4b5',
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'The `ETag` from an earlier response to the same request. If nothing has changed since, the response is 304 without a body.',
    schema: { type: 'string' },
    example: 'W/"5f1c20b7e6a4-7-1-VBhmU6_XW5XHOVnE"',
  },
  ifMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'The `ETag` from your last read of the record, a list of them, or `*`. If the record has changed since, the response is 412 and ' +
      'nothing is written.',
    schema: { type: 'string' },
    example: '*',
  },
  ifNoneMatchAny: {
    name: 'If-None-Match',
    in: 'header',
    description: '`*`: if the record exists, the response is 412, and nothing is written.',
    schema: { type: 'string', enum: ['*'] },
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      `Makes the request safe to retry for ${limits.idempotencyHours} hours: the same request with the same key writes ` +
      'nothing and returns the first response again, with `Idempotent-Replayed: true`.',
    schema: { type: 'string', minLength: 1, maxLength: limits.idempotencyKeyCharactersMax },
    example: '0d1cbf3e-5c0f-4a63-9d0a-5ad3b8a4a8f1',
  },
} as const

/** The headers of every response to a request with a valid key. */
export const responseHeaders = {
  'X-Request-Id': ref('headers', 'requestId'),
  'RateLimit-Policy': ref('headers', 'rateLimitPolicy'),
  RateLimit: ref('headers', 'rateLimit'),
}

/** The header of every response of a list. */
export const listHeaders = { 'Accept-Query': ref('headers', 'acceptQuery') }

/** The headers of every response that can be cached. */
export const cachedHeaders = { ...responseHeaders, ETag: ref('headers', 'etag') }

/** The same of one record, whose ETag is its own. */
export const cachedRecordHeaders = { ...responseHeaders, ETag: ref('headers', 'recordEtag') }

/** The headers of a response with a new record, key or webhook. */
export const createdHeaders = (what: string) => ({
  ...responseHeaders,
  Location: { description: `The path of the ${what}.`, required: true, schema: { type: 'string' } },
})

/** The response to a query that is invalid. */
export const badRequest = (summary: string, query: string, failure: Failure) => ({
  summary,
  'x-request': query,
  value: problemOf(failure),
})

const faulty = (fault: Fault) => new Failure('request_invalid', fault.message, [fault])

/** Examples of errors of a list, each with the query that causes it. */
function badRequests({ noun, fields }: Collection) {
  const limit_too_high = badRequest(
    'A limit above the maximum',
    'limit=5000',
    faulty({
      parameter: 'limit',
      code: 'limit_invalid',
      message: 'The limit must be an integer from 1 to 1000; it is "5000".',
      expected: ['an integer from 1 to 1000'],
    }),
  )
  // The example with "nane" suggests the field "name".
  if (!fields.some(({ name }) => name === 'name')) return { limit_too_high }
  const unknown_field = badRequest(
    'A field that does not exist',
    'filter=nane=Bolt',
    faulty(unknownField(noun)),
  )
  return { unknown_field, limit_too_high }
}

/** The fault of the filter `nane=Bolt`. */
export const unknownField = (noun: string): Fault => ({
  parameter: 'filter',
  code: 'field_unknown',
  message: `A ${noun} has no field "nane". Did you mean name?`,
  expected: ['name'],
  offset: 0,
  length: 4,
  suggestion: 'name=Bolt',
})

/** The problem document of an error, as an example. */
export function problemOf(failure: Failure): unknown {
  return JSON.parse(problemBody(failure, '5f0c1d6e-7a38-4a53-8f7c-0f7f2a1c9b11'))
}

const problem = { schema: ref('schemas', 'Problem') }
const unnumbered = { 'X-Request-Id': ref('headers', 'requestId') }
const retryAfter = { 'Retry-After': ref('headers', 'retryAfter') }
const error = (status: number, description: string, extraHeaders: object = responseHeaders) => ({
  status,
  response: { description, headers: extraHeaders, content: { 'application/problem+json': problem } },
})

const unsupported =
  'The path takes no body of this `Content-Type`, or the `Content-Encoding` is not supported. Nothing was written.'

const shared = {
  notModified: {
    status: 304,
    response: {
      description:
        'Nothing has changed since the response with the `ETag` in `If-None-Match`. There is no body.',
      headers: cachedHeaders,
    },
  },
  failed: error(
    500,
    'The service failed. Quote `request_id` to your operator. You can retry reads and idempotent creates.',
    unnumbered,
  ),
  unauthenticated: error(
    401,
    'No valid key of this account. The response is the same for every cause.',
    unnumbered,
  ),
  forbidden: error(403, 'The key lacks the scope that this request needs.'),
  notFound: error(404, 'No record has this id.'),
  invalid: error(
    400,
    'The request is invalid. `errors` says what is wrong, at which position, and what is expected.',
  ),
  keyConflict: error(
    409,
    'The key is not active, the account has reached its limit of keys or audit entries, or a key was already created with this `Idempotency-Key`. `code` says which.',
  ),
  corsConflict: error(
    409,
    'The account has reached its limit of audit entries. Origins can still be removed.',
  ),
  fieldConflict: error(
    409,
    'The account has a field with this name, several records have the same value of a field that is to be unique, or the account has reached its limit of fields or audit entries. `code` says which.',
  ),
  webhookConflict: error(
    409,
    'The receiver has not returned the challenge, or the account has reached its limit of webhooks or audit entries. `code` says which.',
  ),
  webhooksUnavailable: error(501, 'This service is not configured to send webhooks.'),
  conflict: error(
    409,
    'The first request with this `Idempotency-Key` is still running, another record has the value of a unique field, or the account has reached its limit of records. `code` says which.',
  ),
  keyNotReady: error(409, 'The values of the unique field are still being read. Try again shortly.'),
  adjustmentConflict: error(
    409,
    'The sum does not fit the field, or the field is null; or the first request with this `Idempotency-Key` is still running. `code` says which.',
  ),
  mismatch: error(422, 'This `Idempotency-Key` was used with another request.'),
  preconditionFailed: error(412, 'The record no longer has the `ETag` in `If-Match`. Nothing was written.'),
  tooLarge: error(413, 'The body is too large.'),
  postUnsupported: error(415, unsupported, {
    ...responseHeaders,
    'Accept-Post': ref('headers', 'acceptPost'),
  }),
  patchUnsupported: error(415, unsupported, {
    ...responseHeaders,
    'Accept-Patch': ref('headers', 'acceptPatch'),
  }),
  cursorExpired: error(
    410,
    'Some changes after this cursor are no longer stored. Start again, with an export or without `since`.',
    { ...responseHeaders, Link: ref('headers', 'firstLink') },
  ),
  limited: error(
    429,
    'The account or the key has exceeded its rate limit, or the account has too many long queries, writes or exports in ' +
      'flight, too many stored results for an `Idempotency-Key`, or too many clients wait for changes. `code` says which.',
    { ...responseHeaders, ...retryAfter },
  ),
  unavailable: error(
    503,
    'The service is overloaded, or the database is unavailable. Retry after `Retry-After` seconds.',
    { ...unnumbered, ...retryAfter },
  ),
  late: error(504, 'The query exceeded its timeout.'),
}

export const responses = Object.fromEntries(
  Object.entries(shared).map(([name, { response }]) => [name, response]),
)

/** Shared responses by their status. */
export function respondsWith(...names: readonly (keyof typeof shared)[]): Record<string, object> {
  return Object.fromEntries(names.map((name) => [shared[name].status, ref('responses', name)]))
}

/** A response with a JSON body of the schema. */
export const jsonResponse = (
  description: string,
  schema: string,
  example: unknown,
  headersOf: object = responseHeaders,
) => ({ description, headers: headersOf, content: json(ref('schemas', schema), example) })

/** The 200 response of a list. */
export function pageResponse(collection: Collection, order: string, headersOf: object): object {
  const example = {
    data: [exampleRecord(collection)],
    meta: { count: 1, total: 1 },
    pagination: { previousPage: null, currentPage: 1, nextPage: null, totalPages: 1 },
  }
  const withLink = { ...headersOf, ...listHeaders, Link: ref('headers', 'link') }
  return jsonResponse(`A page of records, ${order}.`, `${schemaName(collection)}Page`, example, withLink)
}

/** The 400 response of a list, with examples for the resource. */
export function invalidListResponse(collection: Collection): object {
  return invalidResponse(badRequests(collection))
}

export function invalidResponse(examples: Readonly<Record<string, object>>): object {
  return { ...shared.invalid.response, content: { 'application/problem+json': { ...problem, examples } } }
}

export function fieldsParameter(collection: Collection): object {
  const names = collection.fields.map((field) => field.name)
  const others = [...(collection.onRequest ?? []), ...(collection.computed ?? [])]
  const besides =
    others.length === 0 ? '' : ` Besides these: ${others.map(({ name }) => `\`${name}\``).join(', ')}.`
  return {
    name: 'fields',
    in: 'query',
    description: `Field names, separated by commas, in the order of the response. Default: all, ${names.join(', ')}.${besides}`,
    schema: { type: 'string' },
    example: names.slice(0, 2).join(','),
  }
}

export const searchParameter = {
  name: 'search',
  in: 'query',
  description:
    `Up to ${limits.searchWordsMax} words, separated by spaces: records of which each word occurs in a text field, in whichever, ignoring case. ` +
    'Combined with `filter` by "and".',
  schema: { type: 'string', maxLength: limits.searchCharactersMax },
  example: 'hex bolt',
}

/** Fields that the account has declared have no order. */
export function sortParameter(collection: Collection): object {
  const names = collection.fields.filter(({ customKey }) => customKey === undefined).map(({ name }) => name)
  return {
    name: 'sort',
    in: 'query',
    description:
      'The field by which the records are ordered; with `-` before it, descending. Records with equal values are in the order of their ids, in the same ' +
      'direction, and records without a value come last. Text is ordered by its UTF-8 bytes: capital letters before small ones. Default: `id`. ' +
      'Not with `after_id`, and not for exports.',
    schema: {
      type: 'string',
      enum: names.flatMap((name) => [name, `-${name}`]),
      // OpenAPI Generator would derive the same name from both.
      'x-enum-varnames': names.flatMap((name) => [name, `${name}_descending`]),
    },
    example: names[1] ?? 'id',
  }
}

/** Examples of conditions for each field type. */
const conditions: Record<FieldType, (name: string) => Record<string, string>> = {
  text: (name) => ({ [`${name}_contains`]: `${name}*o`, [`${name}_is`]: `${name}="A, B & C"` }),
  integer: (name) => ({ [`${name}_list`]: `${name}[1,2,3]` }),
  decimal: (name) => ({ [`${name}_between`]: `${name}>=10&${name}<20.5` }),
  boolean: (name) => ({ [`${name}_true`]: `${name}=true` }),
  timestamp: (name) => ({ [`${name}_since`]: `${name}>=2026-01-01` }),
}

export function filterParameter(collection: Collection): object {
  const examples = collection.fields.flatMap(({ name, type }) => Object.entries(conditions[type](name)))
  return {
    name: 'filter',
    in: 'query',
    description:
      'Conditions joined by `&` (and) and `|` (or); `&` binds tighter, parentheses group. Operators: `=` `!=` `*` (contains) ' +
      '`!*` `>` `>=` `<` `<=` `[a,b]` (one of) `![a,b]` (none of). Enclose values with reserved characters in ' +
      'double quotes; `null` is the null value. Percent-encode the complete filter.',
    schema: { type: 'string' },
    examples: Object.fromEntries(examples.map(([key, text]) => [key, { value: text }])),
  }
}
