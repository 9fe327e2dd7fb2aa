import type { Collection } from '../../catalog/collection.ts'
import type { Field, FieldType } from '../../catalog/field.ts'
import { type Resource, resources } from '../../catalog/resources.ts'
import { answerHeaders, invalidListResponse } from './parts.ts'
import { createSamples, healthSamples, listSamples, oneSamples, type Sample } from './samples.ts'
import { exampleRecord } from './schemas.ts'

export const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })
export const json = (schema: unknown, example: unknown) => ({ 'application/json': { schema, example } })

export const guarded = {
  '401': ref('responses', 'unauthenticated'),
  '403': ref('responses', 'forbidden'),
  '429': ref('responses', 'limited'),
  '503': ref('responses', 'unavailable'),
}

export function resourcePaths(resource: Resource): Record<string, unknown> {
  const path = `/api/v1/${resource.path}`
  return {
    [path]: {
      get: listOperation(resource, {
        tag: resource.name,
        scope: `${resource.name}:read`,
        order: 'in the order of their ids',
        samples: listSamples(resource),
        exported: true,
      }),
      ...(resource.name === 'partner' ? { post: createOperation() } : {}),
    },
    [`${path}/{id}`]: {
      get: oneOperation(
        resource,
        resource.name,
        `${resource.name}:read`,
        ref('parameters', 'id'),
        oneSamples(resource),
      ),
    },
  }
}

interface ListWords {
  readonly tag: string
  readonly scope: string
  readonly order: string
  readonly samples: readonly Sample[]
  /** Whether all of it can be had at once, too. */
  readonly exported: boolean
}

const wholeToo =
  'With `Accept: application/x-ndjson` or `text/csv`, and without `page` and `limit`, all records that match come in ' +
  'one answer, of one state of the data.'

export function listOperation(resource: Collection, { tag, scope, order, samples, exported }: ListWords) {
  const schema = {
    type: 'object',
    required: ['data', 'meta', 'pagination'],
    properties: {
      data: { type: 'array', items: ref('schemas', resource.name) },
      meta: ref('schemas', 'meta'),
      pagination: ref('schemas', 'pagination'),
    },
  }
  const example = {
    data: [exampleRecord(resource)],
    meta: { count: 1, total: 1 },
    pagination: { previousPage: null, currentPage: 1, nextPage: null, totalPages: 1 },
  }
  return {
    operationId: `list_${resource.plural}`,
    tags: [tag],
    summary: `List ${resource.plural}`,
    'x-codeSamples': samples,
    description: `Needs the scope \`${scope}\`.${exported ? ` ${wholeToo}` : ''}`,
    parameters: [
      ...Object.entries(resource.choices ?? {}).map(choiceParameter),
      fieldsParameter(resource),
      filterParameter(resource),
      ...(exported ? [ref('parameters', 'afterId'), ref('parameters', 'maxId')] : []),
      ref('parameters', 'page'),
      ref('parameters', 'limit'),
    ],
    responses: {
      '200': {
        description: `A page of records, ${order}.`,
        headers: {
          ...answerHeaders,
          Link: ref('headers', 'link'),
          ...(exported ? { 'X-Total-Count': ref('headers', 'totalCount') } : {}),
        },
        content: { ...json(schema, example), ...(exported ? exports(resource) : {}) },
      },
      '400': invalidListResponse(resource),
      ...guarded,
      '504': ref('responses', 'late'),
    },
  }
}

/** All records, with an end that can be told from a cut. */
function exports(resource: Collection) {
  const record = exampleRecord(resource)
  const end = { $end: { count: 1, version: '5f1c20b7e6a4-7' } }
  const cell = (value: unknown) =>
    typeof value === 'string' && !/^\d{4}-/.test(value) ? `"${value}"` : String(value)
  return {
    'application/x-ndjson': {
      schema: {
        type: 'string',
        description:
          'One record a line. The last line is `{"$end":{"count":…,"version":…}}`; without it the export was cut.',
      },
      example: `${JSON.stringify(record)}\n${JSON.stringify(end)}\n`,
    },
    'text/csv': {
      schema: {
        type: 'string',
        description:
          'RFC 4180 in UTF-8 with a byte order mark and a header. A text that a spreadsheet would take for a formula has a ' +
          "`'` in front. After the body the trailer `X-Record-Count` has the number of records.",
      },
      example: `\uFEFF${Object.keys(record).join(',')}\r\n${Object.values(record).map(cell).join(',')}\r\n`,
    },
  }
}

export function oneOperation(
  resource: Collection,
  tag: string,
  scope: string,
  id: unknown,
  samples: readonly Sample[],
) {
  return {
    operationId: `get_${resource.name}`,
    tags: [tag],
    summary: `Get one ${resource.noun}`,
    'x-codeSamples': samples,
    description: `Needs the scope \`${scope}\`.`,
    parameters: [id, fieldsParameter(resource)],
    responses: {
      '200': {
        description: 'The record.',
        headers: answerHeaders,
        content: json(
          { type: 'object', required: ['data'], properties: { data: ref('schemas', resource.name) } },
          { data: exampleRecord(resource) },
        ),
      },
      '400': ref('responses', 'invalid'),
      '404': ref('responses', 'notFound'),
      ...guarded,
    },
  }
}

function createOperation() {
  const id = { type: 'integer', minimum: 1 }
  const name = resources.partner.fields.find((field) => field.name === 'name')
  return {
    operationId: 'create_partner',
    tags: ['partner'],
    summary: 'Create a partner',
    'x-codeSamples': createSamples(resources.partner),
    description: 'Needs the scope `partner:create`.',
    parameters: [ref('parameters', 'idempotencyKey')],
    requestBody: {
      required: true,
      content: json(
        {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string', minLength: 1, maxLength: name?.charactersMax } },
          additionalProperties: false,
        },
        { name: name?.example },
      ),
    },
    responses: {
      '201': {
        description: 'The partner has been created.',
        headers: {
          ...answerHeaders,
          Location: { description: 'The path of the new record.', schema: { type: 'string' } },
        },
        content: json(
          {
            type: 'object',
            required: ['data'],
            properties: { data: { type: 'object', required: ['id'], properties: { id } } },
          },
          { data: { id: 123 } },
        ),
      },
      '400': ref('responses', 'invalid'),
      ...guarded,
      '409': ref('responses', 'conflict'),
      '413': ref('responses', 'tooLarge'),
      '422': ref('responses', 'mismatch'),
    },
  }
}

function choiceParameter([name, values]: [string, readonly string[]]) {
  return {
    name,
    in: 'query',
    description: `One of ${values.join(', ')}; ${values[0]} when left out.`,
    schema: { type: 'string', enum: values, default: values[0] },
    example: values[0],
  }
}

function fieldsParameter(resource: Collection) {
  const names = resource.fields.map((field) => field.name)
  return {
    name: 'fields',
    in: 'query',
    description: `Names of fields, separated by commas, in the order wanted; all when left out: ${names.join(', ')}.`,
    schema: { type: 'string' },
    example: names.slice(0, 2).join(','),
  }
}

function conditionsOf({ name, type }: Field): Record<string, string> {
  return conditions[type](name)
}

/** Conditions that show each type of field at work. */
const conditions: Record<FieldType, (name: string) => Record<string, string>> = {
  text: (name) => ({ [`${name}_contains`]: `${name}*o`, [`${name}_is`]: `${name}="A, B & C"` }),
  integer: (name) => ({ [`${name}_list`]: `${name}[1,2,3]` }),
  decimal: (name) => ({ [`${name}_between`]: `${name}>=10&${name}<20.5` }),
  boolean: (name) => ({ [`${name}_true`]: `${name}=true` }),
  timestamp: (name) => ({ [`${name}_since`]: `${name}>=2026-01-01` }),
}

function filterParameter(resource: Collection) {
  const examples = resource.fields.flatMap((field) => Object.entries(conditionsOf(field)))
  return {
    name: 'filter',
    in: 'query',
    description:
      'Conditions joined by `&` (and) and `|` (or), `&` first; parentheses group. Operators: `=` `!=` `*` (contains) ' +
      '`!*` `>` `>=` `<` `<=` `[a,b]` (one of) `![a,b]` (none of). Values with reserved characters go in double ' +
      'quotes; `null` is the null value. Percent-encode the whole.',
    schema: { type: 'string' },
    examples: Object.fromEntries(examples.map(([key, text]) => [key, { value: text }])),
  }
}

const health = (summary: string, path: string) => ({
  'x-codeSamples': healthSamples(path),
  tags: ['health'],
  summary,
  security: [],
  responses: {
    '200': {
      description: 'Yes.',
      content: json(
        { type: 'object', required: ['status'], properties: { status: { type: 'string', const: 'ok' } } },
        { status: 'ok' },
      ),
    },
    '503': ref('responses', 'unavailable'),
  },
})

export const healthPaths = {
  '/livez': { get: { operationId: 'livez', ...health('Does this process run?', '/livez') } },
  '/readyz': { get: { operationId: 'readyz', ...health('Can this process answer requests?', '/readyz') } },
}
