import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, SourceUnavailable, Stop } from '@quartermaster/sync'

/** An error of Odoo. Its `debug`, a traceback with paths, is left out. */
export class OdooError extends Error {
  override name = 'OdooError'
  readonly status: number
  /** Such as `odoo.exceptions.AccessError`. */
  readonly kind: string

  constructor(status: number, kind: string, message: string) {
    super(message.split('\n')[0])
    this.status = status
    this.kind = kind
  }

  get isAccess(): boolean {
    return this.status === 403
  }
}

export interface OdooAddress {
  readonly url: string
  readonly database: string
  readonly apiKey: string
  /** The share of one Odoo worker that the connector may keep busy, above 0 up to 1. */
  readonly share: number
  /** Ends pauses between attempts. */
  readonly signal?: AbortSignal
}

/** Longer than limit_time_real of an Odoo worker, 120 s: after that Odoo has given up. The first call to a worker loads the registry. */
const timeoutMs = 130_000
const attemptsMax = 5

/** Calls methods of models over JSON-2, one at a time. */
export class OdooApi implements Clock {
  readonly #address: OdooAddress
  #last: Promise<unknown> = Promise.resolve()
  /** How far Odoo's clock is ahead of ours, in seconds. */
  #ahead = 0
  #count = 0
  #ms = 0

  constructor(address: OdooAddress) {
    this.#address = address
  }

  now(): number {
    return Date.now() / 1000 + this.#ahead
  }

  get calls(): { count: number; seconds: number } {
    return { count: this.#count, seconds: this.#ms / 1000 }
  }

  /** The value that the method returns. The caller declares its type. */
  call(model: string, method: string, args: object): Promise<ReturnType<typeof JSON.parse>> {
    const called = this.#last.then(() => this.#call(`/json/2/${model}/${method}`, args))
    this.#last = called.catch(() => undefined)
    return called
  }

  /** The same, but without another attempt if the response is lost. */
  callOnce(model: string, method: string, args: object): Promise<ReturnType<typeof JSON.parse>> {
    const called = this.#last.then(() => this.#call(`/json/2/${model}/${method}`, args, 1))
    this.#last = called.catch(() => undefined)
    return called
  }

  /** The major version: 19. */
  async version(): Promise<number> {
    const response = await this.#fetch('/json/version', { method: 'GET' })
    const text = await response.text()
    try {
      return Number(JSON.parse(text).version_info[0])
    } catch {
      throw new Stop(
        'mapping_invalid',
        `${this.#address.url} does not respond like Odoo 19.`,
        'Check odoo.url. The connector needs the JSON-2 API of Odoo 19 or later.',
      )
    }
  }

  async #call(path: string, args: object, attempts = attemptsMax): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const began = performance.now()
      try {
        return await this.#attempt(path, args)
      } catch (error) {
        if (!(error instanceof SourceUnavailable) || attempt >= attempts) throw error
      } finally {
        const took = performance.now() - began
        this.#count++
        this.#ms += took
        const { share } = this.#address
        if (share < 1) await this.pause(took * (1 / share - 1))
      }
      await this.pause(250 * 2 ** attempt * (0.5 + Math.random()))
    }
  }

  /** Ends early, with an error, if the connector ends. */
  async pause(ms: number): Promise<void> {
    const { signal } = this.#address
    await sleep(ms, undefined, signal === undefined ? {} : { signal })
  }

  async #attempt(path: string, args: object): Promise<unknown> {
    const { apiKey, database } = this.#address
    const headers = {
      authorization: `bearer ${apiKey}`,
      'content-type': 'application/json',
      'x-odoo-database': database,
    }
    const began = Date.now()
    const response = await this.#fetch(path, { method: 'POST', headers, body: JSON.stringify(args) })
    this.#setClock(response, began)
    const text = await textOf(response)
    const body = parsed(text)
    if (response.ok && body !== undefined) return body.value
    throw this.#errorOf(response.status, body?.value)
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(this.#address.url + path, {
        ...init,
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      })
    } catch (error) {
      throw unavailable(error)
    }
  }

  /** The Date of a response has whole seconds, cut off. A slow response says little about now. */
  #setClock(response: Response, began: number): void {
    const date = Date.parse(response.headers.get('date') ?? '')
    if (!Number.isNaN(date) && Date.now() - began < 1000) this.#ahead = (date + 500 - Date.now()) / 1000
  }

  #errorOf(status: number, body: unknown): Error {
    const { name = '', message = '' } = isError(body) ? body : {}
    if (status === 401)
      return new Stop(
        'key_refused',
        'Odoo does not accept the API key.',
        'Create a new key for the connector’s user and set ODOO_KEY to it.',
      )
    if (status === 404 && body === undefined)
      return new Stop(
        'database_changed',
        `Odoo has no database ${this.#address.database} at ${this.#address.url}.`,
        'Check odoo.url and odoo.database.',
      )
    // Odoo has given up a transaction that others disturbed, or a proxy has no worker.
    const isTemporary = [429, 502, 503, 504].includes(status) || name.startsWith('psycopg2.')
    if (isTemporary || (body === undefined && status >= 500))
      return new SourceUnavailable(`Odoo responded with ${status} ${name}`)
    if (body === undefined)
      return new Stop('database_changed', `The response with ${status} is not from Odoo.`, 'Check odoo.url.')
    return new OdooError(status, name, message)
  }
}

function isError(body: unknown): body is { readonly name: string; readonly message: string } {
  return typeof body === 'object' && body !== null && 'name' in body && 'message' in body
}

async function textOf(response: Response): Promise<string> {
  try {
    return await response.text()
  } catch (error) {
    throw unavailable(error)
  }
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function unavailable(error: unknown): SourceUnavailable {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
  return new SourceUnavailable(`Odoo does not respond: ${cause}`)
}
