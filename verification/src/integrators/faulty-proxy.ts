import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { freePort } from '../../../server/src/cli/database/temporary-postgres.ts'
import type { Random } from '../random.ts'

/** Shares of all requests with each fault. */
const unavailableBefore = 0.025
const unavailableAfter = 0.025
const closedBefore = 0.01
const closedWithin = 0.01

/**
 * A proxy between client and service. It responds to 5 % of the requests with 503, half of them after the service has
 * processed the request, and closes 2 % of the connections, before or in the middle of the response. If the service
 * closes a connection, the proxy does so, too.
 */
export class FaultyProxy {
  readonly #random: Random
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((incoming, response) => this.#serve(incoming, response))
  readonly #port: number
  requests = 0
  unavailable = 0
  closed = 0

  constructor(port: number, random: Random) {
    this.#port = port
    this.#random = random
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
  }

  async listen(): Promise<string> {
    const port = await freePort()
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
    return `http://127.0.0.1:${port}`
  }

  /** Closes every connection. */
  closeAll(): void {
    this.closed += this.#sockets.size
    for (const socket of this.#sockets) socket.destroy()
  }

  stop(): void {
    this.closeAll()
    this.#server.close()
    this.#agent.destroy()
  }

  #serve(incoming: IncomingMessage, response: ServerResponse): void {
    this.requests += 1
    const dice = this.#random.next()
    const share = (from: number, width: number) => dice >= from && dice < from + width
    if (share(0, unavailableBefore)) {
      incoming.resume()
      this.#respond503(response)
      return
    }
    const { method, url, headers } = incoming
    const upstream = request(
      { agent: this.#agent, host: '127.0.0.1', port: this.#port, method, path: url, headers },
      (reply) => {
        const chunks: Buffer[] = []
        reply.on('data', (chunk: Buffer) => chunks.push(chunk))
        reply.on('error', () => response.destroy())
        reply.on('end', () => {
          const body = Buffer.concat(chunks)
          if (share(unavailableBefore, unavailableAfter)) return this.#respond503(response)
          if (share(0.1, closedBefore)) return this.#close(response)
          response.writeHead(reply.statusCode ?? 502, reply.headers)
          if (!share(0.2, closedWithin)) return response.end(body)
          response.write(body.subarray(0, body.length / 2), () => this.#close(response))
          return undefined
        })
      },
    )
    upstream.on('error', () => response.destroy())
    incoming.pipe(upstream)
  }

  #respond503(response: ServerResponse): void {
    this.unavailable += 1
    const problem = {
      status: 503,
      code: 'overloaded',
      detail: 'Try again shortly.',
      request_id: 'proxy',
      type: '',
      title: '',
    }
    response.writeHead(503, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem))
  }

  #close(response: ServerResponse): void {
    this.closed += 1
    response.destroy()
  }
}
