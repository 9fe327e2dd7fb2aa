import type { FastifyReply, FastifyRequest } from 'fastify'
import { etagField } from '../../catalog/field.ts'
import type { Resource } from '../../catalog/resources.ts'
import type { ChangeFeed, FeedClient, WatchedPage } from '../../changes/change-feed.ts'
import { type ChangesQuery, changesQuery } from '../../changes/changes-query.ts'
import { feedBody } from '../../changes/feed-page.ts'
import { Failure } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'
import { leaveFlow } from '../http-server.ts'
import {
  fieldsParameter,
  filterParameter,
  invalidListResponse,
  jsonResponse,
  listHeaders,
  resourceTag,
  respondsWith,
  responseHeaders,
} from '../openapi/parts.ts'
import { curl, typescript } from '../openapi/samples.ts'
import { exampleRecord, ref, type Schema, schemaName } from '../openapi/schemas.ts'
import { changesPath } from '../paths.ts'
import { verifiedFor } from '../plugins/authenticate.ts'
import { clientSignal, contextOf, timed } from '../plugins/request-context.ts'
import { formMediaType } from '../request/body.ts'
import { acceptsEventStream } from '../request/headers.ts'
import { sendUncachedPage } from '../respond.ts'
import { sendEvents } from './change-events.ts'
import { rawParameters } from './list.ts'
import { type Handler, listMethods, type Route, type RouteParts } from './route.ts'

/** Changes of a resource after a cursor, as a page or, with `Accept: text/event-stream`, as a stream of pages. */
export function changesRoute(resource: Resource): Route {
  const { name, plural } = resource
  const path = changesPath(resource)
  const record = exampleRecord(resource)
  const example = {
    data: [{ change: 'created', id: record['id'], version: 12, etag: etagField.example, record }],
    meta: { count: 1, more: false },
    cursor: exampleCursor,
  }
  return {
    methods: listMethods,
    path,
    scopes: [`${name}:read`],
    resource: name,
    bodies: [formMediaType],
    operation: {
      operationId: `list_${name}_changes`,
      tag: resourceTag(resource),
      summary: `List changes of ${plural}`,
      samples: [
        curl(' -G', path, "--data 'since=now' --data 'wait=1'"),
        {
          ...curl(' --compressed -G', path, "--data 'limit=1000'"),
          label: 'curl: from the beginning',
        },
        typescript(
          `for await (const { change, id, cursor } of qm.${plural}.changes({ since: 'now', wait: 1 })) {`,
          '  console.log(change, id, cursor)',
          '}',
        ),
      ],
      description,
      parameters: [
        ref('parameters', 'since'),
        ref('parameters', 'wait'),
        fieldsParameter(resource),
        filterParameter(resource),
        ref('parameters', 'changesLimit'),
      ],
      responses: {
        '200': jsonResponse(
          'Changes after the cursor, oldest first.',
          `${schemaName(resource)}Changes`,
          example,
          { ...responseHeaders, ...listHeaders, Link: ref('headers', 'nextLink') },
        ),
        '400': invalidListResponse(resource),
        ...respondsWith('cursorExpired', 'late'),
      },
      schemas: schemasOf(resource),
      sharedParameters,
    },
    handler: (parts) => changesHandler(parts, resource),
  }
}

const exampleCursor = 'AQBRn-6y0VgAAAAAAABJ7pR7V9uZcgAAAAAAAAAMf_________8AAAAAAAAACWl0tJ4'

const description = `Each record once, in the order of the versions that wrote them last, and the records that were deleted. Intermediate states are not
sent: a record that changed twice since the cursor is sent once, as it is now. Store \`cursor\` with the changes, and send it as \`since\` in the
next request. Without \`since\`, the feed begins with every record.

\`created\` and \`updated\` have the complete \`record\` and its \`etag\`, which \`If-Match\` takes; treat both as "insert or replace". \`deleted\` and \`removed\` have none. \`removed\` is sent only with a filter: the
record has changed and does not match. It may be one that you do not have.

With \`Accept: text/event-stream\` the response is a stream of Server-Sent Events that lasts up to an hour. Each event \`changes\` has a page as its data and the
cursor as its id, so that clients resume after the last event by \`Last-Event-ID\`. A comment is sent at least every 15 seconds. An event \`problem\` has a problem document
and ends the stream.

An export has the header \`X-Changes-Cursor\`: the cursor of its snapshot.`

const sharedParameters = {
  since: {
    name: 'since',
    in: 'query',
    description:
      'The `cursor` of an earlier response, or of an export of the same filter; `now` for future changes only. Default: from the beginning.',
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
}

function schemasOf(resource: Resource): Record<string, Schema> {
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
        id: { type: 'integer', format: 'int64', minimum: 1, description: 'The record id.' },
        version: {
          type: 'integer',
          format: 'int64',
          minimum: 0,
          description: 'The version of the resource that this change created.',
        },
        erased: {
          const: true,
          description:
            'Only of a deletion: the record was erased. Remove its values from everything that you keep, such as logs and backups.',
        },
        deleted_by: {
          type: ['string', 'null'],
          description: 'Who deleted the record, if `fields` names `changed_by`.',
        },
        etag: {
          type: 'string',
          description: 'The ETag of the record, as `If-Match` takes it. Only if it was created or updated.',
        },
        record: {
          anyOf: [ref('schemas', name), ref('schemas', `Selected${name}`)],
          description: 'The record as it is now. Only if it was created or updated.',
        },
      },
    },
    [`${name}Changes`]: {
      type: 'object',
      title: `Changes of ${resource.plural}`,
      required: ['data', 'meta', 'cursor'],
      properties: {
        data: { type: 'array', items: ref('schemas', `${name}Change`) },
        meta: ref('schemas', 'ChangesMeta'),
        cursor: { type: 'string', description: 'Where the next request continues: send it as `since`.' },
      },
    },
    ChangesMeta: {
      type: 'object',
      title: 'Counts of changes',
      required: ['count', 'more'],
      properties: {
        count: { type: 'integer', minimum: 0, description: 'Changes in this response.' },
        more: {
          type: 'boolean',
          description:
            'Whether more changes are available now. With a filter, a response may be empty although more follow, because it examines a limited number of records.',
        },
      },
    },
  }
}

function changesHandler({ feed, definitions }: RouteParts, route: Resource): Handler {
  return async (request, reply) => {
    const { access, tally } = verifiedFor(request)
    const found = definitions.of(access, route, tally.schema)
    const resource = found instanceof Promise ? await found : found
    const raw = rawParameters(request)
    const client: FeedClient = { access, tally, caller: reply.raw, signal: clientSignal(reply) }
    const isStream = acceptsEventStream(request.headers.accept) && request.method !== 'HEAD'
    const stream = isStream ? { lastEventId: lastEventIdOf(request) } : undefined
    const query = changesQuery(access, resource, raw, stream)
    try {
      if (isStream) {
        leaveFlow(reply.raw)
        return await sendEvents(request, reply, feed.stream(client, query))
      }
      const first = await timed(request, () => feed.read(client, query, query.since, tally))
      const page = await afterWait(request, reply, feed, client, query, first)
      contextOf(request).records = page.count
      setLink(reply, resource, query, page.cursor)
      return await sendUncachedPage(request, reply, feedBody(page))
    } catch (error) {
      if (error instanceof Failure && error.code === 'cursor_expired') setLink(reply, resource, query)
      throw error
    }
  }
}

/** If there is no change yet, waits for one as long as the client requested. */
async function afterWait(
  request: FastifyRequest,
  reply: FastifyReply,
  feed: ChangeFeed,
  client: FeedClient,
  query: ChangesQuery,
  first: WatchedPage,
): Promise<WatchedPage> {
  if (query.waitMs === 0 || first.count > 0 || first.more) return first
  const startedAt = performance.now()
  leaveFlow(reply.raw)
  try {
    return await feed.wait(client, query, first)
  } finally {
    contextOf(request).waitedMs = performance.now() - startedAt
  }
}

function lastEventIdOf({ headers }: FastifyRequest): string | undefined {
  const header = headers['last-event-id']
  return Array.isArray(header) ? header.join(', ') : header
}

/** RFC 8288: the next page; or, without a cursor, the first one, with which a client starts again. */
function setLink(
  reply: FastifyReply,
  resource: Resource,
  { parameters }: ChangesQuery,
  cursor?: string,
): void {
  const start = `<${changesPath(resource)}?${parameters}`
  const link = cursor === undefined ? `${start}>; rel="first"` : `${start}&since=${cursor}>; rel="next"`
  if (link.length <= limits.linkBytesMax) reply.header('link', link)
}
