import { createWriteStream, type WriteStream } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, type HttpResponse, headersFor } from '../../client.ts'
import type { Random } from '../../random.ts'
import { port } from '../cluster/ports.ts'
import type { Event, LoadAccount, LoadOptions, RequestKind } from './messages.ts'

export type Server = LoadOptions['servers'][number]

export interface Outgoing {
  readonly kind: RequestKind
  readonly method?: string
  readonly path: string
  readonly headers?: readonly string[]
  readonly body?: string
}

export interface Incoming extends HttpResponse {
  readonly event: Event
}

/** A write got a response that contradicts the acknowledged writes before it, such as 404 for a record that was created. */
export class Contradiction extends Error {}

/** Pause before a write whose outcome is unknown is sent again. */
const retryMs = [50, 400] as const

/** Sends requests to the servers, and writes a line for each. */
export class Sender {
  readonly servers: readonly Server[]
  readonly #client = new Client(600)
  readonly #events: WriteStream
  acknowledged = 0

  constructor(servers: readonly Server[], events: string) {
    this.servers = servers
    this.#events = createWriteStream(events)
  }

  /** Never throws: without a response, the status is 0. `note` is called before the line is written, and may add to it. */
  async send(
    account: LoadAccount,
    server: Server,
    { kind, method = 'GET', path, headers = [], body }: Outgoing,
    judge: (response: HttpResponse) => string | undefined = () => undefined,
  ): Promise<Incoming> {
    const at = Date.now()
    const started = performance.now()
    const sent = {
      address: server.address,
      port,
      method,
      path,
      headers: [...headersFor(account.name, account.key), ...headers],
      ...(body === undefined ? {} : { body }),
    }
    let response: HttpResponse = { status: 0, headers: {}, text: '' }
    let code: string | undefined
    try {
      response = await this.#client.send(sent)
      if (response.status >= 400) code = /"code":"(\w+)"/.exec(response.text)?.[1]
    } catch (error) {
      code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    }
    const ms = Math.round(performance.now() - started)
    const wrong = judge(response)
    const event: Event = {
      at,
      ms,
      kind,
      server: server.name,
      status: response.status,
      ...(code === undefined ? {} : { code }),
      ...(wrong === undefined ? {} : { wrong }),
    }
    this.#events.write(`${JSON.stringify(event)}\n`)
    return { ...response, event }
  }

  /** Sends a write to any server until it is acknowledged, with the same Idempotency-Key. */
  async write(
    account: LoadAccount,
    random: Random,
    sent: Outgoing,
    ...expected: readonly number[]
  ): Promise<HttpResponse> {
    const mayRetry = (status: number) =>
      status === 0 || status === 200 || status === 409 || status === 429 || status >= 500
    const judge = ({ status, text }: HttpResponse) =>
      expected.includes(status) || mayRetry(status)
        ? undefined
        : `${account.name} ${sent.method} ${sent.path}: ${status} ${text.slice(0, 200)}`
    for (;;) {
      const response = await this.send(account, random.pick(this.servers), sent, judge)
      const { status, text, event } = response
      if (expected.includes(status) && !text.includes('"$error"')) {
        this.acknowledged += 1
        return response
      }
      if (event.wrong !== undefined) throw new Contradiction(event.wrong)
      await sleep(random.integer(...retryMs))
    }
  }

  async close(): Promise<void> {
    this.#client.close()
    await new Promise<void>((resolve) => this.#events.end(() => resolve()))
  }
}
