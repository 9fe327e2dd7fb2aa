import type { Socket } from 'node:net'
import type { Limits } from '../limits/passed-limits.ts'

declare module 'node:net' {
  interface Socket {
    /** Of the last key that was accepted on this connection. */
    accountId?: string
  }
}

/**
 * Shares the connections of the process: every client on a connection can send a request in the same moment, and the event loop
 * reads all of them before it serves any. An account with more than its share may send one more request on each, and idle connections
 * without an accepted key are closed, the longest idle first.
 */
export class ConnectionShares {
  readonly #limits: Pick<Limits, 'accountConnectionsMax' | 'unknownConnectionsMax'>
  readonly #counts = new Map<string, number>()
  /** Without an accepted key and without a request; the longest idle first. */
  readonly #unknown = new Set<Socket>()

  constructor(limits: Pick<Limits, 'accountConnectionsMax' | 'unknownConnectionsMax'>) {
    this.#limits = limits
  }

  onConnection(socket: Socket): void {
    this.#addUnknown(socket)
    socket.once('close', () => {
      if (socket.accountId === undefined) this.#unknown.delete(socket)
      else this.#leave(socket.accountId)
    })
  }

  /** Not closed until `onResponse`. */
  onRequest(socket: Socket): void {
    if (socket.accountId === undefined) this.#unknown.delete(socket)
  }

  onResponse(socket: Socket): void {
    if (socket.accountId === undefined && !socket.destroyed) this.#addUnknown(socket)
  }

  /** After a key was accepted. False if the connection must be closed after the response: the account has more than its share. */
  onAccepted(socket: Socket, accountId: string): boolean {
    if (socket.accountId !== accountId) {
      if (socket.destroyed) return true
      if (socket.accountId !== undefined) this.#leave(socket.accountId)
      else this.#unknown.delete(socket)
      socket.accountId = accountId
      this.#counts.set(accountId, (this.#counts.get(accountId) ?? 0) + 1)
    }
    return (this.#counts.get(accountId) ?? 0) <= this.#limits.accountConnectionsMax
  }

  #addUnknown(socket: Socket): void {
    this.#unknown.add(socket)
    if (this.#unknown.size <= this.#limits.unknownConnectionsMax) return
    const [longestIdle] = this.#unknown
    longestIdle?.destroy()
    if (longestIdle !== undefined) this.#unknown.delete(longestIdle)
  }

  #leave(accountId: string): void {
    const count = (this.#counts.get(accountId) ?? 0) - 1
    if (count > 0) this.#counts.set(accountId, count)
    else this.#counts.delete(accountId)
  }
}
