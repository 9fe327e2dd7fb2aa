import type { IncomingMessage } from 'node:http'

/**
 * Limits the time in which a request must be received completely. Node's `requestTimeout` would also end a batch, which may be
 * received for hours.
 */
const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>()

/** Requests without a body are complete already. */
export function startReceiveTimeout(request: IncomingMessage, ms: number, onTimeout: () => void): void {
  const { headers } = request
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return
  timers.set(request, setTimeout(onTimeout, ms))
  // Also emitted if the connection breaks. Not on the socket, whose listeners would add up on a keep-alive connection.
  request.once('close', () => endReceiveTimeout(request))
}

/** For a route that streams the body. The timeout of silent connections still applies. */
export function endReceiveTimeout(request: IncomingMessage): void {
  clearTimeout(timers.get(request))
}
