import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { overloaded } from '../../errors.ts'
import type { Limits } from '../../limits.ts'
import type { EmitEvent } from '../../observability/events.ts'
import { problemBody, problemMediaType, retryAfterSeconds, statusOf } from '../problem.ts'
import { requestIdOf } from '../request-id.ts'
import { connectHandler } from '../respond.ts'

export interface WaitingLine {
  readonly waiting: number
  /** When the first of them came, by `performance.now()`. */
  readonly waitingSince: number
}

export interface ListenerOptions {
  readonly emit: EmitEvent
  /** Where all requests wait before anything long is done for them. */
  readonly lines: readonly WaitingLine[]
  /** Where those wait that take long. */
  readonly accountReads: { readonly isFull: boolean }
  /** The longest that a request may be worked on without a byte on its connection. */
  readonly readMsMax: number
  readonly limits: Limits
}

/** Node's server with a bound on everything that a client can hold, and a door that shuts before any work is done. */
export function listener(
  handle: RequestListener,
  { emit, lines, accountReads, readMsMax, limits }: ListenerOptions,
): Server {
  const refusals = new Refusals(emit)
  const take: RequestListener = (request, response) => {
    const isCrowded = isFull(lines, limits)
      ? !isHealth(request.url)
      : accountReads.isFull && isFiltered(request)
    if (isCrowded) refusals.refuse(request, response)
    else handle(request, response)
  }
  const server = createServer(
    {
      // Looked at by ourselves: Node would answer without a problem document.
      requireHostHeader: false,
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersReceiveMsMax,
      requestTimeout: limits.requestReceiveMsMax,
      keepAliveTimeout: limits.idleConnectionMsMax,
      connectionsCheckingInterval: limits.connectionsCheckMs,
    },
    take,
  )
  server.on('checkExpectation', take)
  server.on('connect', connectHandler(emit))
  // Their size is bounded. Those beyond a number would be dropped without a word, the second Host among them.
  server.maxHeadersCount = 0
  server.maxConnections = limits.connectionsMax
  // Whoever does not read the answer either.
  server.timeout = readMsMax + limits.silentConnectionMsMax
  return server
}

/** By number and by time: how long a number takes depends on the machine, and how many come in a time on the load. */
function isFull(lines: readonly WaitingLine[], limits: Limits): boolean {
  let [waiting, since] = [0, Number.POSITIVE_INFINITY]
  for (const line of lines) {
    waiting += line.waiting
    since = Math.min(since, line.waitingSince)
  }
  // A few are no crowd, however long something holds them up.
  if (waiting < limits.requestsWaitingMin) return false
  return waiting >= limits.requestsWaitingMax || performance.now() - since > limits.requestsWaitingMsMax
}

/** Understanding a filter costs more than refusing it, and nearly every filter takes long. */
function isFiltered({ method, url = '' }: IncomingMessage): boolean {
  return method === 'QUERY' || url.includes('filter=')
}

/** Whoever asks these decides on the life of the process; overload is no reason to end it. */
function isHealth(url: string | undefined): boolean {
  return url === '/livez' || url === '/readyz'
}

/** Made once: an error takes note of where it was made, which costs more than the rest of a refusal. */
const failure = overloaded()

/** A refusal is a small part of what an answer costs: no route, no key, no statement, and one line a second in the log. */
class Refusals {
  readonly #emit: EmitEvent
  #count = 0

  constructor(emit: EmitEvent) {
    this.#emit = emit
  }

  refuse(request: IncomingMessage, response: ServerResponse): void {
    const requestId = requestIdOf(request)
    const body = problemBody(failure, requestId)
    response.writeHead(statusOf[failure.code], {
      'content-type': problemMediaType,
      'content-length': Buffer.byteLength(body),
      'retry-after': String(retryAfterSeconds[failure.code]),
      'x-content-type-options': 'nosniff',
      'x-request-id': requestId,
      // A body that comes with it is not worth reading.
      ...(request.method === 'GET' ? {} : { connection: 'close' }),
    })
    response.end(body)
    if (this.#count === 0) setTimeout(() => this.#report(), 1000).unref()
    this.#count++
  }

  #report(): void {
    this.#emit({ kind: 'requests-refused', count: this.#count })
    this.#count = 0
  }
}
