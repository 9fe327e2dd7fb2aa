import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer, Ask, Client } from '../client.ts'
import { partnerPath } from '../fresh/read.ts'
import { Random } from '../random.ts'
import { waitUntil } from '../replication/postgres-node.ts'

const creatorsPerPort = 2
const readersPerPort = 2
/** A create every so often at each process, whatever became of the ones before: shows when writes work again. */
const pulseMs = 100
const pulsesMax = 40
/** How long one create or read is tried again before the check gives up. */
const patienceMs = 120_000

interface Acknowledged {
  readonly port: number
  readonly sentAt: number
}

interface Parties {
  readonly client: Client
  readonly ports: readonly number[]
  readonly headers: readonly string[]
  readonly seed: number
  /** Begins every name and Idempotency-Key, so that loads are told apart. */
  readonly label: string
}

/**
 * Creates with Idempotency-Keys and reads, at all processes, until it is ended. Whatever was acknowledged must be in
 * every answer to a request that is sent later, to any process.
 */
export class SwitchoverLoad {
  readonly #parties: Parties
  readonly #running: Promise<unknown>
  readonly #acknowledgements: Acknowledged[] = []
  /** By name, the id that was acknowledged. */
  readonly created = new Map<string, number>()
  readonly faults: string[] = []
  stale = 0
  doubled = 0
  /** Stale answers to requests that were sent while an old primary may still be believed. */
  tolerated = 0
  requests = 0
  unavailable = 0
  slowestMs = 0
  slowest = ''
  #going = true
  #names = 0
  /** Until this time a process need not have noticed that the address has moved. */
  #tolerateUntil = 0

  constructor(parties: Parties) {
    this.#parties = parties
    const workers = parties.ports.flatMap((port, at) => [
      ...Array.from({ length: creatorsPerPort }, (_, n) =>
        this.#create(port, new Random(parties.seed, 71, at, n)),
      ),
      ...Array.from({ length: readersPerPort }, (_, n) =>
        this.#read(port, new Random(parties.seed, 72, at, n)),
      ),
      this.#pulse(port),
    ])
    this.#running = Promise.all(workers)
    // Told by `end`, which waits for it.
    this.#running.catch(() => {})
  }

  tolerate(ms: number): void {
    this.#tolerateUntil = performance.now() + ms
  }

  /** Milliseconds from `since` until each process has acknowledged a create that was sent after it; the longest. */
  async writesAgain(since: number): Promise<number> {
    const isBack = (port: number) =>
      this.#acknowledgements.some((one) => one.port === port && one.sentAt >= since)
    await waitUntil(async () => this.#parties.ports.every(isBack), patienceMs)
    return performance.now() - since
  }

  async end(): Promise<void> {
    this.#going = false
    await this.#running
  }

  /** Creates until acknowledged, then reads it from any process. */
  async #create(port: number, random: Random): Promise<void> {
    while (this.#going) {
      const name = this.#name()
      const acknowledged = await this.#untilAnswered(`create ${name}`, random, async () =>
        this.#post(port, name),
      )
      if (acknowledged) await this.#look(random.pick(this.#parties.ports), name, random)
      await sleep(random.integer(20, 60))
    }
  }

  async #pulse(port: number): Promise<void> {
    const underWay = new Set<Promise<unknown>>()
    while (this.#going) {
      if (underWay.size < pulsesMax) {
        const one: Promise<unknown> = this.#post(port, this.#name()).finally(() => underWay.delete(one))
        underWay.add(one)
      }
      await sleep(pulseMs)
    }
    await Promise.all(underWay)
  }

  async #read(port: number, random: Random): Promise<void> {
    const totals = new Map<string, number>()
    while (this.#going) {
      if (random.chance(0.5)) await this.#readTotal(port, totals)
      else await this.#readOne(port, random)
      await sleep(random.integer(10, 40))
    }
  }

  /** Whether it was acknowledged. An answer that says neither yes nor no leaves it open. */
  async #post(port: number, name: string): Promise<boolean> {
    const sentAt = performance.now()
    const answer = await this.#ask({
      port,
      method: 'POST',
      path: partnerPath,
      headers: ['Content-Type', 'application/json', 'Idempotency-Key', `key of ${name}`],
      body: JSON.stringify({ name }),
    })
    if (answer?.status !== 201) {
      // 409: the one before is still under way. 429: so many of the account are.
      if (answer !== undefined && answer.status < 500 && answer.status !== 409 && answer.status !== 429)
        this.#fault(`create ${name} at ${port}: ${answer.status} ${answer.text.slice(0, 200)}`)
      return false
    }
    const { data }: { data: { id: number } } = JSON.parse(answer.text)
    const before = this.created.get(name)
    if (before !== undefined && before !== data.id) {
      this.doubled += 1
      this.#fault(`doubled: ${name} was acknowledged as ${before} and as ${data.id}`)
    }
    this.created.set(name, data.id)
    this.#acknowledgements.push({ port, sentAt })
    return true
  }

  async #look(port: number, name: string, random: Random): Promise<void> {
    const path = `${partnerPath}?fields=id,name&filter=name=${name}`
    const id = this.created.get(name)
    await this.#untilAnswered(`look for ${name}`, random, async () => {
      const sentAt = performance.now()
      const answer = await this.#ask({ port, path, headers: [] })
      if (answer?.status !== 200) return false
      const { data, meta }: { data: { id: number }[]; meta: { total: number } } = JSON.parse(answer.text)
      if (meta.total > 1) {
        this.doubled += 1
        this.#fault(`doubled: ${name} is there as ${data.map((one) => one.id).join()}`)
      } else if (meta.total !== 1 || data[0]?.id !== id)
        this.#stale(sentAt, `${name} (${id}) at ${port}: ${answer.text}`)
      return true
    })
  }

  async #readTotal(port: number, totals: Map<string, number>): Promise<void> {
    const [sentAt, least] = [performance.now(), this.created.size]
    const tags = [...totals.keys()].slice(-5)
    const headers = tags.length === 0 ? [] : ['If-None-Match', tags.join(', ')]
    const answer = await this.#ask({ port, path: `${partnerPath}?fields=id&limit=3`, headers })
    if (answer?.status !== 200 && answer?.status !== 304) return
    const etag = String(answer.headers['etag'])
    if (answer.status === 200) {
      const { meta }: { meta: { total: number } } = JSON.parse(answer.text)
      totals.delete(etag)
      totals.set(etag, meta.total)
    }
    const total = totals.get(etag) ?? -1
    if (total < least)
      this.#stale(
        sentAt,
        `a total of ${total} at ${port} by ${answer.status}, after ${least} acknowledged creates`,
      )
  }

  async #readOne(port: number, random: Random): Promise<void> {
    if (this.created.size === 0) return
    const sentAt = performance.now()
    // One of the newest, which an old primary may not have.
    const [name, id] =
      [...this.created].slice(-20)[random.integer(0, Math.min(19, this.created.size - 1))] ?? []
    const answer = await this.#ask({ port, path: `${partnerPath}/${id}?fields=name`, headers: [] })
    if (answer?.status === 200 && JSON.parse(answer.text).data.name === name) return
    if (answer?.status === 200 || answer?.status === 404)
      this.#stale(sentAt, `${name} by its id ${id} at ${port}: ${answer.status} ${answer.text.slice(0, 150)}`)
  }

  /** Tries again until `attempt` has an answer. What never gets one breaks the check off. */
  async #untilAnswered(what: string, random: Random, attempt: () => Promise<boolean>): Promise<boolean> {
    const end = performance.now() + patienceMs
    while (!(await attempt())) {
      if (!this.#going) return false
      if (performance.now() > end) throw new Error(`${what}: no answer within ${patienceMs / 1000} s`)
      await sleep(random.integer(30, 100))
    }
    return true
  }

  /** Undefined where the connection to the process broke. */
  async #ask(request: Ask): Promise<Answer | undefined> {
    const sentAt = performance.now()
    this.requests += 1
    let outcome = 'broken'
    try {
      const headers = [...this.#parties.headers, ...request.headers]
      const answer = await this.#parties.client.ask({ ...request, headers })
      outcome = `${answer.status} ${answer.status >= 400 ? answer.text.slice(0, 300) : ''}`
      if (answer.status >= 500) this.unavailable += 1
      const what = `${request.method ?? 'GET'} ${request.path}: ${outcome}`
      // The key was there all the time.
      if (answer.status === 401) this.#stale(sentAt, what)
      if (answer.status === 500) this.#fault(what)
      return answer
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
    return `${this.#parties.label}x${this.#names}`
  }
}
