import { limits } from '../limits/limits.ts'
import { withTimeout } from '../timeout.ts'

/** What a primary requests from a worker. */
export interface WorkerMethods {
  /** The first request. Its response is sent when the worker listens. */
  serve(options: WorkerStart): Promise<{ readonly port: number }>
  /** Rejects if the worker cannot serve requests. */
  ready(): Promise<void>
  /** The response shows that the event loop is not blocked. */
  live(): Promise<void>
  metrics(): Promise<string>
  /** The response is sent at once; the worker exits when it has closed its connections. */
  close(options: { readonly delayMs: number }): Promise<void>
  drain(options: { readonly delayMs: number }): Promise<void>
}

export interface WorkerStart {
  readonly worker: number
  /** The number of workers that serve, this one included. */
  readonly workers: number
  readonly listenWhenReady: boolean
}

/** What a worker requests from its primary. */
export interface PrimaryMethods {
  /** Adds to rate-limit counters: see `CounterStore`. */
  count(options: {
    readonly names: readonly string[]
    readonly amounts: readonly number[]
  }): Promise<number[]>
}

type Methods = Record<string, (options: never) => Promise<unknown>>

type Message =
  | { readonly id: number; readonly method: string; readonly options?: unknown }
  | { readonly id: number; readonly result?: unknown; readonly error?: string }

/** One end of an IPC channel: `process` in a worker, and a `Worker` of `node:cluster` in the primary. */
export interface Channel {
  on(event: 'message', listener: (message: Message) => void): unknown
  send?(message: Message, callback: (error: Error | null) => void): unknown
}

/** Calls methods of the process at the other end of an IPC channel, and responds to its calls. */
export class Peer<Theirs> {
  readonly #channel: Channel
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #lastId = 0

  constructor(channel: Channel, own: Methods | object) {
    this.#channel = channel
    channel.on('message', (message) => {
      if ('method' in message) void this.#respond(own, message.id, message.method, message.options)
      else this.#settle(message)
    })
  }

  /** Rejects without a response within `msMax`. */
  call<Name extends keyof Theirs & string>(
    method: Name,
    options?: Theirs[Name] extends (options: infer Options) => unknown ? Options : never,
    msMax?: number,
  ): Promise<Theirs[Name] extends (...options: never) => Promise<infer Result> ? Result : never>
  async call(method: string, options?: unknown, msMax: number = limits.workerReplyMsMax): Promise<unknown> {
    const id = ++this.#lastId
    const pending = Promise.withResolvers<unknown>()
    this.#pending.set(id, pending)
    this.#send({ id, method, options })
    try {
      if (msMax === Number.POSITIVE_INFINITY) return await pending.promise
      const late = () => new Error(`There was no response within ${msMax} ms.`)
      return await withTimeout(msMax, pending.promise, late)
    } finally {
      this.#pending.delete(id)
    }
  }

  async #respond(own: object, id: number, method: string, options: unknown): Promise<void> {
    try {
      const handler: unknown = Reflect.get(own, method)
      if (typeof handler !== 'function') throw new Error(`There is no method ${method}.`)
      this.#send({ id, result: await handler(options) })
    } catch (error) {
      this.#send({ id, error: error instanceof Error ? error.message : String(error) })
    }
  }

  #settle(message: { readonly id: number; readonly result?: unknown; readonly error?: string }): void {
    const pending = this.#pending.get(message.id)
    if (message.error === undefined) pending?.resolve(message.result)
    else pending?.reject(new Error(message.error))
  }

  /** A process that has exited does not receive it; its exit is reported separately. */
  #send(message: Message): void {
    this.#channel.send?.(message, () => {})
  }
}
