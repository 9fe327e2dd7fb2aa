import { Agent, request } from 'node:http'
import { exchange, type HttpResponse } from '../../client.ts'
import { expectStatus, LoadGenerator } from './load-generator.ts'

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

/** Reads and creates at a constant rate. A request fails if its connection is refused or reset, and if its status is unexpected. */
export class SteadyLoad {
  readonly generator: LoadGenerator
  readonly #options: SteadyLoadOptions
  readonly #agents = Array.from(
    { length: keepAliveClients },
    () => new Agent({ keepAlive: true, maxSockets: 1 }),
  )
  /** Partners whose creation was acknowledged, by name. */
  readonly created = new Map<string, number>()

  constructor(options: SteadyLoadOptions) {
    this.#options = options
    this.generator = new LoadGenerator({
      clients,
      requestsPerSecond: options.requestsPerSecond,
      // Three of four requests read.
      send: (number, client) =>
        number % 4 === 3 ? this.#create(number, client) : this.#read(number, client),
    })
  }

  async end(): Promise<void> {
    await this.generator.end()
    for (const agent of this.#agents) agent.destroy()
  }

  async #read(number: number, client: number): Promise<void> {
    expectStatus(await this.#exchange(client, 'GET', `${lists}?page=${1 + (number % 10)}`), 200)
  }

  async #create(number: number, client: number): Promise<void> {
    const name = `partner ${number}`
    const response = await this.#exchange(client, 'POST', partners, JSON.stringify({ name }))
    expectStatus(response, 201)
    const { data }: { data: { id: number } } = JSON.parse(response.text)
    this.created.set(name, data.id)
  }

  #exchange(client: number, method: string, path: string, body?: string): Promise<HttpResponse> {
    const { port, account, key } = this.#options
    const headers = {
      host: `${account}.localhost`,
      authorization: `Bearer ${key}`,
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    const agent = this.#agents[client] ?? false
    return exchange(request({ host: '127.0.0.1', port, agent, method, path, headers }), body)
  }
}
