import { connect, createServer, type Socket } from 'node:net'

/** The connections to a database, through which a test can lose the answer to a write that was committed. */
export interface CuttingWire {
  readonly databaseUrl: string
  /**
   * Cuts the connection at the next so many answers to an insert with this text among its values: the answer is lost, the
   * rows are committed.
   */
  cutInserts(count: number, text: string): void
  /** How many answers were lost. */
  readonly cuts: number
  /** New connections are refused until they are accepted again; those that are open stay. */
  refuse(): void
  accept(): void
  close(): Promise<void>
}

/** PostgreSQL's message `ReadyForQuery` outside of a transaction: what came before it is committed. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

export async function startCuttingWire(databaseUrl: string): Promise<CuttingWire> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let toCut = { count: 0, text: '' }
  let cuts = 0
  let refusing = false
  const server = createServer((near) => {
    near.on('error', () => {})
    if (refusing) {
      near.destroy()
      return
    }
    const far = connect(Number(target.port), target.hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    let isMeant = false
    near.pipe(far)
    near.on('data', (piece: Buffer) => {
      isMeant ||= toCut.count > 0 && piece.includes(toCut.text)
    })
    far.on('data', (piece: Buffer) => {
      const isReady = piece.subarray(-ready.length).equals(ready)
      if (isMeant && isReady && piece.includes('INSERT 0 ')) {
        toCut.count--
        cuts++
        near.destroy()
      } else near.write(piece)
      if (isReady) isMeant = false
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const near = new URL(databaseUrl)
  near.host = `127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  return {
    databaseUrl: near.href,
    cutInserts: (count, text) => {
      toCut = { count, text }
    },
    get cuts() {
      return cuts
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
