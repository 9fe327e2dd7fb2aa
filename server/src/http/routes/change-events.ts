import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type FeedPage, feedBody } from '../../changes/feed-page.ts'
import { Failure, internalError } from '../../errors/errors.ts'
import { contextOf, timed } from '../plugins/request-context.ts'
import { problemBody } from '../problem.ts'

/** Streams pages as Server-Sent Events. A failure before the first page is a normal error response. */
export async function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  pages: AsyncGenerator<FeedPage, void, undefined>,
): Promise<FastifyReply> {
  const first = await timed(request, () => pages.next())
  const context = contextOf(request)
  const startedAt = performance.now()
  // Before the listener that reports a request whose client has disconnected.
  reply.raw.prependOnceListener('close', () => {
    context.waitedMs = performance.now() - startedAt
  })
  const onPage = (page: FeedPage) => {
    context.records += page.count
  }
  reply
    .type('text/event-stream')
    .header('cache-control', 'no-store')
    .header('vary', 'accept, accept-encoding')
    // nginx would otherwise hold events back until its buffer is full.
    .header('x-accel-buffering', 'no')
  return reply.send(new PageEvents(first, pages, onPage, request.id))
}

/**
 * Requests the next page only when the previous one has been written to the socket: a client that reads slowly costs the memory
 * of one page. If it reads nothing, the timeout of silent connections closes its connection.
 */
class PageEvents extends Readable {
  readonly #pages: AsyncGenerator<FeedPage, void, undefined>
  readonly #onPage: (page: FeedPage) => void
  readonly #requestId: string

  constructor(
    first: IteratorResult<FeedPage, void>,
    pages: AsyncGenerator<FeedPage, void, undefined>,
    onPage: (page: FeedPage) => void,
    requestId: string,
  ) {
    super()
    this.#pages = pages
    this.#onPage = onPage
    this.#requestId = requestId
    this.#pushPage(first)
  }

  override _read(): void {
    this.#pages.next().then(
      (result) => this.#pushPage(result),
      (error: unknown) => {
        const failure = error instanceof Failure ? error : internalError(error)
        this.push(`event: problem\ndata: ${problemBody(failure, this.#requestId)}\n\n`)
        this.push(null)
      },
    )
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    // Ends the generator when its current wait ends, which the disconnection of the client aborts.
    void this.#pages.return().catch(() => {})
    callback(error)
  }

  #pushPage({ done, value: page }: IteratorResult<FeedPage, void>): void {
    if (done === true || page === undefined) {
      this.push(null)
      return
    }
    this.#onPage(page)
    this.push(eventOf(page))
  }
}

/** An event without data is not dispatched, but its id becomes the Last-Event-ID: so a heartbeat moves the cursor, too. */
function eventOf(page: FeedPage): string {
  if (page.count === 0) return `: heartbeat\nid: ${page.cursor}\n\n`
  return `id: ${page.cursor}\nevent: changes\ndata: ${feedBody(page)}\n\n`
}
