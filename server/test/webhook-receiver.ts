import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { Authority } from './certificates.ts'

export interface ReceivedMessage {
  readonly id: string
  readonly timestamp: string
  readonly signature: string
  readonly text: string
  readonly type: string
  readonly data: {
    readonly webhook: string
    readonly challenge?: string
    readonly changes?: readonly Change[]
    readonly more?: boolean
    readonly cursor?: string
  }
}

export interface Change {
  readonly change: string
  readonly id: number
  readonly version: number
  readonly record?: Readonly<Record<string, unknown>>
}

export interface Response {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The address of receivers, which the service must be allowed to reach. */
export const receiverAddress = '127.0.0.2'

/** An HTTPS server that stores the messages it receives and returns challenges. */
export class Receiver {
  readonly messages: ReceivedMessage[] = []
  /** The response to messages except challenges. */
  respond: (message: ReceivedMessage) => Response | Promise<Response> = () => ({ status: 204 })
  /** The response to challenges. */
  echo: (challenge: string) => Response | Promise<Response> = (challenge) => ({
    status: 200,
    body: challenge,
  })
  readonly #authority = new Authority()
  readonly #trusted = getCACertificates('default')
  readonly #server: Server
  #port = 0

  constructor() {
    const { cert, key } = this.#authority.issue('receiver', `IP:${receiverAddress}`)
    setDefaultCACertificates([...this.#trusted, readFileSync(this.#authority.ca, 'utf8')])
    this.#server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      request.on('end', () => {
        const header = (name: string) => String(request.headers[name])
        const message: ReceivedMessage = {
          ...JSON.parse(text),
          id: header('webhook-id'),
          timestamp: header('webhook-timestamp'),
          signature: header('webhook-signature'),
          text,
        }
        void this.#responseTo(message).then(({ status, headers = {}, body = '' }) =>
          response.writeHead(status, { ...headers }).end(body),
        )
      })
    })
  }

  async #responseTo(message: ReceivedMessage): Promise<Response> {
    this.messages.push(message)
    const { challenge } = message.data
    return challenge === undefined ? await this.respond(message) : this.echo(challenge)
  }

  /** The certificate of the authority, for the environment of other processes. */
  get authorityFile(): string {
    return this.#authority.ca
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, receiverAddress, resolve))
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('not listening')
    this.#port = address.port
  }

  get url(): string {
    return `https://${receiverAddress}:${this.#port}/hook?token=1`
  }

  /** The changes of all messages, in the order in which they were received. */
  get changes(): Change[] {
    return this.messages.flatMap(({ data }) => data.changes ?? [])
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
    setDefaultCACertificates(this.#trusted)
    this.#authority.remove()
  }
}

/** The signature by Standard Webhooks, computed as its specification describes. */
export function expectedSignature(secret: string, { id, timestamp, text }: ReceivedMessage): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64')}`
}
