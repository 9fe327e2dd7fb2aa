import { type Client, type HttpResponse, headersFor } from '../client.ts'
import { partnerPath } from '../fresh/read.ts'
import { Random } from '../random.ts'
import { waitUntil } from '../wait-until.ts'
import type { Balancer } from './balancer.ts'

const productPath = '/api/v1/inventory/product'
/** A small number, so that a busy machine is not overloaded: an account may run two writes at a time. */
const workers = 4

/**
 * Lists, records, conditional requests, statistics and creates, by four workers without pauses. A request has failed if its
 * response is not the expected one: none is retried.
 */
export class MixedLoad {
  readonly #client: Client
  readonly #balancer: Balancer
  readonly #headers: readonly string[]
  readonly #random: Random
  readonly #running: Promise<unknown>
  /** The id of each acknowledged create. */
  readonly created = new Map<string, number>()
  readonly byRelease = new Map<string, number>()
  readonly faults: string[] = []
  requests = 0
  failed = 0
  #isRunning = true
  #etag = '"none"'

  constructor(client: Client, balancer: Balancer, account: string, key: string, seed: number) {
    this.#client = client
    this.#balancer = balancer
    this.#headers = headersFor(account, key)
    this.#random = new Random(seed, 91)
    const running = Array.from({ length: workers }, () => this.#work())
    this.#running = Promise.all(running)
    this.#running.catch(() => {})
  }

  /** Resolves when `count` more requests have been sent. */
  async more(count: number): Promise<void> {
    const goal = this.requests + count
    await waitUntil(async () => this.requests >= goal || !this.#isRunning, 1_800_000)
  }

  async end(): Promise<void> {
    this.#isRunning = false
    await this.#running
  }

  async #work(): Promise<void> {
    while (this.#isRunning) {
      this.requests += 1
      await this.#one(this.requests)
    }
  }

  async #one(number: number): Promise<void> {
    try {
      if (number % 5 === 0) await this.#create(`created ${number}`)
      else if (number % 5 === 1) await this.#total()
      else await this.#read()
    } catch (error) {
      this.#fail(`request ${number}: ${String(error)}`)
    }
  }

  async #create(name: string): Promise<void> {
    const response = await this.#request(
      'POST',
      partnerPath,
      ['Idempotency-Key', name],
      JSON.stringify({ name }),
    )
    if (response.status !== 201) return this.#fail(`create: ${describe(response)}`)
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
    if (response.status !== 200) return this.#fail(`total: ${describe(response)}`)
    this.#etag = String(response.headers['etag'])
    const { meta }: { meta: { total: number } } = JSON.parse(response.text)
    if (meta.total < least) this.#fail(`a total of ${meta.total} after ${least} creates`)
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
    const response = await this.#request('GET', path)
    if (response.status !== 200) this.#fail(`${path}: ${describe(response)}`)
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

  #fail(what: string): void {
    this.failed += 1
    if (this.faults.length < 10) this.faults.push(what)
  }
}

function describe({ status, text }: HttpResponse): string {
  return `${status} ${text.slice(0, 200)}`
}
