import type { Answer, Client } from '../client.ts'

export interface MadeKey {
  readonly key: string
  readonly key_id: string
}

/** An account as its administrator works on it, by HTTP. */
export class Managed {
  readonly name: string
  readonly #key: string
  readonly #client: Client

  constructor(client: Client, name: string, key: string) {
    this.#client = client
    this.name = name
    this.#key = key
  }

  ask(port: number, path: string, key = this.#key, more: readonly string[] = []): Promise<Answer> {
    return this.#client.ask({ port, path, headers: [...this.#headers(key), ...more] })
  }

  /** What a POST makes; its body is JSON, or nothing. */
  async post(
    port: number,
    path: string,
    body: object | undefined,
    more: readonly string[] = [],
  ): Promise<MadeKey> {
    const json = body === undefined ? [] : ['Content-Type', 'application/json']
    const headers = [...this.#headers(this.#key), ...json, ...more]
    const text = body === undefined ? '' : JSON.stringify(body)
    const answer = await this.#client.ask({ port, method: 'POST', path, headers, body: text })
    if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
    const { data }: { data: MadeKey } = JSON.parse(answer.text)
    return data
  }

  makeKey(port: number, scopes: readonly string[] = ['product:read']): Promise<MadeKey> {
    return this.post(port, '/manage/v1/keys', { name: 'check', scopes })
  }

  #headers(key: string): string[] {
    return ['Host', `${this.name}.localhost`, 'Authorization', `Bearer ${key}`]
  }
}
