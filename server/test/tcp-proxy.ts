import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy before PostgreSQL. */
export interface TcpProxy {
  readonly databaseUrl: string
  close(): Promise<void>
}

/** A proxied connection. The upstream is opened when it is first used. */
export interface ProxiedConnection {
  readonly client: Socket
  readonly connectUpstream: () => Socket
}

/** `onConnection` forwards the data. Errors of sockets are ignored; it handles their `close`. */
export async function startTcpProxy(
  databaseUrl: string,
  onConnection: (connection: ProxiedConnection) => void,
): Promise<TcpProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const track = (socket: Socket): Socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    return socket
  }
  const server = createServer((client) => {
    onConnection({
      client: track(client),
      connectUpstream: () => track(connect(Number(target.port), target.hostname)),
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${address.port}`
  return {
    databaseUrl: url.href,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
