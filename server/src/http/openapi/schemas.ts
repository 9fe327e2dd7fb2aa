import type { Collection } from '../../catalog/collection.ts'
import type { Field, FieldType } from '../../catalog/field.ts'
import { errorTitles } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'

export type Schema = Readonly<Record<string, unknown>>

const types: Record<FieldType, Schema> = {
  integer: { type: 'integer', format: 'int64', minimum: -limits.integerMax, maximum: limits.integerMax },
  decimal: { type: 'number' },
  text: { type: 'string' },
  boolean: { type: 'boolean' },
  timestamp: { type: 'string', format: 'date-time' },
}

/** The name of a collection's schema. Generators create types with these names. */
export function schemaName({ name }: Collection): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** A complete record: without `fields` in the request, it has every field. */
export function recordSchema(collection: Collection): RecordSchema {
  const { noun, description, fields } = collection
  return {
    type: 'object',
    title: titleOf(noun),
    description,
    required: fields.map(({ name }) => name),
    properties: propertiesOf(fields),
    additionalProperties: false,
  }
}

/** A record with only the requested `fields`, so that none of them is required. */
function selectedSchema({ noun, plural, fields, onRequest = [], computed = [] }: Collection): RecordSchema {
  return {
    type: 'object',
    title: `${titleOf(noun)} with the requested fields`,
    description: `One of the ${plural}, if the request has \`fields\`: a record has only these.`,
    properties: propertiesOf([...fields, ...onRequest, ...computed]),
    additionalProperties: false,
  }
}

type RecordSchema = Schema & { readonly properties: Record<string, Schema> }

/**
 * The record of a response. A response with `fields` has only these, and OpenAPI has one schema per status, so this is a
 * union. A schema with all fields required would be wrong for requests with `fields`, and one with none required would give
 * generated clients no type for a complete record.
 */
const anyRecord = (collection: Collection): Schema => ({
  anyOf: [ref('schemas', schemaName(collection)), ref('schemas', `Selected${schemaName(collection)}`)],
})

/** The schemas of a collection: its complete and selected record, a page of a list, and the response with one record. */
export function collectionSchemas(collection: Collection): Record<string, Schema> {
  const name = schemaName(collection)
  return {
    [name]: recordSchema(collection),
    [`Selected${name}`]: selectedSchema(collection),
    [`${name}Page`]: {
      type: 'object',
      title: `Page of ${collection.plural}`,
      required: ['data', 'meta', 'pagination'],
      properties: {
        data: { type: 'array', items: anyRecord(collection) },
        meta: ref('schemas', 'Meta'),
        pagination: ref('schemas', 'Pagination'),
      },
    },
  }
}

/** The response with one record. */
export function singleSchemas(collection: Collection): Record<string, Schema> {
  const title = `${titleOf(collection.noun)} response`
  return { [`${schemaName(collection)}Response`]: responseSchema(title, anyRecord(collection)) }
}

/** The body of a response with one object. */
export function responseSchema(title: string, data: Schema): Schema {
  return { type: 'object', title, required: ['data'], properties: { data } }
}

/** The body of a request, with the members that it may have. */
export function bodySchema(title: string, properties: Schema, required: readonly string[] = []): Schema {
  return {
    type: 'object',
    title,
    ...(required.length === 0 ? {} : { required }),
    properties,
    additionalProperties: false,
  }
}

export function ref(kind: string, name: string): Schema {
  return { $ref: `#/components/${kind}/${name}` }
}

function titleOf(noun: string): string {
  return noun.charAt(0).toUpperCase() + noun.slice(1)
}

export function propertiesOf(fields: readonly Field[]): Record<string, Schema> {
  return Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)]))
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
  Meta: {
    type: 'object',
    title: 'Counts of a list',
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
  Pagination: {
    type: 'object',
    title: 'Page numbers',
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
  Problem: {
    type: 'object',
    title: 'Problem',
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
      errors: { type: 'array', items: ref('schemas', 'Fault') },
    },
  },
  Fault: {
    type: 'object',
    title: 'Fault',
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
