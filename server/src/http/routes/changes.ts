import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource } from '../../catalog/resources.ts'
import type { ChangeFeed, FeedClient } from '../../changes/change-feed.ts'
import { type ChangesQuery, changesQuery } from '../../changes/changes-query.ts'
import { type FeedPage, feedBody } from '../../changes/feed-page.ts'
import { Failure } from '../../errors/errors.ts'
import { limits } from '../../limits/limits.ts'
import { clientSignal } from '../client-signal.ts'
import { changesPath } from '../paths.ts'
import { verifiedFor } from '../plugins/authenticate.ts'
import { leaveFlow } from '../plugins/counted-response.ts'
import { contextOf, timed } from '../plugins/request-context.ts'
import { acceptsEventStream } from '../request/accept.ts'
import { rawParameters } from '../request/raw-request.ts'
import { sendUncachedPage } from '../respond.ts'
import { sendEvents } from './change-events.ts'

/** Changes of a resource after a cursor, as a page or, with `Accept: text/event-stream`, as a stream of pages. */
export function changesRoute(feed: ChangeFeed, resource: Resource) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { access, tally } = verifiedFor(request, `${resource.name}:read`)
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
  first: FeedPage,
): Promise<FeedPage> {
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
