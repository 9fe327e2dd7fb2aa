import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { exchange, type HttpResponse } from '../client.ts'

export interface SteadyLoadOptions {
  readonly port: number
  readonly account: string
  readonly key: string
  readonly requestsPerSecond: number
}

/** Clients with a keep-alive connection each, as a proxy has; the others open a connection for each request. */
const keepAliveClients = 15
const connectingClients = 5
const clients = keepAliveClients + connectingClients
const lists = '/api/v1/inventory/product'
const partners = '/api/v1/resources/partner'

/**
 * Reads and creates at a constant rate, without retries. A request fails if its connection is refused or reset, and if its status is
 * neither 200 nor 201.
 */
export class SteadyLoad {
  readonly #options: SteadyLoadOptions
  readonly #failures: string[] = []
  readonly #ended: Promise<unknown>
  readonly #end = new AbortController()
  sent = 0
  failed = 0
  /** Partners whose creation was acknowledged, by name. */
  readonly created = new Map<string, number>()

  constructor(options: SteadyLoadOptions) {
    this.#options = options
    this.#ended = Promise.all(Array.from({ length: clients }, (_, client) => this.#run(client)))
  }

  /** The first failures. */
  get failures(): readonly string[] {
    return this.#failures
  }

  async end(): Promise<void> {
    this.#end.abort()
    await this.#ended
  }

  /** Each client sends a request in its turn, so that no connection stays idle for longer than an interval. */
  async #run(client: number): Promise<void> {
    const agent = client < keepAliveClients ? new Agent({ keepAlive: true, maxSockets: 1 }) : (false as const)
    const intervalMs = (clients / this.#options.requestsPerSecond) * 1000
    const startedAt = performance.now() + (client / clients) * intervalMs
    for (let n = 0; !this.#end.signal.aborted; n++) {
      await sleep(Math.max(0, startedAt + n * intervalMs - performance.now()))
      // Three of four requests read.
      if (n % 4 === 3) await this.#create(agent, `partner ${client} ${n}`)
      else await this.#send(agent, 'GET', `${lists}?page=${1 + (n % 10)}`)
    }
    if (agent !== false) agent.destroy()
  }

  async #create(agent: Agent | false, name: string): Promise<void> {
    const response = await this.#send(agent, 'POST', partners, JSON.stringify({ name }))
    if (response?.status !== 201) return
    const body: { data?: { id?: number } } | number = JSON.parse(response.text)
    this.created.set(name, typeof body === 'number' ? body : (body.data?.id ?? 0))
  }

  async #send(
    agent: Agent | false,
    method: string,
    path: string,
    body?: string,
  ): Promise<HttpResponse | undefined> {
    this.sent++
    try {
      const response = await this.#exchange(agent, method, path, body)
      if (response.status !== 200 && response.status !== 201) {
        this.#fail(`${method} ${path}: ${response.status} ${response.text.slice(0, 200)}`)
      }
      return response
    } catch (error) {
      this.#fail(`${method} ${path}: ${error instanceof Error ? error.message : String(error)}`)
      return undefined
    }
  }

  #fail(text: string): void {
    this.failed++
    if (this.#failures.length < 20) this.#failures.push(`${new Date().toISOString()} ${text}`)
  }

  #exchange(agent: Agent | false, method: string, path: string, body?: string): Promise<HttpResponse> {
    const { port, account, key } = this.#options
    const headers = {
      host: `${account}.localhost`,
      authorization: `Bearer ${key}`,
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    return exchange(request({ host: '127.0.0.1', port, agent, method, path, headers }), body)
  }
}
