import { connect, createServer, type Socket } from 'node:net'

/** A TCP proxy before PostgreSQL that can drop the response to a committed insert. */
export interface LossyProxy {
  readonly databaseUrl: string
  /**
   * Closes the connection instead of forwarding the response to each of the next `count` inserts that have `text` among
   * their values. The rows are committed.
   */
  dropInsertResponses(count: number, text: string): void
  /** Responses dropped so far. */
  readonly dropped: number
  /** Refuses new connections until `accept()`; open connections stay open. */
  refuse(): void
  accept(): void
  close(): Promise<void>
}

/** PostgreSQL's `ReadyForQuery` message outside a transaction: the statement before it is committed. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

export async function startLossyProxy(databaseUrl: string): Promise<LossyProxy> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let toDrop = { count: 0, text: '' }
  let dropped = 0
  let refusing = false
  const server = createServer((client) => {
    client.on('error', () => {})
    if (refusing) {
      client.destroy()
      return
    }
    const upstream = connect(Number(target.port), target.hostname)
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => peer.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        peer.destroy()
      })
    }
    let isMatching = false
    client.pipe(upstream)
    client.on('data', (chunk: Buffer) => {
      isMatching ||= toDrop.count > 0 && chunk.includes(toDrop.text)
    })
    upstream.on('data', (chunk: Buffer) => {
      const isReady = chunk.subarray(-ready.length).equals(ready)
      if (isMatching && isReady && chunk.includes('INSERT 0 ')) {
        toDrop.count--
        dropped++
        client.destroy()
      } else client.write(chunk)
      if (isReady) isMatching = false
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const proxyUrl = new URL(databaseUrl)
  proxyUrl.host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  return {
    databaseUrl: proxyUrl.href,
    dropInsertResponses: (count, text) => {
      toDrop = { count, text }
    },
    get dropped() {
      return dropped
    },
    refuse: () => {
      refusing = true
    },
    accept: () => {
      refusing = false
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
