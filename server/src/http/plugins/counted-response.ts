import { type IncomingMessage, ServerResponse } from 'node:http'

/** The requests of one account in flight, by the name in its host. */
export interface RequestFlow {
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
export class CountedResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  #leave: (() => void) | undefined
  #receiveTimeout: NodeJS.Timeout | undefined

  /** `onClose`: called when it has been sent, or its client has disconnected. */
  countIn(flows: RequestFlows, flow: RequestFlow, onClose: () => void): void {
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

/** For a route that streams the body. The timeout of silent connections still applies. */
export function endReceiveTimeout(response: ServerResponse): void {
  if (response instanceof CountedResponse) response.endReceiveTimeout()
}
