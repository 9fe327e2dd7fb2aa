import { type Client, type HttpResponse, headersFor } from '../client.ts'
import type { Service } from '../service.ts'

const partners = '/api/v1/resources/partner'

/** An account of these checks, and what a client that only adds partners knows about it. */
export class GrowingAccount {
  readonly name: string
  readonly #key: string
  readonly #client: Client
  /** Creates that were acknowledged, and those whose outcome is unknown. */
  acknowledged = 0
  unknown = 0

  private constructor(name: string, key: string, client: Client) {
    this.name = name
    this.#key = key
    this.#client = client
  }

  static async create(service: Service, client: Client, name: string): Promise<GrowingAccount> {
    return new GrowingAccount(name, await service.account(name), client)
  }

  create(port: number): Promise<HttpResponse> {
    const headers = [...headersFor(this.name, this.#key), 'Content-Type', 'application/json']
    const body = JSON.stringify({ name: `partner ${this.acknowledged + this.unknown + 1}` })
    return this.#client.send({ port, method: 'POST', path: partners, headers, body })
  }

  list(port: number, etag?: string): Promise<HttpResponse> {
    const condition = etag === undefined ? [] : ['If-None-Match', etag]
    return this.get(port, `${partners}?limit=1`, condition)
  }

  get(port: number, path: string, more: readonly string[] = []): Promise<HttpResponse> {
    return this.#client.send({ port, path, headers: [...headersFor(this.name, this.#key), ...more] })
  }
}

/** Accounts until each of the workers has at least `each` of them. */
export async function accountsOnEach(
  service: Service,
  client: Client,
  workers: number,
  each: number,
  workerOf: (name: string) => Promise<{ readonly port: number }>,
): Promise<Map<number, GrowingAccount[]>> {
  const found = new Map<number, GrowingAccount[]>()
  for (let n = 0; n < 40; n++) {
    const account = await GrowingAccount.create(service, client, `account-${n}`)
    const { port } = await workerOf(account.name)
    found.set(port, [...(found.get(port) ?? []), account])
    if (found.size === workers && [...found.values()].every((some) => some.length >= each)) return found
  }
  throw new Error('no accounts on some worker')
}

export function totalIn({ text }: HttpResponse): number {
  const { meta }: { meta: { total: number } } = JSON.parse(text)
  if (!Number.isInteger(meta.total)) throw new Error(`a list without a total: ${text.slice(0, 300)}`)
  return meta.total
}
