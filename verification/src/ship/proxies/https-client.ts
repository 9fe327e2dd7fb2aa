import { connect } from 'node:http2'
import { Agent, request } from 'node:https'
import { exchange, type HttpResponse } from '../../client.ts'
import type { ReverseProxy } from './proxy.ts'

/** The name in the certificate of `createCertificate`, whichever account the request is for. */
const certifiedName = 'acme.localhost'

export interface HttpsRequest {
  readonly method?: string
  /** Sent unchanged: not normalised or encoded. */
  readonly path: string
  readonly headers?: Record<string, string>
  readonly body?: string
  /** The address from which the client connects. */
  readonly from?: string
}

/** Sends requests for one account to a proxy, with TLS and HTTP/1.1 over keep-alive connections. */
export class HttpsClient {
  readonly #proxy: ReverseProxy
  readonly #host: string
  readonly #headers: Record<string, string>
  readonly #agent: Agent

  constructor(proxy: ReverseProxy, account: string, key: string, connectionsMax = 32) {
    this.#proxy = proxy
    this.#host = `${account}.localhost`
    this.#headers = { host: this.#host, authorization: `Bearer ${key}` }
    this.#agent = new Agent({
      keepAlive: true,
      maxSockets: connectionsMax,
      ca: proxy.certificate,
      servername: certifiedName,
    })
  }

  send({ method = 'GET', path, headers = {}, body, from }: HttpsRequest): Promise<HttpResponse> {
    const { httpsPort: port } = this.#proxy
    const outgoing = request({
      agent: this.#agent,
      host: '127.0.0.1',
      port,
      method,
      path,
      headers: { ...this.#headers, ...headers, ...lengthOf(body) },
      ...(from === undefined ? {} : { localAddress: from }),
    })
    return exchange(outgoing, body, 120_000)
  }

  /** The same with HTTP/2, on a new connection. */
  sendHttp2({ method = 'GET', path, headers = {}, body }: HttpsRequest): Promise<HttpResponse> {
    const { httpsPort, certificate } = this.#proxy
    const session = connect(`https://127.0.0.1:${httpsPort}`, { ca: certificate, servername: certifiedName })
    const { host, ...others } = this.#headers
    return new Promise<HttpResponse>((resolve, reject) => {
      session.once('error', reject)
      const stream = session.request({
        ':method': method,
        ':path': path,
        ':authority': host,
        ...others,
        ...headers,
      })
      let status = 0
      let received: Record<string, unknown> = {}
      let text = ''
      stream.once('response', (fields) => {
        status = Number(fields[':status'])
        received = fields
      })
      stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      stream.once('error', reject)
      stream.once('end', () => resolve({ status, headers: stringsOf(received), text }))
      stream.end(body)
    }).finally(() => session.close())
  }

  close(): void {
    this.#agent.destroy()
  }
}

const lengthOf = (body: string | undefined) =>
  body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }

const stringsOf = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))
