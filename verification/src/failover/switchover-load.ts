import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, HttpRequest, HttpResponse } from '../client.ts'
import { partnerPath } from '../fresh/read.ts'
import { Random } from '../random.ts'
import { waitUntil } from '../wait-until.ts'

const creatorsPerPort = 2
const readersPerPort = 2
/** Interval of creates at each process that are sent without waiting for earlier ones: they show when writes work again. */
const probeMs = 100
const probesInFlightMax = 40
/** How long a create or read is retried before the check fails. */
const retryMsMax = 120_000

interface Acknowledged {
  readonly port: number
  readonly sentAt: number
}

interface LoadOptions {
  readonly client: Client
  readonly ports: readonly number[]
  readonly headers: readonly string[]
  readonly seed: number
  /** A prefix of every name and Idempotency-Key, so that loads do not share them. */
  readonly label: string
}

/**
 * Sends creates with Idempotency-Keys and reads to all processes, until `end`. Every acknowledged create must be visible
 * to all requests that are sent later, to any process.
 */
export class SwitchoverLoad {
  readonly #options: LoadOptions
  readonly #running: Promise<unknown>
  readonly #acknowledgements: Acknowledged[] = []
  /** The acknowledged id of each name. */
  readonly created = new Map<string, number>()
  readonly faults: string[] = []
  stale = 0
  duplicated = 0
  /** Stale responses to requests that were sent while a process may still use the old primary. */
  tolerated = 0
  requests = 0
  unavailable = 0
  slowestMs = 0
  slowest = ''
  #isRunning = true
  #names = 0
  /** Until this time a process may not have noticed that the address has moved. */
  #tolerateUntil = 0

  constructor(options: LoadOptions) {
    this.#options = options
    const workers = options.ports.flatMap((port, at) => [
      ...Array.from({ length: creatorsPerPort }, (_, n) =>
        this.#create(port, new Random(options.seed, 71, at, n)),
      ),
      ...Array.from({ length: readersPerPort }, (_, n) =>
        this.#read(port, new Random(options.seed, 72, at, n)),
      ),
      this.#probe(port),
    ])
    this.#running = Promise.all(workers)
    // Prevents an unhandled rejection; `end` throws the error.
    this.#running.catch(() => {})
  }

  tolerate(ms: number): void {
    this.#tolerateUntil = performance.now() + ms
  }

  /** Milliseconds from `since` until every process has acknowledged a create that was sent after it. */
  async writesAgain(since: number): Promise<number> {
    const isBack = (port: number) =>
      this.#acknowledgements.some((one) => one.port === port && one.sentAt >= since)
    await waitUntil(async () => this.#options.ports.every(isBack), retryMsMax)
    return performance.now() - since
  }

  async end(): Promise<void> {
    this.#isRunning = false
    await this.#running
  }

  /** Retries a create until it is acknowledged, then reads the record from a random process. */
  async #create(port: number, random: Random): Promise<void> {
    while (this.#isRunning) {
      const name = this.#name()
      const acknowledged = await this.#retry(`create ${name}`, random, async () => this.#post(port, name))
      if (acknowledged) await this.#verifyCreated(random.pick(this.#options.ports), name, random)
      await sleep(random.integer(20, 60))
    }
  }

  async #probe(port: number): Promise<void> {
    const inFlight = new Set<Promise<unknown>>()
    while (this.#isRunning) {
      if (inFlight.size < probesInFlightMax) {
        const one: Promise<unknown> = this.#post(port, this.#name()).finally(() => inFlight.delete(one))
        inFlight.add(one)
      }
      await sleep(probeMs)
    }
    await Promise.all(inFlight)
  }

  async #read(port: number, random: Random): Promise<void> {
    const totals = new Map<string, number>()
    while (this.#isRunning) {
      if (random.chance(0.5)) await this.#readTotal(port, totals)
      else await this.#readOne(port, random)
      await sleep(random.integer(10, 40))
    }
  }

  /** Returns whether the create was acknowledged. After any other response its outcome is unknown. */
  async #post(port: number, name: string): Promise<boolean> {
    const sentAt = performance.now()
    const response = await this.#send({
      port,
      method: 'POST',
      path: partnerPath,
      headers: ['Content-Type', 'application/json', 'Idempotency-Key', `key of ${name}`],
      body: JSON.stringify({ name }),
    })
    if (response?.status !== 201) {
      // 409: an earlier attempt is still in flight. 429: too many requests of the account are.
      if (
        response !== undefined &&
        response.status < 500 &&
        response.status !== 409 &&
        response.status !== 429
      )
        this.#fault(`create ${name} at ${port}: ${response.status} ${response.text.slice(0, 200)}`)
      return false
    }
    const { data }: { data: { id: number } } = JSON.parse(response.text)
    const before = this.created.get(name)
    if (before !== undefined && before !== data.id) {
      this.duplicated += 1
      this.#fault(`duplicated: ${name} was acknowledged as ${before} and as ${data.id}`)
    }
    this.created.set(name, data.id)
    this.#acknowledgements.push({ port, sentAt })
    return true
  }

  async #verifyCreated(port: number, name: string, random: Random): Promise<void> {
    const path = `${partnerPath}?fields=id,name&filter=name=${name}`
    const id = this.created.get(name)
    await this.#retry(`find ${name}`, random, async () => {
      const sentAt = performance.now()
      const response = await this.#send({ port, path, headers: [] })
      if (response?.status !== 200) return false
      const { data, meta }: { data: { id: number }[]; meta: { total: number } } = JSON.parse(response.text)
      if (meta.total > 1) {
        this.duplicated += 1
        this.#fault(`duplicated: ${name} is stored as ${data.map((one) => one.id).join()}`)
      } else if (meta.total !== 1 || data[0]?.id !== id)
        this.#stale(sentAt, `${name} (${id}) at ${port}: ${response.text}`)
      return true
    })
  }

  async #readTotal(port: number, totals: Map<string, number>): Promise<void> {
    const [sentAt, least] = [performance.now(), this.created.size]
    const tags = [...totals.keys()].slice(-5)
    const headers = tags.length === 0 ? [] : ['If-None-Match', tags.join(', ')]
    const response = await this.#send({ port, path: `${partnerPath}?fields=id&limit=3`, headers })
    if (response?.status !== 200 && response?.status !== 304) return
    const etag = String(response.headers['etag'])
    if (response.status === 200) {
      const { meta }: { meta: { total: number } } = JSON.parse(response.text)
      totals.delete(etag)
      totals.set(etag, meta.total)
    }
    const total = totals.get(etag) ?? -1
    if (total < least)
      this.#stale(
        sentAt,
        `a total of ${total} at ${port} by ${response.status}, after ${least} acknowledged creates`,
      )
  }

  async #readOne(port: number, random: Random): Promise<void> {
    if (this.created.size === 0) return
    const sentAt = performance.now()
    // One of the newest, which an old primary may lack.
    const [name, id] =
      [...this.created].slice(-20)[random.integer(0, Math.min(19, this.created.size - 1))] ?? []
    const response = await this.#send({ port, path: `${partnerPath}/${id}?fields=name`, headers: [] })
    if (response?.status === 200 && JSON.parse(response.text).data.name === name) return
    if (response?.status === 200 || response?.status === 404)
      this.#stale(
        sentAt,
        `${name} by its id ${id} at ${port}: ${response.status} ${response.text.slice(0, 150)}`,
      )
  }

  /** Repeats `attempt` until it succeeds, and fails the check if it never does. */
  async #retry(what: string, random: Random, attempt: () => Promise<boolean>): Promise<boolean> {
    const end = performance.now() + retryMsMax
    while (!(await attempt())) {
      if (!this.#isRunning) return false
      if (performance.now() > end) throw new Error(`${what}: no success within ${retryMsMax / 1000} s`)
      await sleep(random.integer(30, 100))
    }
    return true
  }

  /** Undefined if the connection to the process broke. */
  async #send(request: HttpRequest): Promise<HttpResponse | undefined> {
    const sentAt = performance.now()
    this.requests += 1
    let outcome = 'broken'
    try {
      const headers = [...this.#options.headers, ...request.headers]
      const response = await this.#options.client.send({ ...request, headers })
      outcome = `${response.status} ${response.status >= 400 ? response.text.slice(0, 300) : ''}`
      if (response.status >= 500) this.unavailable += 1
      const what = `${request.method ?? 'GET'} ${request.path}: ${outcome}`
      // The key is valid during the entire load, so that a 401 comes from stale data.
      if (response.status === 401) this.#stale(sentAt, what)
      if (response.status === 500) this.#fault(what)
      return response
    } catch (error) {
      this.unavailable += 1
      this.#fault(`${request.method ?? 'GET'} ${request.path}: ${String(error)}`)
      return undefined
    } finally {
      const tookMs = performance.now() - sentAt
      if (tookMs > this.slowestMs) {
        this.slowestMs = tookMs
        this.slowest = `${request.method ?? 'GET'} ${request.path} at ${request.port}: ${outcome}`
      }
    }
  }

  #stale(sentAt: number, what: string): void {
    if (sentAt < this.#tolerateUntil) {
      this.tolerated += 1
      return
    }
    this.stale += 1
    this.#fault(`stale: ${what.slice(0, 300)}`)
  }

  #fault(what: string): void {
    if (this.faults.length < 10) this.faults.push(what)
  }

  #name(): string {
    this.#names += 1
    return `${this.#options.label}x${this.#names}`
  }
}
