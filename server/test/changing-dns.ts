import { createSocket, type Socket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import type { ResolvedAddress } from '../src/webhooks/address-guard.ts'

/** A DNS server whose answer to every question is the next address, and a resolver that asks it. */
export class ChangingDns {
  readonly #socket: Socket
  /** Sends each query once, however long this process takes to answer it. */
  readonly #resolver = new Resolver({ timeout: 120_000, tries: 1 })
  queries = 0

  private constructor(socket: Socket, next: () => string) {
    this.#socket = socket
    this.#resolver.setServers([`127.0.0.1:${socket.address().port}`])
    socket.on('message', (query, from) => {
      this.queries += 1
      socket.send(answerTo(query, next()), from.port, from.address)
    })
  }

  static async start(next: () => string): Promise<ChangingDns> {
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    return new ChangingDns(socket, next)
  }

  readonly resolve = async (name: string): Promise<ResolvedAddress[]> =>
    (await this.#resolver.resolve4(name)).map((address) => ({ address, family: 4 }))

  stop(): Promise<void> {
    return new Promise((resolve) => this.#socket.close(() => resolve()))
  }
}

/** One A record, whose time to live is 0. */
function answerTo(query: Buffer, address: string): Buffer {
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) at += length + 1
  const question = query.subarray(12, at + 5)
  const header = Buffer.from([query[0] ?? 0, query[1] ?? 0, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
  const answer = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)])
  return Buffer.concat([header, question, answer])
}
