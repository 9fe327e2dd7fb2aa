import type { Resource } from '../../catalog/resources.ts'
import { limits } from '../../limits/limits.ts'
import { invalidListResponse, responseHeaders } from './parts.ts'
import { commonErrors, fieldsParameter, filterParameter, json, ref, resourceTag } from './paths.ts'
import { changesSamples } from './samples.ts'
import { exampleRecord, schemaName, unlisted } from './schemas.ts'

const exampleCursor = 'AQBRn-6y0VgAAAAAAABJ7pR7V9uZcgAAAAAAAAAMf_________8AAAAAAAAACWl0tJ4'

const description = `Each record once, in the order of the versions that wrote them last, and the records that were deleted. Intermediate states are not
sent: a record that changed twice since the cursor is sent once, as it is now. Store \`cursor\` with the changes, and send it as \`since\` in the
next request. Without \`since\`, the feed begins with every record.

\`created\` and \`updated\` have the complete \`record\`; treat both as "insert or replace". \`deleted\` and \`removed\` have none. \`removed\` is sent only with a filter: the
record has changed and does not match. It may be one that you do not have.

With \`Accept: text/event-stream\` the response is a stream of Server-Sent Events that lasts up to an hour. Each event \`changes\` has a page as its data and the
cursor as its id, so that clients resume after the last event by \`Last-Event-ID\`. A comment is sent at least every 15 seconds. An event \`problem\` has a problem document
and ends the stream.

An export has the header \`X-Changes-Cursor\`: the cursor of its snapshot.`

export function changesPaths(resource: Resource): Record<string, unknown> {
  return {
    [`/api/v1/${resource.path}/changes`]: {
      get: {
        operationId: `list_${resource.name}_changes`,
        tags: [resourceTag(resource)],
        summary: `List changes of ${resource.plural}`,
        'x-codeSamples': changesSamples(resource),
        description: `Needs the scope \`${resource.name}:read\`. ${description}`,
        parameters: [
          ref('parameters', 'since'),
          ref('parameters', 'wait'),
          fieldsParameter(resource),
          filterParameter(resource),
          ref('parameters', 'changesLimit'),
        ],
        responses: {
          '200': {
            description: 'Changes after the cursor, oldest first.',
            headers: { ...responseHeaders, Link: ref('headers', 'nextLink') },
            content: json(ref('schemas', `${schemaName(resource)}Changes`), exampleOf(resource)),
          },
          '400': invalidListResponse(resource),
          ...commonErrors,
          '410': ref('responses', 'cursorExpired'),
          '504': ref('responses', 'late'),
        },
      },
    },
  }
}

function exampleOf(resource: Resource) {
  const record = exampleRecord(resource)
  return {
    data: [{ change: 'created', id: record['id'], version: 12, record }],
    meta: { count: 1, more: false },
    cursor: exampleCursor,
  }
}

export function changesSchemas(resource: Resource): Record<string, unknown> {
  const name = schemaName(resource)
  return {
    [`${name}Change`]: {
      type: 'object',
      title: `Change of a ${resource.noun}`,
      required: ['change', 'id', 'version'],
      properties: {
        change: {
          type: 'string',
          enum: ['created', 'updated', 'deleted', 'removed'],
          description: '`removed`: the record does not match the filter, or no longer.',
        },
        id: { type: 'integer', format: 'int64', minimum: 1, description: 'The id of the record.' },
        version: {
          type: 'integer',
          format: 'int64',
          minimum: 0,
          description: 'The version of the resource that this change created.',
        },
        record: {
          anyOf: [ref('schemas', name), ref('schemas', `Selected${name}`)],
          description: 'The record as it is now. Only if it was created or updated.',
        },
      },
    },
    [`${name}Changes`]: {
      type: 'object',
      ...unlisted,
      title: `Changes of ${resource.plural}`,
      required: ['data', 'meta', 'cursor'],
      properties: {
        data: { type: 'array', items: ref('schemas', `${name}Change`) },
        meta: ref('schemas', 'ChangesMeta'),
        cursor: { type: 'string', description: 'Where the next request continues: send it as `since`.' },
      },
    },
  }
}

export const changesMetaSchema = {
  ChangesMeta: {
    type: 'object',
    title: 'Counts of changes',
    required: ['count', 'more'],
    properties: {
      count: { type: 'integer', minimum: 0, description: 'Changes in this response.' },
      more: {
        type: 'boolean',
        description:
          'Whether more changes follow now. With a filter a response may have none although more follow, because it examines a limited number of records.',
      },
    },
  },
}

export const changesParameters = {
  since: {
    name: 'since',
    in: 'query',
    description:
      'The `cursor` of an earlier response, or of an export of the same filter; `now` for the changes from now on. Default: from the beginning.',
    schema: { type: 'string' },
    example: 'now',
  },
  wait: {
    name: 'wait',
    in: 'query',
    description: 'Seconds to wait for a change if there is none yet. Default: 0.',
    schema: { type: 'integer', minimum: 0, maximum: limits.feedWaitSecondsMax, default: 0 },
    example: 1,
  },
  changesLimit: {
    name: 'limit',
    in: 'query',
    description: 'Changes per response.',
    schema: {
      type: 'integer',
      minimum: 1,
      maximum: limits.pageRecordsMax,
      default: limits.feedPageChangesDefault,
    },
    example: 5,
  },
} as const
