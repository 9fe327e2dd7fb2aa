import type { Collection } from '../../catalog/collection.ts'
import type { FieldType } from '../../catalog/field.ts'
import type { Resource } from '../../catalog/resources.ts'
import { markedName } from '../../query/spreadsheet-form.ts'
import { cachedHeaders, cachedRecordHeaders, invalidListResponse, responseHeaders } from './parts.ts'
import { healthSamples, type Sample } from './samples.ts'
import { exampleRecord, schemaName } from './schemas.ts'

export const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })
export const json = (schema: unknown, example: unknown) => ({ 'application/json': { schema, example } })

/** Errors of every route that requires a key. */
export const commonErrors = {
  '401': ref('responses', 'unauthenticated'),
  '403': ref('responses', 'forbidden'),
  '429': ref('responses', 'limited'),
  '500': ref('responses', 'failed'),
  '503': ref('responses', 'unavailable'),
}

/** "Products": the heading of the operations of a resource. */
export function resourceTag({ plural }: Resource): string {
  return plural.charAt(0).toUpperCase() + plural.slice(1)
}

interface ListTexts {
  readonly tag: string
  readonly scope: string
  readonly order: string
  readonly samples: readonly Sample[]
  /** Whether it is the list of a resource, which can be cached and exported. */
  readonly isResource: boolean
}

const exportText =
  'With `Accept: application/x-ndjson`, `text/csv` or `text/csv; form=spreadsheet`, and without `page` and `limit`, the response streams every matching ' +
  'record from one snapshot.'

export function listOperation(collection: Collection, { tag, scope, order, samples, isResource }: ListTexts) {
  const example = {
    data: [exampleRecord(collection)],
    meta: { count: 1, total: 1 },
    pagination: { previousPage: null, currentPage: 1, nextPage: null, totalPages: 1 },
  }
  return {
    operationId: `list_${collection.plural}`,
    tags: [tag],
    summary: `List ${collection.plural}`,
    'x-codeSamples': samples,
    description: `Needs the scope \`${scope}\`.${isResource ? ` ${exportText}` : ''}`,
    ...(isResource ? { 'x-export': exportContent(collection) } : {}),
    parameters: [
      ...Object.entries(collection.choices ?? {}).map(choiceParameter),
      fieldsParameter(collection),
      filterParameter(collection),
      ...(isResource ? [ref('parameters', 'afterId'), ref('parameters', 'maxId')] : []),
      ref('parameters', 'page'),
      ref('parameters', 'limit'),
      ...(isResource ? [ref('parameters', 'ifNoneMatch')] : []),
    ],
    responses: {
      '200': {
        description: `A page of records, ${order}.`,
        headers: { ...(isResource ? cachedHeaders : responseHeaders), Link: ref('headers', 'link') },
        content: json(ref('schemas', `${schemaName(collection)}Page`), example),
      },
      ...(isResource ? { '304': ref('responses', 'notModified') } : {}),
      '400': invalidListResponse(collection),
      ...commonErrors,
      '504': ref('responses', 'late'),
    },
  }
}

/**
 * The media types of an export, in an extension. As further media types of the 200 response they break the list in generated
 * clients: orval returns the raw stream instead of the page, and the type of the page becomes a union with a string.
 */
function exportContent(resource: Collection) {
  const record = exampleRecord(resource)
  const end = { $end: { count: 1, version: '5f1c20b7e6a4-7' } }
  const cell = (value: unknown) =>
    typeof value === 'string' && !/^\d{4}-/.test(value) ? `"${value}"` : String(value)
  return {
    'application/x-ndjson': {
      schema: {
        type: 'string',
        description:
          'One record per line. `X-Total-Count` has the number of records, if it is known in advance. The last line is `{"$end":{"count":…,"version":…}}`; without it the export is truncated.',
      },
      example: `${JSON.stringify(record)}\n${JSON.stringify(end)}\n`,
    },
    'text/csv': {
      schema: {
        type: 'string',
        description:
          'RFC 4180 in UTF-8 with a byte order mark and a header. Texts are exact: a batch of the same file changes nothing. ' +
          'After the body, the trailer `X-Record-Count` has the number of records.',
      },
      example: `\uFEFF${Object.keys(record).join(',')}\r\n${Object.values(record).map(cell).join(',')}\r\n`,
    },
    'text/csv; form=spreadsheet': {
      schema: {
        type: 'string',
        description:
          'CSV to open in a spreadsheet: a text that a spreadsheet would run as a formula, and the empty text, begin with ' +
          "`'`, and so does the name of every text column. A batch of the file restores the texts of these columns.",
      },
      example: `\uFEFF${resource.fields.map(markedName).join(',')}\r\n${Object.values(record).map(cell).join(',')}\r\n`,
    },
  }
}

interface OneTexts {
  readonly tag: string
  readonly scope: string
  readonly id: unknown
  readonly samples: readonly Sample[]
  /** Whether the response has an `ETag`. */
  readonly isCached: boolean
}

export function oneOperation(collection: Collection, { tag, scope, id, samples, isCached }: OneTexts) {
  return {
    operationId: `get_${collection.name}`,
    tags: [tag],
    summary: `Get one ${collection.noun}`,
    'x-codeSamples': samples,
    description: `Needs the scope \`${scope}\`.`,
    parameters: [id, fieldsParameter(collection), ...(isCached ? [ref('parameters', 'ifNoneMatch')] : [])],
    responses: {
      '200': {
        description: 'The record.',
        headers: isCached ? cachedRecordHeaders : responseHeaders,
        content: json(ref('schemas', `${schemaName(collection)}Response`), {
          data: exampleRecord(collection),
        }),
      },
      ...(isCached ? { '304': ref('responses', 'notModified') } : {}),
      '400': ref('responses', 'invalid'),
      '404': ref('responses', 'notFound'),
      ...commonErrors,
    },
  }
}

function choiceParameter([name, values]: [string, readonly string[]]) {
  return {
    name,
    in: 'query',
    description: `One of ${values.join(', ')}. Default: ${values[0]}.`,
    schema: { type: 'string', enum: values, default: values[0] },
    example: values[0],
  }
}

export function fieldsParameter(resource: Collection) {
  const names = resource.fields.map((field) => field.name)
  return {
    name: 'fields',
    in: 'query',
    description: `Field names, separated by commas, in the order of the response. Default: all, ${names.join(', ')}.`,
    schema: { type: 'string' },
    example: names.slice(0, 2).join(','),
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

export function filterParameter(resource: Collection) {
  const examples = resource.fields.flatMap(({ name, type }) => Object.entries(conditions[type](name)))
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

const health = (summary: string, path: string, success: string) => ({
  'x-codeSamples': healthSamples(path),
  tags: ['Health'],
  summary,
  security: [],
  responses: {
    '200': {
      description: success,
      headers: { 'X-Request-Id': ref('headers', 'requestId') },
      content: json(
        { type: 'object', required: ['status'], properties: { status: { type: 'string', const: 'ok' } } },
        { status: 'ok' },
      ),
    },
    '503': ref('responses', 'unavailable'),
  },
})

export const healthPaths = {
  '/livez': { get: { operationId: 'livez', ...health('Check liveness', '/livez', 'The process is alive.') } },
  '/readyz': {
    get: {
      operationId: 'readyz',
      ...health('Check readiness', '/readyz', 'The process can serve requests.'),
    },
  },
}
