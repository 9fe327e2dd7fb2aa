import { Agent, type ClientRequest, type OutgoingHttpHeaders, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export interface HttpRequest {
  /** Default: this machine. */
  readonly address?: string
  readonly port: number
  readonly method?: string
  /** Sent unchanged: not normalised or encoded. */
  readonly path: string
  /** Names and values alternate, so that a header can be sent twice. */
  readonly headers: readonly string[]
  readonly body?: string
}

export interface HttpResponse {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly text: string
}

/** How long a response may take before its first byte, and between two. */
const silenceMsMax = 60_000
/**
 * An idle connection is closed this long before the server would: also in a process that is busy for seconds, no request is sent on
 * a connection that the server is closing. Node.js applies it only to an agent with a timeout.
 */
const idleMarginMs = 30_000
/** Pause before a request that was rejected is sent again. */
const overloadedMs = 250
/** How long the database may be unavailable, or reads time out: on a busy machine, PostgreSQL may respond after seconds. */
const unavailableMsMax = 180_000

/** Sends requests over keep-alive connections. Unlike `fetch`, it lets the caller choose the Host header. */
export class Client {
  readonly #agent: Agent
  #sent = 0

  constructor(connectionsMax = 32) {
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: connectionsMax,
      scheduling: 'fifo',
      timeout: silenceMsMax,
      agentKeepAliveTimeoutBuffer: idleMarginMs,
    })
  }

  get sent(): number {
    return this.#sent
  }

  send({
    address = '127.0.0.1',
    port,
    method = 'GET',
    path,
    headers,
    body,
  }: HttpRequest): Promise<HttpResponse> {
    this.#sent += 1
    const fields =
      body === undefined ? headers : [...headers, 'Content-Length', String(Buffer.byteLength(body))]
    const options = { agent: this.#agent, host: address, port, method, path, headers: fields }
    return exchange(request(options), body)
  }

  /** Sends the request again while a busy machine, process or account rejects it, and nothing was done. `onSend` is called before each attempt. */
  async sendUntilAccepted(sent: HttpRequest, onSend: () => void = () => {}): Promise<HttpResponse> {
    const until = performance.now() + unavailableMsMax
    for (;;) {
      onSend()
      const response = await this.send(sent)
      const isRetried = isRejected(response) || (isUnavailable(response) && performance.now() < until)
      if (!isRetried) return response
      await sleep(overloadedMs)
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}

function isRejected(response: HttpResponse): boolean {
  return isProblem(response, 503, 'overloaded') || isProblem(response, 429, 'account_busy')
}

function isUnavailable(response: HttpResponse): boolean {
  return (
    isProblem(response, 503, 'database_unavailable') ||
    isProblem(response, 504, 'deadline_exceeded') ||
    isProblem(response, 504, 'total_pending')
  )
}

function isProblem(response: HttpResponse, status: number, code: string): boolean {
  return response.status === status && response.text.includes(`"code":"${code}"`)
}

export function headersFor(account: string, key: string): string[] {
  return ['Host', `${account}.localhost`, 'Authorization', `Bearer ${key}`]
}

/** Sends a request with its body, and reads the complete response. */
export function exchange(
  outgoing: ClientRequest,
  body: string | undefined,
  responseMsMax = silenceMsMax,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    outgoing.once('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    })
    outgoing.setTimeout(responseMsMax, () =>
      outgoing.destroy(new Error(`no response within ${responseMsMax / 1000} s`)),
    )
    outgoing.once('error', reject)
    outgoing.end(body)
  })
}
