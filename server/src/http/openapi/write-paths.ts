import type { RecordField } from '../../catalog/field.ts'
import { type Resource, resources } from '../../catalog/resources.ts'
import { writableFields } from '../../writes/record-values.ts'
import { mergePatchMediaType } from '../request/content-type.ts'
import { createScopes } from '../routes/create.ts'
import { responseHeaders } from './parts.ts'
import { commonErrors, json, ref, resourceTag } from './paths.ts'
import { changeSamples, createSamples, deleteSamples } from './samples.ts'
import { exampleRecord, propertiesOf, schemaName, unlisted } from './schemas.ts'

/** The operations that change records. */

export const writeSchemas: Record<string, unknown> = Object.fromEntries(
  Object.values(resources).flatMap((resource) => Object.entries(schemasOf(resource))),
)

function schemasOf(resource: Resource) {
  const name = schemaName(resource)
  const { noun } = resource
  const fields = writableFields(resource)
  return {
    [`New${name}`]: {
      type: 'object',
      title: `New ${noun}`,
      required: fields.filter(({ absent }) => absent === 'required').map((field) => field.name),
      properties: bodyProperties(fields),
      additionalProperties: false,
    },
    [`${name}Patch`]: {
      type: 'object',
      title: `Changes of a ${noun}`,
      description:
        'A JSON merge patch (RFC 7396): fields that are absent stay as they are, null clears a field.',
      properties: bodyProperties(fields),
      additionalProperties: false,
    },
    [`Created${name}Response`]: {
      type: 'object',
      ...unlisted,
      title: `Created ${noun} response`,
      required: ['data'],
      properties: {
        data: {
          type: 'object',
          required: ['id'],
          properties: { id: { type: 'integer', format: 'int64', minimum: 1 } },
        },
      },
    },
    [`Changed${name}Response`]: {
      type: 'object',
      ...unlisted,
      title: `Changed ${noun} response`,
      required: ['data'],
      properties: { data: ref('schemas', name) },
    },
  }
}

/** As in a record, but a name is not empty, and a decimal may be a string, which no JSON parser rounds. */
function bodyProperties(fields: readonly RecordField[]) {
  const properties = propertiesOf(fields)
  return Object.fromEntries(
    fields.map(({ name, type, nullable }) => {
      const schema = properties[name] ?? {}
      if (name === 'name') return [name, { ...schema, minLength: 1 }]
      if (type !== 'decimal') return [name, schema]
      return [name, { ...schema, type: ['number', 'string', ...(nullable ? ['null'] : [])] }]
    }),
  )
}

const writeErrors = {
  '400': ref('responses', 'invalid'),
  ...commonErrors,
  '409': ref('responses', 'conflict'),
  '413': ref('responses', 'tooLarge'),
  '422': ref('responses', 'mismatch'),
}
const etag = { ETag: ref('headers', 'recordEtag') }

export function createOperation(resource: Resource) {
  const { noun } = resource
  const required = writableFields(resource).filter(({ absent }) => absent === 'required')
  const example = Object.fromEntries(required.map((field) => [field.name, field.example]))
  const allowing = createScopes(resource).map((scope) => `\`${scope}\``)
  return {
    operationId: `create_${resource.name}`,
    tags: [resourceTag(resource)],
    summary: `Create a ${noun}`,
    'x-codeSamples': createSamples(resource, example),
    description: `Needs the scope ${allowing.join(' or ')}.`,
    parameters: [ref('parameters', 'idempotencyKey')],
    requestBody: {
      required: true,
      content: json(ref('schemas', `New${schemaName(resource)}`), example),
    },
    responses: {
      '201': {
        description: `The ${noun} has been created.`,
        headers: {
          ...responseHeaders,
          ...etag,
          Location: {
            description: 'The path of the new record.',
            required: true,
            schema: { type: 'string' },
          },
        },
        content: json(ref('schemas', `Created${schemaName(resource)}Response`), { data: { id: 123 } }),
      },
      ...writeErrors,
    },
  }
}

export function patchOperation(resource: Resource) {
  const { noun, name } = resource
  const schema = ref('schemas', `${schemaName(resource)}Patch`)
  const example = { name: resource.fields.find((field) => field.name === 'name')?.example }
  return {
    operationId: `update_${name}`,
    tags: [resourceTag(resource)],
    summary: `Change a ${noun}`,
    'x-codeSamples': changeSamples(resource, example),
    description: `Needs the scope \`${name}:write\`. A patch that changes nothing is not a write: \`write_date\` and \`ETag\` stay.`,
    parameters: [ref('parameters', 'id'), ref('parameters', 'ifMatch'), ref('parameters', 'idempotencyKey')],
    requestBody: {
      required: true,
      content: { ...json(schema, example), [mergePatchMediaType]: { schema, example } },
    },
    responses: {
      '200': {
        description: `The complete ${noun} after the change.`,
        headers: { ...responseHeaders, ...etag },
        content: json(ref('schemas', `Changed${schemaName(resource)}Response`), {
          data: exampleRecord(resource),
        }),
      },
      ...writeErrors,
      '404': ref('responses', 'notFound'),
      '412': ref('responses', 'preconditionFailed'),
    },
  }
}

export function deleteOperation(resource: Resource) {
  const { noun, name } = resource
  return {
    operationId: `delete_${name}`,
    tags: [resourceTag(resource)],
    summary: `Delete a ${noun}`,
    'x-codeSamples': deleteSamples(resource),
    description: `Needs the scope \`${name}:write\`. Its id is never reused.`,
    parameters: [ref('parameters', 'id'), ref('parameters', 'ifMatch'), ref('parameters', 'idempotencyKey')],
    responses: {
      '204': { description: `The ${noun} has been deleted.`, headers: responseHeaders },
      ...writeErrors,
      '404': ref('responses', 'notFound'),
      '412': ref('responses', 'preconditionFailed'),
    },
  }
}
