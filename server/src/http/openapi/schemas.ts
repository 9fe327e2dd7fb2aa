import type { Collection } from '../../catalog/collection.ts'
import type { Field, FieldType } from '../../catalog/field.ts'
import { errorTitles } from '../../errors.ts'
import { limits } from '../../limits.ts'

type Schema = Readonly<Record<string, unknown>>

const types: Record<FieldType, Schema> = {
  integer: { type: 'integer', format: 'int64', minimum: -limits.integerMax, maximum: limits.integerMax },
  decimal: { type: 'number' },
  text: { type: 'string' },
  boolean: { type: 'boolean' },
  timestamp: { type: 'string', format: 'date-time' },
}

/** One record. No field is required: a record has only the requested fields. */
export function recordSchema(resource: Collection): Schema & { readonly properties: Record<string, Schema> } {
  return {
    type: 'object',
    description: resource.description,
    properties: Object.fromEntries(resource.fields.map((field) => [field.name, fieldSchema(field)])),
    additionalProperties: false,
  }
}

const wires: Record<NonNullable<Field['wire']>, Schema> = {
  list: { type: 'array', items: { type: 'string' } },
  day: { type: 'string', format: 'date' },
}

function fieldSchema(field: Field): Schema {
  const schema = field.wire === undefined ? types[field.type] : wires[field.wire]
  return {
    ...schema,
    ...(field.nullable ? { type: [schema['type'], 'null'] } : {}),
    ...(field.charactersMax === undefined ? {} : { maxLength: field.charactersMax }),
    ...(field.name === 'id' && field.type === 'integer' ? { minimum: 1 } : {}),
    description: field.description,
    examples: [field.example],
  }
}

export function exampleRecord(resource: Collection): Schema {
  return Object.fromEntries(resource.fields.map((field) => [field.name, field.example]))
}

const pageNumber = (description: string) => ({ type: ['integer', 'null'], minimum: 1, description })

export const envelopeSchemas: Record<string, Schema> = {
  meta: {
    type: 'object',
    required: ['count', 'total'],
    properties: {
      count: { type: 'integer', minimum: 0, description: 'Records in this response.' },
      total: {
        type: 'integer',
        minimum: 0,
        description: 'The exact number of records that match the filter.',
      },
    },
  },
  pagination: {
    type: 'object',
    required: ['previousPage', 'currentPage', 'nextPage', 'totalPages'],
    properties: {
      previousPage: pageNumber('Null on the first page. Beyond the last page: the last page.'),
      currentPage: { type: 'integer', minimum: 1, description: 'The page returned.' },
      nextPage: pageNumber('Null on the last page and beyond it.'),
      totalPages: { type: 'integer', minimum: 0, description: 'The total divided by the limit, rounded up.' },
    },
  },
}

export const problemSchemas: Record<string, Schema> = {
  problem: {
    type: 'object',
    description: 'A problem document (RFC 9457).',
    required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
    properties: {
      type: { type: 'string', format: 'uri-reference' },
      title: { type: 'string', description: 'The same for every error of this code.' },
      status: { type: 'integer' },
      detail: { type: 'string', description: 'What is wrong with this request, for a person.' },
      code: { type: 'string', enum: Object.keys(errorTitles), description: 'What is wrong, for a program.' },
      request_id: {
        type: 'string',
        description: 'The same as `X-Request-Id`. Quote it in a support request.',
      },
      errors: { type: 'array', items: { $ref: '#/components/schemas/fault' } },
    },
  },
  fault: {
    type: 'object',
    description: 'One fault of the request and its position.',
    required: ['code', 'message'],
    properties: {
      parameter: { type: 'string', description: 'The query parameter or header.' },
      pointer: { type: 'string', format: 'json-pointer', description: 'The position in a JSON body.' },
      code: { type: 'string' },
      message: { type: 'string' },
      offset: {
        type: 'integer',
        minimum: 0,
        description: 'Position in the decoded parameter, in UTF-16 code units, from 0.',
      },
      length: { type: 'integer', minimum: 0 },
      expected: {
        type: 'array',
        items: { type: 'string' },
        description: 'What is expected at this position.',
      },
      suggestion: {
        type: 'string',
        description: 'The complete parameter, corrected, if a correction is known.',
      },
    },
  },
}
