import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** What is asked of the service, over and over: the settings of `lua/requests.lua`. */
export interface Requests {
  readonly shape: 'list' | 'cold' | 'one' | 'create'
  readonly path: string
  readonly accounts: string
  /** A file with orders of the fields, and how many of them are used: each is a statement of its own to the engine. */
  readonly orders?: string
  readonly forms?: number
  readonly query?: string
  readonly pages?: number
  readonly ids?: number
  readonly body?: string
}

export interface WrkResult {
  readonly requests: number
  /** How many different requests there were to send. */
  readonly space: number
  readonly seconds: number
  readonly bytes: number
  /** Connections that failed, broke or timed out. */
  readonly broken: number
  /** Answers of status 400 and above. */
  readonly refused: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  /** Zero unless they were counted. */
  readonly statuses: Readonly<Record<'200' | '201' | '304' | 'other', number>>
}

/** Until the engine has compiled what is asked most: the rate of a new process grows for some seconds. */
const warmUpSeconds = 5

const script = fileURLToPath(new URL('../lua/requests.lua', import.meta.url))
const run = promisify(execFile)

/** wrk against one server, with a walk through its requests that goes on where the run before ended. */
export class Wrk {
  readonly #port: number
  readonly #requests: Requests
  readonly #clients: number
  #sent = 0
  /** Bytes of an answer, on average, in the run whose answers were counted. */
  #answerBytes: number | undefined

  constructor(port: number, requests: Requests, clients: number) {
    this.#port = port
    this.#requests = requests
    this.#clients = clients
  }

  /** Warms up, and counts what the answers are: all of them must have this status. */
  async prove(status: '200' | '201' | '304', requestsMin = 1): Promise<void> {
    let seen = 0
    do {
      const result = await this.#run(warmUpSeconds, true)
      const { [status]: right, ...wrong } = result.statuses
      if (right === 0 || Object.values(wrong).some((count) => count > 0)) {
        throw new Error(`not only ${status}: ${JSON.stringify(result.statuses)}`)
      }
      this.#answerBytes = result.bytes / result.requests
      seen += result.requests
    } while (seen < requestsMin)
  }

  /** One measured run. Answers are not looked at, so they must be as long as those of the run that counted them. */
  async measure(seconds: number): Promise<WrkResult> {
    const result = await this.#run(seconds, false)
    const bytes = result.bytes / result.requests
    const expected = this.#answerBytes ?? bytes
    if (Math.abs(bytes / expected - 1) > 0.03) {
      throw new Error(`answers of ${bytes.toFixed(0)} bytes, where ${expected.toFixed(0)} were right`)
    }
    if (isCold(this.#requests) && result.requests > result.space) {
      throw new Error(`${result.requests} requests of ${result.space}: some were sent twice`)
    }
    return result
  }

  async rate(seconds: number): Promise<number> {
    const result = await this.measure(seconds)
    return result.requests / result.seconds
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
    if (line === undefined) throw new Error(`wrk gave no result:\n${stdout}`)
    const result: WrkResult = JSON.parse(line)
    this.#sent += result.requests
    if (result.requests === 0 || result.broken > 0 || result.refused > 0) {
      throw new Error(`wrk: ${result.requests} answers, ${result.refused} refused, ${result.broken} broken`)
    }
    return result
  }
}

function isCold({ shape }: Requests): boolean {
  return shape === 'cold' || shape === 'one'
}
