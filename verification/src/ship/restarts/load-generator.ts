import { setTimeout as sleep } from 'node:timers/promises'
import type { Progress } from '../../progress.ts'
import { waitUntil } from '../../wait-until.ts'

export interface LoadOptions {
  /** Each client has at most one request in flight. A slow machine gets fewer requests per second, not more in flight. */
  readonly clients: number
  /** Of all clients together. If not set, clients send without pauses. */
  readonly requestsPerSecond?: number
  /** Sends one request, and throws if it fails or if its response is not the expected one. */
  readonly send: (number: number, client: number) => Promise<unknown>
  readonly progress?: Progress
}

const failuresReportedMax = 10

/** Sends requests at a constant rate from its creation until `end`, without retries, and counts those that fail. */
export class LoadGenerator {
  readonly #options: LoadOptions
  readonly #running: Promise<unknown>
  readonly #startedAt = performance.now()
  #isEnding = false
  #endedAt: number | undefined
  sent = 0
  failed = 0
  slowestMs = 0
  /** The first ones. */
  readonly failures: string[] = []

  constructor(options: LoadOptions) {
    this.#options = options
    this.#running = Promise.all(Array.from({ length: options.clients }, (_, client) => this.#run(client)))
  }

  get requestsPerSecond(): number {
    return this.sent / (((this.#endedAt ?? performance.now()) - this.#startedAt) / 1000)
  }

  /** Resolves when `count` more requests have been sent. */
  async more(count: number): Promise<void> {
    const goal = this.sent + count
    await waitUntil(async () => this.sent >= goal || this.#isEnding, 1_800_000)
  }

  /** Resolves when no request is in flight. */
  async end(): Promise<void> {
    this.#isEnding = true
    await this.#running
    if (this.#endedAt !== undefined) return
    this.#endedAt = performance.now()
    this.#options.progress?.end()
  }

  async #run(client: number): Promise<void> {
    const { requestsPerSecond, send, progress } = this.#options
    while (!this.#isEnding) {
      const number = this.sent++
      if (requestsPerSecond !== undefined) {
        const dueAt = this.#startedAt + (number / requestsPerSecond) * 1000
        await sleep(Math.max(0, dueAt - performance.now()))
      }
      const startedAt = performance.now()
      try {
        await send(number, client)
      } catch (error) {
        this.failed++
        if (this.failures.length < failuresReportedMax)
          this.failures.push(`${new Date().toISOString()} request ${number}: ${messageOf(error)}`)
      }
      progress?.step()
      this.slowestMs = Math.max(this.slowestMs, performance.now() - startedAt)
    }
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** Throws if the status is not the expected one. */
export function expectStatus(response: { status: number; text: string }, ...expected: number[]): void {
  if (!expected.includes(response.status))
    throw new Error(`${response.status} ${response.text.slice(0, 200)}`)
}
