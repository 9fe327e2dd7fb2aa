import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { overloaded } from '../../errors/errors.ts'
import { limits as constants } from '../../limits/limits.ts'
import type { Limits } from '../../limits/passed-limits.ts'
import type { EmitEvent } from '../../observability/events.ts'
import type { ConnectionShares } from '../../scheduler/connection-shares.ts'
import { RequestTurns } from '../../scheduler/turns.ts'
import { clientErrorHandler, connectHandler, writeProblem } from '../respond.ts'
import { CountedResponse, type RequestFlow, RequestFlows } from './counted-response.ts'
import { requestIdOf } from './request-context.ts'

export interface RequestQueue {
  readonly waiting: number
  /** When the oldest waiting request arrived, by `performance.now()`. */
  readonly waitingSince: number
}

export interface HttpServerOptions {
  readonly emit: EmitEvent
  readonly connections: ConnectionShares
  /** The queues that every request passes first. */
  readonly queues: readonly RequestQueue[]
  /** The queue of long reads. */
  readonly accountReads: { readonly isFull: boolean }
  /** The account that the host of the request names; empty if it names none. */
  readonly accountOf: (request: IncomingMessage) => string
  /** Timeout of a read, during which a connection has no traffic. */
  readonly readMsMax: number
  readonly limits: Limits
}

/**
 * Creates Node's HTTP server with limits on all that a client can occupy. If it is overloaded, it rejects requests before Fastify:
 * those of the accounts that have at least an equal share of the requests in flight.
 */
export function createHttpServer(
  handle: RequestListener,
  { emit, connections, queues, accountReads, accountOf, readMsMax, limits }: HttpServerOptions,
): Server {
  const shedder = new Shedder(emit)
  const flows = new RequestFlows()
  const turns = new RequestTurns()
  const isShed = (request: IncomingMessage, flow: RequestFlow) => {
    const isFull = isOverloaded(queues, limits)
      ? !isHealthCheck(request.url)
      : accountReads.isFull && isFiltered(request)
    return isFull && flows.hasShare(flow)
  }
  const onRequest = (request: IncomingMessage, response: CountedResponse) => {
    const flow = flows.enter(accountOf(request))
    connections.onRequest(request.socket)
    response.countIn(flows, flow, () => connections.onResponse(request.socket))
    response.startReceiveTimeout(limits.requestReceiveMsMax, onReceiveTimeout)
    turns.run(flow.name, () => {
      if (response.destroyed) return
      if (isShed(request, flow)) shedder.reject(request, response)
      else handle(request, response)
    })
  }
  const onClientError = clientErrorHandler(emit)
  const onReceiveTimeout = ({ socket }: IncomingMessage) =>
    onClientError(Object.assign(new Error('receive timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
  const server = createServer(
    {
      ServerResponse: CountedResponse,
      // `requireHost` checks it: Node's own 400 has no problem document.
      requireHostHeader: false,
      maxHeaderSize: constants.headerBytesMax,
      headersTimeout: limits.headersReceiveMsMax,
      // `startReceiveTimeout` has this limit.
      requestTimeout: 0,
      keepAliveTimeout: constants.idleConnectionMsMax,
      connectionsCheckingInterval: limits.connectionsCheckMs,
    },
    onRequest,
  )
  server.on('connection', (socket) => {
    turns.onConnection()
    connections.onConnection(socket)
  })
  server.on('checkExpectation', onRequest)
  server.on('connect', connectHandler(emit))
  // Unlimited: Node would silently drop further headers, perhaps a second Host. `maxHeaderSize` limits their size.
  server.maxHeadersCount = 0
  server.maxConnections = limits.connectionsMax
  // Also times out clients that stop reading the response.
  server.timeout = readMsMax + limits.silentConnectionMsMax
  return server
}

/**
 * Sheds load on queue length or on the oldest wait: the same length means a longer wait on a slower machine. A request can
 * be in both queues, so their lengths are not added.
 */
function isOverloaded(queues: readonly RequestQueue[], limits: Limits): boolean {
  let [waiting, since] = [0, Number.POSITIVE_INFINITY]
  for (const queue of queues) {
    waiting = Math.max(waiting, queue.waiting)
    since = Math.min(since, queue.waitingSince)
  }
  // A short queue is not overload, even if the database stalls.
  if (waiting < limits.requestsWaitingMin) return false
  return waiting >= limits.requestsWaitingMax || performance.now() - since > limits.requestsWaitingMsMax
}

/** Parsing a filter costs more than rejecting the request, and nearly every filter is a long read. */
function isFiltered({ method, url = '' }: IncomingMessage): boolean {
  return method === 'QUERY' || url.includes('filter=')
}

/** Always served: an orchestrator restarts a process whose health check fails, and a restart does not cure overload. */
function isHealthCheck(url: string | undefined): boolean {
  return url === '/livez' || url === '/readyz'
}

/** Created once: capturing its stack would cost more than the rest of a rejection. */
const failure = overloaded()

/** Rejects requests at a fraction of the cost of serving them: no route, key or statement, and one log line per second. */
class Shedder {
  readonly #emit: EmitEvent
  #count = 0

  constructor(emit: EmitEvent) {
    this.#emit = emit
  }

  reject(request: IncomingMessage, response: ServerResponse): void {
    writeProblem(request, response, failure, requestIdOf(request))
    if (this.#count === 0) setTimeout(() => this.#report(), 1000).unref()
    this.#count++
  }

  #report(): void {
    this.#emit({ kind: 'requests-rejected', count: this.#count })
    this.#count = 0
  }
}
