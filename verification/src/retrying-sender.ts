import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, HttpRequest, HttpResponse } from './client.ts'
import { grouped } from './progress.ts'
import type { Random } from './random.ts'
import type { ServerProcess } from './service.ts'

/** Retries at any of the servers, after a broken connection, 429, 5xx, or 409 for a request that is still running, until the outcome is known. */
export class RetryingSender {
  readonly #client: Client
  readonly #servers: readonly ServerProcess[]
  readonly #reasons = new Map<string, number>()
  retries = 0

  constructor(client: Client, servers: readonly ServerProcess[]) {
    this.#client = client
    this.#servers = servers
  }

  async send(sent: Omit<HttpRequest, 'port'>, random: Random): Promise<HttpResponse> {
    const until = Date.now() + 120_000
    for (;;) {
      const { port } = random.pick(this.#servers)
      let reason: string
      try {
        const response = await this.#client.send({ ...sent, port })
        if (!isRetried(response) || Date.now() > until) return response
        reason = String(response.status)
      } catch (error) {
        if (Date.now() > until) throw error
        reason = codeOf(error)
      }
      this.retries += 1
      this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1)
      await sleep(random.integer(20, 200))
    }
  }

  reasons(): string {
    return [...this.#reasons].map(([reason, count]) => `${reason}: ${grouped(count)}`).join(', ')
  }
}

function isRetried({ status, text }: HttpResponse): boolean {
  return status === 429 || status >= 500 || (status === 409 && text.includes('"idempotency_conflict"'))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'broken'
}
