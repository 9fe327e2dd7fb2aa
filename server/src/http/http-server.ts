import { randomUUID } from 'node:crypto'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Failure, overloaded } from '../errors/errors.ts'
import { limits as constants } from '../limits/limits.ts'
import type { Limits } from '../limits/passed-limits.ts'
import type { EmitEvent } from '../observability/events.ts'
import { type ConnectionShares, RequestTurns } from '../scheduler/shares.ts'
import { requestIdOf } from './plugins/request-context.ts'
import { problemBody, problemMediaType, retryAfterSeconds, statusOf } from './problem.ts'

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
  /** The headers that let a page of another origin read the response, if that is known at once. */
  readonly corsHeadersOf: (request: IncomingMessage) => Readonly<Record<string, string>>
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
  { emit, connections, queues, accountReads, accountOf, corsHeadersOf, readMsMax, limits }: HttpServerOptions,
): Server {
  const shedder = new Shedder(emit)
  const flows = new RequestFlows()
  const turns = new RequestTurns()
  const isShed = (request: IncomingMessage, flow: RequestFlow) => {
    const isFull = isOverloaded(queues, limits)
      ? !isHealthCheck(request.url)
      : isFiltered(request) && accountReads.isFull
    return isFull && flows.hasShare(flow)
  }
  const onRequest = (request: IncomingMessage, response: CountedResponse) => {
    const flow = flows.enter(accountOf(request))
    connections.onRequest(request.socket)
    response.countIn(flows, flow, () => connections.onResponse(request.socket, response.statusCode === 503))
    response.startReceiveTimeout(limits.requestReceiveMsMax, onReceiveTimeout)
    turns.run(flow.name, () => {
      if (response.destroyed) return
      if (isShed(request, flow)) shedder.reject(request, response, corsHeadersOf(request))
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

/** The requests of one account in flight, by the name in its host. */
interface RequestFlow {
  readonly name: string
  count: number
}

/**
 * Counts the requests in flight of each account, before their keys are verified. Under overload it shows whose requests fill
 * the queues. Requests that wait on purpose, such as streams, are not counted meanwhile.
 */
export class RequestFlows {
  readonly #flows = new Map<string, RequestFlow>()
  #total = 0

  enter(name: string): RequestFlow {
    let flow = this.#flows.get(name)
    if (flow === undefined) {
      flow = { name, count: 0 }
      this.#flows.set(name, flow)
    }
    flow.count++
    this.#total++
    return flow
  }

  leave(flow: RequestFlow): void {
    flow.count--
    this.#total--
    if (flow.count === 0) this.#flows.delete(flow.name)
  }

  /** Whether the account has at least an equal share of the requests in flight: if it alone has requests, it has. */
  hasShare({ count }: RequestFlow): boolean {
    return count * this.#flows.size >= this.#total
  }
}

/**
 * A response that is counted as one of its account's requests in flight until it is sent, or until its request waits on purpose. It
 * also limits the time in which its request must be received completely. Node's `requestTimeout` would also end a batch, which may
 * be received for hours.
 */
class CountedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  #leave: (() => void) | undefined
  #receiveTimeout: NodeJS.Timeout | undefined
  /** The name in the host of its request; empty if that names no account. */
  accountName: string | undefined

  /** `onClose`: called when it has been sent, or its client has disconnected. */
  countIn(flows: RequestFlows, flow: RequestFlow, onClose: () => void): void {
    this.accountName = flow.name
    this.#leave = () => flows.leave(flow)
    this.once('close', () => {
      this.leaveFlow()
      onClose()
    })
  }

  leaveFlow(): void {
    this.#leave?.()
    this.#leave = undefined
  }

  /** Requests without a body are complete already. */
  startReceiveTimeout(ms: number, onTimeout: (request: Request) => void): void {
    const { headers } = this.req
    if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return
    this.#receiveTimeout = setTimeout(() => onTimeout(this.req), ms)
    // Also emitted if the connection breaks. Not on the socket, whose listeners would add up on a keep-alive connection.
    this.req.once('close', () => this.endReceiveTimeout())
  }

  endReceiveTimeout(): void {
    clearTimeout(this.#receiveTimeout)
  }
}

/** For a request that waits on purpose or takes long: a stream, an export or a batch. It does not fill the queues meanwhile. */
export function leaveFlow(response: ServerResponse): void {
  if (response instanceof CountedResponse) response.leaveFlow()
}

/** The account that the host of the request names. Undefined if that was not determined yet. */
export function accountNameIn(response: ServerResponse): string | undefined {
  return response instanceof CountedResponse ? response.accountName : undefined
}

/** For a route that streams the body. The timeout of silent connections still applies. */
export function endReceiveTimeout(response: ServerResponse): void {
  if (response instanceof CountedResponse) response.endReceiveTimeout()
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
const overload = overloaded()

/** Rejects requests at a fraction of the cost of serving them: no route, key or statement, and one log line per second. */
class Shedder {
  readonly #emit: EmitEvent
  #count = 0

  constructor(emit: EmitEvent) {
    this.#emit = emit
  }

  reject(request: IncomingMessage, response: ServerResponse, cors: Readonly<Record<string, string>>): void {
    const id = requestIdOf(request)
    const body = problemBody(overload, id)
    response.writeHead(statusOf[overload.code], {
      'content-type': problemMediaType,
      'content-length': Buffer.byteLength(body),
      'retry-after': String(retryAfterSeconds[overload.code]),
      'x-content-type-options': 'nosniff',
      'x-request-id': id,
      ...cors,
      // Closing the connection saves reading the body of the request.
      ...(request.method === 'GET' ? {} : { connection: 'close' }),
    })
    response.end(body)
    if (this.#count === 0) setTimeout(() => this.#report(), 1000).unref()
    this.#count++
  }

  #report(): void {
    this.#emit({ kind: 'requests-rejected', count: this.#count })
    this.#count = 0
  }
}

/** Sends a problem response for input that Node's HTTP parser rejects, before there is a request. */
export function clientErrorHandler(emit: EmitEvent) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    // A browser may open a connection in advance and send nothing.
    if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
      socket.destroy()
      return
    }
    const failure = failureOfParser(error.code)
    emit({ kind: 'request-unreadable', code: failure.code })
    endWithProblem(socket, failure)
  }
}

/** For CONNECT, Node passes the socket instead of a request. Without a listener it closes the socket without a response. */
function connectHandler(emit: EmitEvent) {
  return (_request: IncomingMessage, socket: Duplex): void => {
    const failure = new Failure('method_not_allowed', 'CONNECT is for proxies. This server is not a proxy.')
    socket.on('error', () => {})
    emit({ kind: 'request-unreadable', code: failure.code })
    endWithProblem(socket, failure, 'Allow: GET, HEAD, POST, PATCH, DELETE, QUERY\r\n')
  }
}

function endWithProblem(socket: Duplex, failure: Failure, headers = ''): void {
  const status = statusOf[failure.code]
  const id = randomUUID()
  const body = problemBody(failure, id)
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      `Content-Type: ${problemMediaType}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Content-Type-Options: nosniff\r\nX-Request-Id: ${id}\r\n${headers}Connection: close\r\n\r\n${body}`,
  )
}

function failureOfParser(code: string | undefined): Failure {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const message = `The request line and headers are longer than ${constants.headerBytesMax} bytes, the maximum. Send long filters in the body of a QUERY.`
    return new Failure('headers_too_large', message)
  }
  const message =
    code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? 'The complete request was not received in time. Check the connection, and send the request again.'
      : 'This is not a well-formed HTTP request. Percent-encode spaces and non-ASCII characters in the URL.'
  return new Failure('request_invalid', message)
}
