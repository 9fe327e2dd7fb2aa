import { type Client, type HttpResponse, headersFor } from '../client.ts'

export interface CreatedKey {
  readonly key: string
  readonly key_id: string
}

/** Sends requests to an account with its administrator's key. */
export class Managed {
  readonly name: string
  readonly #key: string
  readonly #client: Client

  constructor(client: Client, name: string, key: string) {
    this.#client = client
    this.name = name
    this.#key = key
  }

  get(port: number, path: string, key = this.#key): Promise<HttpResponse> {
    return this.#client.sendUntilAccepted({ port, path, headers: headersFor(this.name, key) })
  }

  /** Sends a POST with a JSON body or an empty one, and returns `data` of the response. */
  async post(
    port: number,
    path: string,
    body: object | undefined,
    more: readonly string[] = [],
  ): Promise<CreatedKey> {
    const json = body === undefined ? [] : ['Content-Type', 'application/json']
    const headers = [...headersFor(this.name, this.#key), ...json, ...more]
    const text = body === undefined ? '' : JSON.stringify(body)
    const response = await this.#client.sendUntilAccepted({ port, method: 'POST', path, headers, body: text })
    if (response.status >= 300) throw new Error(`POST ${path}: ${response.status} ${response.text}`)
    const { data }: { data: CreatedKey } = JSON.parse(response.text)
    return data
  }

  createKey(port: number, scopes: readonly string[] = ['product:read']): Promise<CreatedKey> {
    return this.post(port, '/manage/v1/keys', { name: 'check', scopes })
  }
}
