import { setTimeout as sleep } from 'node:timers/promises'
import type { Check, Context } from '../check.ts'
import type { Progress } from '../progress.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import { HttpsClient, type HttpsRequest } from './https-client.ts'
import { requiring } from './programs.ts'
import { type StartProxy, startHaproxy, startNginx } from './proxy.ts'

const partners = '/api/v1/resources/partner'
const requestsPerSecond = 200
/**
 * Requests in flight. Fewer than a process queues for one account (20 long reads) or for all (50 requests), so that a slow
 * machine causes no 429 or 503.
 */
const workers = 16
/** A process runs two writes of an account at a time, and rejects one that waits too long. With two workers each, none waits. */
const accounts = Array.from({ length: workers / 2 }, (_, n) => `account-${n}`)

interface Setup {
  readonly program: string
  readonly start: StartProxy
  /**
   * Whether half of the creates have no Idempotency-Key. A process that closes its port resets the connections that it
   * has not accepted yet. nginx has sent requests on them, which it may repeat only with an Idempotency-Key. HAProxy checks
   * readiness, and sends no request to a process that is about to close its port.
   */
  readonly withoutKeys: boolean
}

/** Two processes are restarted in turn, without a pause, behind a proxy as shipped, while clients read and create. */
function restarts({ program, start, withoutKeys }: Setup): Check {
  return requiring([program, 'openssl'], {
    name: `restart_${program}`,
    bound: '0 failed of ≥ 50,000',
    async run(context) {
      const service = await Service.start()
      try {
        const keys = await Promise.all(accounts.map((name) => service.account(name)))
        const servers = [await service.serve(), await service.serve()]
        const proxy = await start(servers.map(({ port }) => port))
        const clients = accounts.map((name, n) => new HttpsClient(proxy, name, keys[n] ?? '', 2))
        try {
          const load = new Load(clients, context, { total: context.size(50_000, 3_000), withoutKeys })
          let count = 0
          while (load.isRunning || count < servers.length) {
            const server = servers[count % servers.length]
            await server?.terminate()
            await server?.start()
            count += 1
          }
          await load.done
          return await outcomeOf(load, clients, count)
        } finally {
          for (const client of clients) client.close()
          await proxy.stop()
        }
      } finally {
        await service.stop()
      }
    },
  })
}

export const restartNginx = restarts({ program: 'nginx', start: startNginx, withoutKeys: false })
export const restartHaproxy = restarts({ program: 'haproxy', start: startHaproxy, withoutKeys: true })

async function outcomeOf(load: Load, clients: readonly HttpsClient[], restartCount: number) {
  const totals = clients.map(async (client) => {
    const { text } = await client.send({ path: `${partners}?limit=1` })
    return Number(/"total":\s*(\d+)/.exec(text)?.[1])
  })
  const stored = (await Promise.all(totals)).reduce((sum, total) => sum + total, 0)
  const duplicates = stored - load.created
  return {
    value: `${load.failures.length} failed of ${load.sent}, ${restartCount} restarts`,
    ok: load.failures.length === 0 && duplicates === 0,
    note: [
      `${load.created} partners created, ${stored} stored`,
      `slowest request: ${load.slowestMs.toFixed(0)} ms`,
      ...load.failures.slice(0, 10),
    ].join('\n'),
  }
}

/** Sends requests at a steady rate, at most `workers` at the same time, until `total` are sent. */
class Load {
  readonly failures: string[] = []
  readonly done: Promise<unknown>
  sent = 0
  created = 0
  slowestMs = 0
  isRunning = true
  readonly #total: number
  readonly #withoutKeys: boolean
  readonly #progress: Progress
  readonly #started = performance.now()

  constructor(
    clients: readonly HttpsClient[],
    context: Context,
    { total, withoutKeys }: { total: number; withoutKeys: boolean },
  ) {
    this.#total = total
    this.#withoutKeys = withoutKeys
    this.#progress = context.progress('requests', total)
    this.done = Promise.all(
      clients.flatMap((client, n) =>
        [0, 1].map((m) => this.#work(client, new Random(context.seed, 121, n, m))),
      ),
    ).finally(() => {
      this.isRunning = false
      this.#progress.end()
    })
  }

  async #work(client: HttpsClient, random: Random): Promise<void> {
    while (this.sent < this.#total) {
      const number = this.sent++
      const due = this.#started + (number * 1000) / requestsPerSecond
      await sleep(Math.max(0, due - performance.now()))
      await this.#send(client, requestOf(random, number, this.#withoutKeys))
    }
  }

  async #send(client: HttpsClient, request: HttpsRequest): Promise<void> {
    const started = performance.now()
    const { method = 'GET', path } = request
    try {
      const { status, text } = await client.send(request)
      if (status === 201) this.created += 1
      // The first partners may not exist yet.
      const isExpected = status === 200 || status === 201 || (status === 404 && path !== partners)
      if (!isExpected) this.failures.push(`${method} ${path}: ${status} ${text.slice(0, 200)}`)
    } catch (error) {
      this.failures.push(`${method} ${path}: ${String(error)}`)
    }
    this.#progress.step()
    this.slowestMs = Math.max(this.slowestMs, performance.now() - started)
  }
}

/** A third are creates. */
function requestOf(random: Random, number: number, withoutKeys: boolean): HttpsRequest {
  const kind = random.integer(1, 6)
  if (kind <= 2) {
    const idempotency = kind === 1 || !withoutKeys ? { 'idempotency-key': `restart-${number}` } : {}
    return {
      method: 'POST',
      path: partners,
      headers: { 'content-type': 'application/json', ...idempotency },
      body: JSON.stringify({ name: `partner ${number}` }),
    }
  }
  if (kind === 3) return { path: `${partners}/${random.integer(1, number + 1)}` }
  if (kind === 4) {
    return {
      method: 'QUERY',
      path: partners,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `filter=name*${random.integer(1, 99)}&limit=5`,
    }
  }
  return { path: `${partners}?limit=10&filter=id>${random.integer(0, number)}|id<5` }
}
