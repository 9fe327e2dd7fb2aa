import { Agent, type OutgoingHttpHeaders, request } from 'node:http'

export interface Ask {
  readonly port: number
  readonly method?: string
  /** As it goes on the wire, unchanged. */
  readonly path: string
  /** Names and values in turn, so that one may be sent twice. */
  readonly headers: readonly string[]
  readonly body?: string
}

export interface Answer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly text: string
}

/** Kept-alive connections to 127.0.0.1: the Host header is the caller's to choose, which fetch does not allow. */
export class Client {
  readonly #agent: Agent
  #sent = 0

  constructor(connectionsMax = 32) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connectionsMax, scheduling: 'fifo' })
  }

  get sent(): number {
    return this.#sent
  }

  ask({ port, method = 'GET', path, headers, body }: Ask): Promise<Answer> {
    this.#sent += 1
    const fields =
      body === undefined ? headers : [...headers, 'Content-Length', String(Buffer.byteLength(body))]
    return new Promise((resolve, reject) => {
      const sending = request(
        { agent: this.#agent, host: '127.0.0.1', port, method, path, headers: fields, timeout: 60_000 },
        (response) => {
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
        },
      )
      sending.once('timeout', () => sending.destroy(new Error('no answer within 60 s')))
      sending.once('error', reject)
      sending.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
