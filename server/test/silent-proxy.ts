import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** A TCP proxy before PostgreSQL. Once it is silent, responses vanish, and PostgreSQL does not learn that a connection was closed. */
export interface SilentProxy extends TcpProxy {
  /** Silent from the next message to PostgreSQL on that contains this text. The message itself is forwarded. */
  silenceAfter(text: string): void
}

export async function startSilentProxy(databaseUrl: string): Promise<SilentProxy> {
  let isSilent = false
  let last: string | undefined
  const proxy = await startTcpProxy(databaseUrl, ({ client, connectUpstream }) => {
    if (isSilent) return
    const upstream = connectUpstream()
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
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
  return { ...proxy, silenceAfter: (text) => (last = text) }
}
