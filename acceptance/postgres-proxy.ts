import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy between the service and its database, with which a test simulates network failures. */
export interface PostgresProxy {
  readonly databaseUrl: string
  /** Stops forwarding data, but leaves all connections open. */
  stall(): void
  /** Closes every connection, and new ones immediately. */
  disconnect(): void
  restore(): void
  close(): Promise<void>
}

export async function startPostgresProxy(databaseUrl: string): Promise<PostgresProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let state: 'connected' | 'stalled' | 'disconnected' = 'connected'
  const server = createServer((client) => {
    if (state === 'disconnected') {
      client.destroy()
      return
    }
    const upstream = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      if (state === 'stalled') from.pause()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const proxyUrl = new URL(databaseUrl)
  proxyUrl.host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  return {
    databaseUrl: proxyUrl.href,
    stall: () => {
      state = 'stalled'
      for (const socket of sockets) socket.pause()
    },
    disconnect: () => {
      state = 'disconnected'
      for (const socket of sockets) socket.destroy()
    },
    restore: () => {
      state = 'connected'
      for (const socket of sockets) socket.resume()
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
