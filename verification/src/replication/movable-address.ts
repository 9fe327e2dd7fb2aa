import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import type { Stoppable } from '../check.ts'

/**
 * What happens to open connections when the address moves. `close`: they are closed, as by HAProxy with
 * `on-marked-down shutdown-sessions`. `leave`: they stay open, as with a plain TCP load balancer.
 */
export type OldConnections = 'close' | 'leave'

/** A TCP address that stays the same while the server behind it changes. */
export class MovableAddress implements Stoppable {
  readonly port: number
  readonly #server: Server
  /** Both ends of every connection. */
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  #target: number | undefined

  private constructor(port: number) {
    this.port = port
    this.#server = createServer((socket) => this.#forward(socket))
  }

  /** Refuses every connection until `moveTo` is called. */
  static async listen(): Promise<MovableAddress> {
    const address = new MovableAddress(await freePort())
    await new Promise<void>((resolve, reject) => {
      address.#server.once('error', reject)
      address.#server.listen(address.port, '127.0.0.1', resolve)
    })
    return address
  }

  get connections(): number {
    return this.#pairs.size
  }

  /** New connections go to this port of 127.0.0.1 from now on. */
  moveTo(port: number, old: OldConnections): void {
    this.#target = port
    if (old === 'close') this.#closeAll()
  }

  /** Closes every connection and refuses new ones. */
  refuse(): void {
    this.#target = undefined
    this.#closeAll()
  }

  #closeAll(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.refuse()
    await closed
  }

  #forward(client: Socket): void {
    if (this.#target === undefined) {
      client.on('error', () => {})
      client.destroy()
      return
    }
    const server = connect({ port: this.#target, host: '127.0.0.1', noDelay: true })
    client.setNoDelay(true)
    const pair = [client, server] as const
    this.#pairs.add(pair)
    for (const [one, other] of [pair, [server, client] as const]) {
      one.pipe(other)
      // 'close' follows, and closes the other end.
      one.on('error', () => {})
      one.once('close', () => {
        this.#pairs.delete(pair)
        other.destroy()
      })
    }
  }
}
