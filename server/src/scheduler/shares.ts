import type { Socket } from 'node:net'
import { limits } from '../limits/limits.ts'
import type { Limits } from '../limits/passed-limits.ts'

/** What accounts share of a process before a statement is sent: its connections and the event loop. */

declare module 'node:net' {
  interface Socket {
    /** Of the last key that was accepted on this connection. */
    accountId?: string
  }
}

type ConnectionLimits = Pick<
  Limits,
  'accountConnectionsMax' | 'unknownConnectionsMax' | 'keylessConnectionsMax'
>

/**
 * Shares the connections of the process: every client on a connection can send a request in the same moment, and the event loop
 * reads all of them before it serves any. An account with more than its share may send one more request on each, and idle connections
 * without an accepted key are closed, the longest idle first: few remain of those that got a response without a valid key.
 */
export class ConnectionShares {
  readonly #limits: ConnectionLimits
  readonly #counts = new Map<string, number>()
  /**
   * Idle connections, the longest idle first: those whose clients may have a valid key, because no request was sent or none was read,
   * and those that got a response without one.
   */
  readonly #unknown = new Set<Socket>()
  readonly #keyless = new Set<Socket>()

  constructor(passed: ConnectionLimits) {
    this.#limits = passed
  }

  onConnection(socket: Socket): void {
    this.#add(this.#unknown, socket)
    socket.once('close', () => {
      if (socket.accountId === undefined) this.onRequest(socket)
      else this.#leave(socket.accountId)
    })
  }

  /** Not closed until `onResponse`. */
  onRequest(socket: Socket): void {
    if (socket.accountId === undefined && !this.#unknown.delete(socket)) this.#keyless.delete(socket)
  }

  /** `isShed`: with 503, under overload. Then its key was not verified. */
  onResponse(socket: Socket, isShed: boolean): void {
    if (socket.accountId === undefined && !socket.destroyed)
      this.#add(isShed ? this.#unknown : this.#keyless, socket)
  }

  /** After a key was accepted. False if the connection must be closed after the response: the account has more than its share. */
  onAccepted(socket: Socket, accountId: string): boolean {
    if (socket.accountId !== accountId) {
      if (socket.destroyed) return true
      if (socket.accountId !== undefined) this.#leave(socket.accountId)
      else this.onRequest(socket)
      socket.accountId = accountId
      this.#counts.set(accountId, (this.#counts.get(accountId) ?? 0) + 1)
    }
    return (this.#counts.get(accountId) ?? 0) <= this.#limits.accountConnectionsMax
  }

  #add(idle: Set<Socket>, socket: Socket): void {
    idle.add(socket)
    const { keylessConnectionsMax, unknownConnectionsMax } = this.#limits
    const isFull = this.#unknown.size + this.#keyless.size > unknownConnectionsMax
    if (!isFull && this.#keyless.size <= keylessConnectionsMax) return
    const [longestIdle] = this.#keyless.size > 0 ? this.#keyless : this.#unknown
    if (longestIdle === undefined) return
    this.onRequest(longestIdle)
    longestIdle.destroy()
  }

  #leave(accountId: string): void {
    const count = (this.#counts.get(accountId) ?? 0) - 1
    if (count > 0) this.#counts.set(accountId, count)
    else this.#counts.delete(accountId)
  }
}

interface Queue<Item> {
  readonly items: Item[]
  /** Items before it were taken. `shift` would move all of the others: with 9,000 of them, 50 µs for each item. */
  first: number
}

/** What waits, by account. Takes from one account after the other, the oldest of each first. */
class AccountTurns<Item> {
  /** The account that is next in turn first. */
  readonly #queues = new Map<string, Queue<Item>>()

  get isEmpty(): boolean {
    return this.#queues.size === 0
  }

  add(account: string, item: Item): void {
    const queue = this.#queues.get(account)
    if (queue === undefined) this.#queues.set(account, { items: [item], first: 0 })
    else queue.items.push(item)
  }

  /** Removes the next item; undefined if none waits. */
  take(): Item | undefined {
    const [next] = this.#queues
    if (next === undefined) return undefined
    const [account, queue] = next
    this.#queues.delete(account)
    const item = queue.items[queue.first++]
    if (2 * queue.first > queue.items.length) {
      queue.items.splice(0, queue.first)
      queue.first = 0
    }
    if (queue.items.length > 0) this.#queues.set(account, queue)
    return item
  }
}

/**
 * Starts a limited number of requests in each iteration of the event loop, those of one account after the other. So an account
 * whose requests arrive by the hundred delays those of others by one iteration, and iterations stay short.
 *
 * That matters to new connections above all: Node accepts one in each iteration, whoever opened it. While some wait to be
 * accepted, most iterations start no request.
 */
export class RequestTurns {
  readonly #waiting = new AccountTurns<() => void>()
  #started = 0
  /** Connections accepted since a request started. */
  #accepted = 0
  #hasAccepted = false
  #isScheduled = false

  /** Calls `start` at once, or when it is the account's turn. As many requests can wait as there are connections. */
  run(account: string, start: () => void): void {
    if (this.#waiting.isEmpty && !this.#isFull()) {
      this.#started++
      this.#schedule()
      start()
      return
    }
    this.#waiting.add(account, start)
    this.#schedule()
  }

  /** More connections probably wait to be accepted. */
  onConnection(): void {
    this.#hasAccepted = true
    this.#accepted++
    this.#schedule()
  }

  #isFull(): boolean {
    if (!this.#hasAccepted) return this.#started >= limits.iterationRequestsMax
    return this.#started > 0 || this.#accepted < limits.acceptedPerRequest
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#nextIteration())
  }

  #nextIteration(): void {
    this.#isScheduled = false
    this.#started = 0
    while (!this.#isFull()) {
      const start = this.#waiting.take()
      if (start === undefined) break
      this.#started++
      start()
    }
    if (this.#started > 0 || !this.#hasAccepted) this.#accepted = 0
    this.#hasAccepted = false
    if (this.#started > 0 || !this.#waiting.isEmpty) this.#schedule()
  }
}

/**
 * Lets one slice of work that blocks the event loop run in each of its iterations, for one account after the other. So the
 * requests that arrive meanwhile wait for one slice, however many bodies are being parsed.
 */
export class EventLoopShares {
  readonly #waiting = new AccountTurns<() => void>()
  #isScheduled = false

  /** Resolves when the caller may run its next slice, synchronously. */
  next(accountId: string): Promise<void> {
    return new Promise((resolve) => this.run(accountId, resolve))
  }

  /** Calls `slice` when it is the account's turn. The number of slices that wait has a limit: that of requests in flight. */
  run(accountId: string, slice: () => void): void {
    this.#waiting.add(accountId, slice)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#waiting.take()?.()
      if (!this.#waiting.isEmpty) this.#schedule()
    })
  }
}
