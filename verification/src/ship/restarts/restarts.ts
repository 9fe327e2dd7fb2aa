import type { Check } from '../../check.ts'
import { grouped, type Progress } from '../../progress.ts'
import { Random } from '../../random.ts'
import { Service } from '../../service.ts'
import { HttpsClient, type HttpsRequest } from '../proxies/https-client.ts'
import { type StartProxy, startHaproxy, startNginx } from '../proxies/proxy.ts'
import { expectStatus, LoadGenerator } from './load-generator.ts'

const partners = '/api/v1/resources/partner'
const requestsPerSecond = 200
/**
 * Requests in flight. Fewer than a process queues for one account (20 long reads) or for all (50 requests), so that a slow
 * machine causes no 429 or 503.
 */
const inFlightMax = 16
/** A process runs two writes of an account at a time, and rejects one that waits too long. With two clients each, none waits. */
const accounts = Array.from({ length: inFlightMax / 2 }, (_, n) => `account-${n}`)

interface Setup {
  readonly program: 'nginx' | 'haproxy'
  readonly start: StartProxy
  /**
   * Whether half of the creates have no Idempotency-Key. A process that closes its port resets the connections that it
   * has not accepted yet. nginx has sent requests on them, which it may repeat only with an Idempotency-Key. HAProxy checks
   * readiness, and sends no request to a process that is about to close its port.
   */
  readonly withoutKeys: boolean
}

/** Two processes are restarted one after the other, without a pause, behind a proxy as shipped, while clients read and create. */
function restarts({ program, start, withoutKeys }: Setup): Check {
  return {
    name: `restart_${program}`,
    needs: [program, 'openssl'],
    bound: '0 failed of ≥ 50,000',
    async run(context) {
      const service = await Service.start()
      try {
        const keys = await Promise.all(accounts.map((name) => service.account(name)))
        const servers = [await service.serve(), await service.serve()]
        const proxy = await start(servers.map(({ port }) => port))
        const clients = accounts.map((name, n) => new HttpsClient(proxy, name, keys[n] ?? '', 2))
        const requests = context.size(50_000, 3_000)
        const progress = context.progress('requests', requests)
        const load = new RestartLoad(clients, progress, new Random(context.seed, 121), withoutKeys)
        try {
          let count = 0
          while (load.generator.sent < requests || count < servers.length) {
            const server = servers[count % servers.length]
            await server?.terminate()
            await server?.start()
            count += 1
          }
          await load.generator.end()
          return await outcomeOf(load, clients, count)
        } finally {
          await load.generator.end()
          for (const client of clients) client.close()
          await proxy.stop()
        }
      } finally {
        await service.stop()
      }
    },
  }
}

export const restartNginx = restarts({ program: 'nginx', start: startNginx, withoutKeys: false })
export const restartHaproxy = restarts({ program: 'haproxy', start: startHaproxy, withoutKeys: true })

async function outcomeOf(
  { generator, created }: RestartLoad,
  clients: readonly HttpsClient[],
  restartCount: number,
) {
  const totals = clients.map(async (client) => {
    const { text } = await client.send({ path: `${partners}?limit=1` })
    return Number(/"total":\s*(\d+)/.exec(text)?.[1])
  })
  const stored = (await Promise.all(totals)).reduce((sum, total) => sum + total, 0)
  return {
    value: `${generator.failed} failed of ${grouped(generator.sent)}, ${restartCount} restarts`,
    samples: Math.min(generator.sent, created, restartCount),
    ok: generator.failed === 0 && stored === created,
    note: [
      `${Math.round(generator.requestsPerSecond)} requests/s, ${created} partners created, ${stored} stored`,
      `slowest request: ${generator.slowestMs.toFixed(0)} ms`,
      ...generator.failures,
    ].join('\n'),
  }
}

class RestartLoad {
  readonly generator: LoadGenerator
  created = 0

  constructor(clients: readonly HttpsClient[], progress: Progress, random: Random, withoutKeys: boolean) {
    this.generator = new LoadGenerator({
      clients: inFlightMax,
      requestsPerSecond,
      progress,
      send: async (number, worker) => {
        const client = clients[worker % clients.length]
        if (client !== undefined) await this.#send(client, requestOf(random, number, withoutKeys))
      },
    })
  }

  async #send(client: HttpsClient, request: HttpsRequest): Promise<void> {
    const response = await client.send(request)
    if (request.method === 'POST') {
      expectStatus(response, 201)
      this.created += 1
    } else {
      // The first partners may not exist yet.
      expectStatus(response, 200, 404)
    }
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
