import { connect, createServer, type Socket } from 'node:net'

/** The line between the service and its database, which a test can stop, cut and mend. */
export interface Wire {
  readonly databaseUrl: string
  /** Nothing passes any more, but no connection breaks. */
  stall(): void
  /** Every connection breaks, and new ones break at once. */
  cut(): void
  mend(): void
  close(): Promise<void>
}

export async function startWire(databaseUrl: string): Promise<Wire> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let state: 'whole' | 'stalled' | 'cut' = 'whole'
  const server = createServer((near) => {
    if (state === 'cut') {
      near.destroy()
      return
    }
    const far = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
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
  const near = new URL(databaseUrl)
  near.host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  return {
    databaseUrl: near.href,
    stall: () => {
      state = 'stalled'
      for (const socket of sockets) socket.pause()
    },
    cut: () => {
      state = 'cut'
      for (const socket of sockets) socket.destroy()
    },
    mend: () => {
      state = 'whole'
      for (const socket of sockets) socket.resume()
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
