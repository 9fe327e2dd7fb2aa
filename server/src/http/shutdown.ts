import type { Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { FeedWaiters } from '../changes/waiters.ts'
import type { Limits } from '../limits/passed-limits.ts'

/**
 * As `server.close()` of `node:net`. The method of `node:http` would also close idle keep-alive connections. Clients that wait for
 * changes get a response now, and then connect to another process.
 */
export function stopAccepting(server: Server, waiters: FeedWaiters): void {
  NetServer.prototype.close.call(server)
  waiters.close()
}

/** Waits for requests in flight, at most `shutdownMsMax`, then aborts them. */
export async function closeServer(
  app: FastifyInstance,
  shutdown: AbortController,
  limits: Limits,
): Promise<void> {
  const timeout = setTimeout(() => {
    shutdown.abort()
    app.server.closeAllConnections()
  }, limits.shutdownMsMax)
  // A keep-alive connection becomes idle when its last request is finished. Fastify closes only those that are idle already.
  const sweep = setInterval(() => app.server.closeIdleConnections(), limits.idleConnectionSweepMs)
  await app.close()
  clearInterval(sweep)
  clearTimeout(timeout)
}

/**
 * Returns a function that waits until every connection is closed. `server.close()` calls back earlier, but an aborted request
 * is reported when its connection closes. Without this wait it would be missing from its account's request log.
 */
export function watchConnections(server: Server): () => Promise<unknown> {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return () =>
    Promise.all(
      [...open].map((socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))),
    )
}
