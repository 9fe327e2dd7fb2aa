import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { limits } from '../limits.ts'
import type { Metrics } from '../observability/metrics.ts'

export interface Admin {
  readonly port: number
  close(): Promise<void>
}

export interface AdminParts {
  readonly metrics: Metrics
  /** Throws where the process cannot answer requests. */
  readonly ready: () => Promise<unknown>
}

/**
 * What operators look at, on a port of its own: nothing here asks for a key, so it is not for the public. Node's own
 * server does: three paths need no framework, and nothing of a request but its path is read.
 */
export async function startAdmin(parts: AdminParts, at: { host: string; port: number }): Promise<Admin> {
  const server = createServer({ requestTimeout: limits.requestReceiveMsMax }, (request, response) => {
    answer(parts, request, response)
  })
  server.maxConnections = limits.adminConnectionsMax
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(at.port, at.host, resolve)
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : at.port
  return { port, close: () => closed(server) }
}

function answer({ metrics, ready }: AdminParts, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    say(response, 405, 'This path takes GET and HEAD.')
  } else if (request.url === '/metrics') {
    metrics.handle(request, response)
  } else if (request.url === '/livez') {
    say(response, 200, 'ok')
  } else if (request.url === '/readyz') {
    ready().then(
      () => say(response, 200, 'ok'),
      (error: unknown) => say(response, 503, error instanceof Error ? error.message : String(error)),
    )
  } else {
    say(response, 404, 'There are /metrics, /livez and /readyz.')
  }
}

function say(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
    })
    .end(`${text}\n`)
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
