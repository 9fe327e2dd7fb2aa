import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, headersFor } from '../../client.ts'
import { partnerPath } from '../../fresh/read.ts'

/** Creates partners one after the other, and retries each until it is acknowledged. */
export class PartnerWriter {
  readonly #client: Client
  readonly #ports: readonly number[]
  readonly #headers: readonly string[]
  /** The id of each acknowledged name. */
  readonly created = new Map<string, number>()
  #running: Promise<void> | undefined
  #isPaused = true
  #names = 0

  constructor(client: Client, ports: readonly number[], account: string, key: string) {
    this.#client = client
    this.#ports = ports
    this.#headers = headersFor(account, key)
  }

  resume(): void {
    this.#isPaused = false
    this.#running = this.#write()
    // `pause` throws the error.
    this.#running.catch(() => {})
  }

  /** Resolves when no create is in flight. */
  async pause(): Promise<void> {
    this.#isPaused = true
    await this.#running
  }

  async #write(): Promise<void> {
    while (!this.#isPaused) {
      await this.create()
      await sleep(5)
    }
  }

  async create(label = 'created'): Promise<void> {
    this.#names += 1
    const name = `${label} ${this.#names}`
    const port = this.#ports[this.#names % this.#ports.length] ?? 0
    const end = Date.now() + 120_000
    for (;;) {
      const { status, text } = await this.#client.send({
        port,
        method: 'POST',
        path: partnerPath,
        headers: [...this.#headers, 'Content-Type', 'application/json', 'Idempotency-Key', name],
        body: JSON.stringify({ name }),
      })
      if (status === 201) {
        const { data }: { data: { id: number } } = JSON.parse(text)
        this.created.set(name, data.id)
        return
      }
      if ((status < 500 && status !== 409) || Date.now() > end)
        throw new Error(`create ${name}: ${status} ${text.slice(0, 300)}`)
      await sleep(50)
    }
  }
}
