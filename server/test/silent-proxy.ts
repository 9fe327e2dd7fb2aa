import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy before PostgreSQL. Once it is silent, responses vanish, and PostgreSQL does not learn that a connection was closed. */
export interface SilentProxy {
  readonly databaseUrl: string
  /** Silent from the next message to PostgreSQL on that contains this text. The message itself is forwarded. */
  silenceAfter(text: string): void
  close(): Promise<void>
}

export async function startSilentProxy(databaseUrl: string): Promise<SilentProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let isSilent = false
  let last: string | undefined
  const server = createServer((client) => {
    if (isSilent) {
      client.on('error', () => {})
      sockets.add(client)
      return
    }
    const upstream = connect(Number(target.port), target.hostname)
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('data', (chunk: Buffer) => {
        if (isSilent) return
        if (socket === client && last !== undefined && chunk.includes(last)) isSilent = true
        peer.write(chunk)
      })
      socket.on('close', () => {
        if (!isSilent) peer.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${address.port}`
  return {
    databaseUrl: url.href,
    silenceAfter: (text) => (last = text),
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
