import { type Client, type HttpResponse, headersFor } from '../../client.ts'
import { partnerPath } from '../../fresh/read.ts'
import { Random } from '../../random.ts'
import type { Balancer } from './balancer.ts'
import { expectStatus, LoadGenerator } from './load-generator.ts'

const productPath = '/api/v1/inventory/product'
/** A small number, so that a busy machine is not overloaded: an account may run two writes at a time. */
const clients = 4

/**
 * Lists, records, conditional requests, statistics and creates, without pauses. A request has failed if its response
 * is not the expected one.
 */
export class MixedLoad {
  readonly generator: LoadGenerator
  readonly #client: Client
  readonly #balancer: Balancer
  readonly #headers: readonly string[]
  readonly #random: Random
  /** The id of each acknowledged create. */
  readonly created = new Map<string, number>()
  readonly byRelease = new Map<string, number>()
  #etag = '"none"'

  constructor(client: Client, balancer: Balancer, account: string, key: string, seed: number) {
    this.#client = client
    this.#balancer = balancer
    this.#headers = headersFor(account, key)
    this.#random = new Random(seed, 91)
    this.generator = new LoadGenerator({ clients, send: (number) => this.#send(number) })
  }

  async #send(number: number): Promise<void> {
    if (number % 5 === 0) await this.#create(`created ${number}`)
    else if (number % 5 === 1) await this.#total()
    else await this.#read()
  }

  async #create(name: string): Promise<void> {
    const response = await this.#request(
      'POST',
      partnerPath,
      ['Idempotency-Key', name],
      JSON.stringify({ name }),
    )
    expectStatus(response, 201)
    const { data }: { data: { id: number } } = JSON.parse(response.text)
    this.created.set(name, data.id)
  }

  /** A total must include every create that was acknowledged before the request was sent, by whichever version. */
  async #total(): Promise<void> {
    const least = this.created.size
    const response = await this.#request('GET', `${partnerPath}?fields=id&limit=1`, [
      'If-None-Match',
      this.#etag,
    ])
    if (response.status === 304) return
    expectStatus(response, 200)
    this.#etag = String(response.headers['etag'])
    const { meta }: { meta: { total: number } } = JSON.parse(response.text)
    if (meta.total < least) throw new Error(`a total of ${meta.total} after ${least} creates`)
  }

  async #read(): Promise<void> {
    const page = this.#random.integer(1, 40)
    const path = this.#random.pick([
      `${productPath}?page=${page}`,
      `${productPath}?fields=id,name&limit=50&filter=${encodeURIComponent(`list_price>${page}`)}`,
      `${productPath}/${page}`,
      `${partnerPath}?filter=${encodeURIComponent('name*"created"')}`,
      '/manage/v1/usage?limit=5',
      '/manage/v1/requests?limit=5',
      '/manage/v1/keys',
    ])
    expectStatus(await this.#request('GET', path), 200)
  }

  async #request(
    method: string,
    path: string,
    headers: readonly string[] = [],
    body?: string,
  ): Promise<HttpResponse> {
    const type = body === undefined ? [] : ['Content-Type', 'application/json']
    return await this.#balancer.send(async ({ port, release }) => {
      this.byRelease.set(release, (this.byRelease.get(release) ?? 0) + 1)
      const all = [...this.#headers, ...headers, ...type]
      return await this.#client.send({
        port,
        method,
        path,
        headers: all,
        ...(body === undefined ? {} : { body }),
      })
    })
  }
}
