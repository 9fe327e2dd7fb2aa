import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** A TCP proxy before PostgreSQL that can drop the response to a committed insert. */
export interface LossyProxy extends TcpProxy {
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
}

/** PostgreSQL's `ReadyForQuery` message outside a transaction: the statement before it is committed. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

export async function startLossyProxy(databaseUrl: string): Promise<LossyProxy> {
  let toDrop = { count: 0, text: '' }
  let dropped = 0
  let refusing = false
  const proxy = await startTcpProxy(databaseUrl, ({ client, connectUpstream }) => {
    if (refusing) {
      client.destroy()
      return
    }
    const upstream = connectUpstream()
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
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
  return {
    ...proxy,
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
  }
}
