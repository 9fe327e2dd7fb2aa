import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { freePort } from '../../../server/src/cli/database/throwaway-postgres.ts'
import type { Random } from '../random.ts'

/** What goes wrong, of all requests. */
const refusedBefore = 0.025
const refusedAfter = 0.025
const cutBefore = 0.01
const cutWithin = 0.01

/**
 * Stands between client and service. Answers some requests with 503, half of them after the service has done what was
 * asked; cuts some connections, before the answer or in the middle of it. What the service breaks off, it breaks off.
 */
export class FaultyProxy {
  readonly #random: Random
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((asked, answer) => this.#serve(asked, answer))
  readonly #port: number
  requests = 0
  refused = 0
  cut = 0

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
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    return `http://127.0.0.1:${port}`
  }

  /** Every connection there is. */
  cutAll(): void {
    this.cut += this.#sockets.size
    for (const socket of this.#sockets) socket.destroy()
  }

  stop(): void {
    this.cutAll()
    this.#server.close()
    this.#agent.destroy()
  }

  #serve(asked: IncomingMessage, answer: ServerResponse): void {
    this.requests += 1
    const luck = this.#random.next()
    const share = (from: number, width: number) => luck >= from && luck < from + width
    if (share(0, refusedBefore)) {
      asked.resume()
      this.#refuse(answer)
      return
    }
    const { method, url, headers } = asked
    const onwards = request(
      { agent: this.#agent, host: '127.0.0.1', port: this.#port, method, path: url, headers },
      (reply) => {
        const chunks: Buffer[] = []
        reply.on('data', (chunk: Buffer) => chunks.push(chunk))
        reply.on('error', () => answer.destroy())
        reply.on('end', () => {
          const body = Buffer.concat(chunks)
          if (share(refusedBefore, refusedAfter)) return this.#refuse(answer)
          if (share(0.1, cutBefore)) return this.#cut(answer)
          answer.writeHead(reply.statusCode ?? 502, reply.headers)
          if (!share(0.2, cutWithin)) return answer.end(body)
          answer.write(body.subarray(0, body.length / 2), () => this.#cut(answer))
          return undefined
        })
      },
    )
    onwards.on('error', () => answer.destroy())
    asked.pipe(onwards)
  }

  #refuse(answer: ServerResponse): void {
    this.refused += 1
    const problem = {
      status: 503,
      code: 'overloaded',
      detail: 'Try again shortly.',
      request_id: 'proxy',
      type: '',
      title: '',
    }
    answer.writeHead(503, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem))
  }

  #cut(answer: ServerResponse): void {
    this.cut += 1
    answer.destroy()
  }
}
