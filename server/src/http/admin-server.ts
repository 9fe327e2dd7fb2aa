import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { limits } from '../limits/limits.ts'
import { defaultLimits } from '../limits/passed-limits.ts'

export interface Admin {
  readonly port: number
  close(): Promise<void>
}

export interface AdminParts {
  /** In the format of Prometheus. */
  readonly metrics: () => Promise<string>
  /** Rejects if requests cannot be served. */
  readonly ready: () => Promise<unknown>
  /** Rejects if a process does not respond. */
  readonly live: () => Promise<unknown>
}

/**
 * Serves /metrics, /livez and /readyz to operators. On a port of its own, because it requires no key and must not be public.
 * On Node's server without Fastify: it reads only the method and the path.
 */
export async function startAdmin(parts: AdminParts, address: { host: string; port: number }): Promise<Admin> {
  // Longer than the usual interval of scrapes, which then use one connection. Node's default is 5 s.
  const timeouts = {
    requestTimeout: defaultLimits.requestReceiveMsMax,
    keepAliveTimeout: limits.idleConnectionMsMax,
  }
  const server = createServer(timeouts, (request, response) => respond(parts, request, response))
  server.maxConnections = limits.adminConnectionsMax
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address.port, address.host, resolve)
  })
  const bound = server.address()
  const port = typeof bound === 'object' && bound !== null ? bound.port : address.port
  return { port, close: () => closeServer(server) }
}

function respond(
  { metrics, ready, live }: AdminParts,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    sendText(response, 405, 'Use GET or HEAD.')
  } else if (request.url === '/metrics') {
    metrics().then(
      (text) => sendText(response, 200, text.trimEnd()),
      (error: unknown) => sendText(response, 500, messageOf(error)),
    )
  } else if (request.url === '/livez' || request.url === '/readyz') {
    const check = request.url === '/livez' ? live : ready
    check().then(
      () => sendText(response, 200, 'ok'),
      (error: unknown) => sendText(response, 503, messageOf(error)),
    )
  } else {
    sendText(response, 404, 'Not found. The paths are /metrics, /livez and /readyz.')
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    })
    .end(`${text}\n`)
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
