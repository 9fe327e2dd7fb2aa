import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** The requests that wrk repeats: settings of `lua/requests.lua`. */
export interface Requests {
  readonly shape: 'list' | 'cold' | 'one' | 'create'
  readonly path: string
  readonly accounts: string
  /** A file with orders of the fields, and the number of orders to use. Each order is a separate statement. */
  readonly orders?: string
  readonly forms?: number
  readonly query?: string
  readonly pages?: number
  readonly ids?: number
  readonly body?: string
}

export interface WrkResult {
  readonly requests: number
  /** The number of distinct requests. */
  readonly space: number
  readonly seconds: number
  readonly bytes: number
  /** Connections that failed, broke or timed out. */
  readonly broken: number
  /** Responses with status 400 or above. */
  readonly errors: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  /** Zero in runs that do not count statuses. */
  readonly statuses: Readonly<Record<'200' | '201' | '304' | 'other', number>>
}

/** The rate of a new process grows for several seconds, until V8 has compiled its hot functions. */
const warmUpSecondsFull = 5

const script = fileURLToPath(new URL('../lua/requests.lua', import.meta.url))
const run = promisify(execFile)

/** Runs wrk against one server. Each run continues with the requests after those of the run before. */
export class Wrk {
  readonly #port: number
  readonly #requests: Requests
  readonly #clients: number
  #sent = 0
  /** Mean size of a response in the run that counted statuses. */
  #responseBytes: number | undefined

  constructor(port: number, requests: Requests, clients: number) {
    this.#port = port
    this.#requests = requests
    this.#clients = clients
  }

  /** Warms up and counts statuses: all responses must have this status. */
  async verify(
    status: '200' | '201' | '304',
    { requestsMin = 1, warmUpSeconds = warmUpSecondsFull } = {},
  ): Promise<void> {
    let seen = 0
    do {
      const result = await this.#run(warmUpSeconds, true)
      const { [status]: right, ...wrong } = result.statuses
      if (right === 0 || Object.values(wrong).some((count) => count > 0)) {
        throw new Error(`expected only ${status}: ${JSON.stringify(result.statuses)}`)
      }
      this.#responseBytes = result.bytes / result.requests
      seen += result.requests
    } while (seen < requestsMin)
  }

  /** One measured run. Instead of the statuses it compares the mean size of the responses with the run that counted them. */
  async measure(seconds: number): Promise<WrkResult> {
    const result = await this.#run(seconds, false)
    const bytes = result.bytes / result.requests
    const expected = this.#responseBytes ?? bytes
    if (Math.abs(bytes / expected - 1) > 0.03) {
      throw new Error(`responses of ${bytes.toFixed(0)} bytes instead of ${expected.toFixed(0)}`)
    }
    if (isCold(this.#requests) && result.requests > result.space) {
      throw new Error(`${result.requests} requests, but only ${result.space} distinct ones`)
    }
    return result
  }

  async #run(seconds: number, count: boolean): Promise<WrkResult> {
    const threads = Math.min(2, this.#clients)
    const settings = { ...this.#requests, threads, start: this.#sent, query: this.#requests.query ?? '' }
    const { stdout } = await run('wrk', [
      `-t${threads}`,
      `-c${this.#clients}`,
      `-d${seconds}s`,
      '--timeout',
      '20s',
      '-s',
      script,
      `http://127.0.0.1:${this.#port}`,
      '--',
      ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
      ...(count ? ['count=yes'] : []),
    ])
    const line = /^RESULT (.*)$/m.exec(stdout)?.[1]
    if (line === undefined) throw new Error(`wrk printed no result:\n${stdout}`)
    const result: WrkResult = JSON.parse(line)
    this.#sent += result.requests
    if (result.requests === 0 || result.broken > 0 || result.errors > 0) {
      throw new Error(`wrk: ${result.requests} responses, ${result.errors} errors, ${result.broken} broken`)
    }
    return result
  }
}

function isCold({ shape }: Requests): boolean {
  return shape === 'cold' || shape === 'one'
}
