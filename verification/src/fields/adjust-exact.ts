import { request } from 'node:http'
import type { Check, Context } from '../check.ts'
import { Client, type HttpResponse, headersFor } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { type ServerProcess, Service } from '../service.ts'

const account = 'shop'
const path = '/api/v1/inventory/product'
const clients = 10
const products = 5
/** Of the adjustments, how many lose a response. */
const lostShare = 0.1
/** All numbers of this proof have at most six digits after the point, so that sums are integers in millionths. */
const decimals = 6

/** Ten clients adjust the same products at two processes, and repeat what got no response. Every adjustment counts once. */
export const adjustExact: Check = {
  name: 'adjust_exact',
  bound: 'exact sums',
  async run(context) {
    const service = await Service.start()
    const client = new Client(100)
    try {
      const key = await service.account(account)
      const servers = [await service.serve(), await service.serve()]
      return await measure(context, new Sender(client, servers, key))
    } finally {
      client.close()
      await service.stop()
    }
  },
}

async function measure(context: Context, sender: Sender) {
  const adjustments = context.size(10_000, 1_000)
  const ids = await sender.createProducts(products)
  const expected = new Map(ids.map((id) => [id, 0n]))
  const wrong: string[] = []
  let lost = 0
  const progress = context.progress('adjustments', adjustments)
  await inParallel(adjustments, clients, async (index) => {
    const random = new Random(context.seed, 68, index)
    const id = random.pick(ids)
    const millionths = BigInt(random.integer(-5_000_000, 5_000_000))
    const adjustment = { id, text: decimalOf(millionths), key: `adjustment ${index}` }
    if (random.chance(lostShare)) {
      lost += 1
      await sender.lose(adjustment, random)
    }
    const response = await sender.adjust(adjustment, random)
    if (response.status === 200) expected.set(id, (expected.get(id) ?? 0n) + millionths)
    else wrong.push(`adjustment ${index}: ${response.status} ${response.text.slice(0, 200)}`)
    progress.step()
  })
  progress.end()
  for (const [id, sum] of expected) {
    const stored = await sender.quantity(id)
    if (stored !== sum)
      wrong.push(`product ${id} has ${decimalOf(stored)}; the adjustments add up to ${decimalOf(sum)}`)
  }
  const note = [`${grouped(lost)} lost, ${grouped(sender.replayed)} of them replayed`, ...wrong.slice(0, 10)]
  return {
    value: `${wrong.length} wrong of ${grouped(adjustments)} adjustments`,
    // A lost request that was not applied is sent for the first time: only a replay shows that nothing counts twice.
    samples: Math.min(adjustments, lost, sender.replayed),
    ok: wrong.length === 0,
    note: note.join('\n'),
  }
}

interface Adjustment {
  readonly id: number
  readonly text: string
  readonly key: string
}

class Sender {
  readonly #client: Client
  readonly #servers: readonly ServerProcess[]
  readonly #key: string
  replayed = 0

  constructor(client: Client, servers: readonly ServerProcess[], key: string) {
    this.#client = client
    this.#servers = servers
    this.#key = key
  }

  async createProducts(count: number): Promise<number[]> {
    const ids: number[] = []
    for (let i = 0; i < count; i++) {
      const response = await this.#client.sendUntilAccepted({
        port: this.#port(0),
        method: 'POST',
        path,
        headers: [...this.#headers(), 'Idempotency-Key', `product ${i}`],
        body: JSON.stringify({ name: `product ${i}` }),
      })
      const { data }: { data: { id: number } } = JSON.parse(response.text)
      ids.push(data.id)
    }
    return ids
  }

  /** Sends it, and closes the connection before the response is read: it may or may not have been applied. */
  async lose(adjustment: Adjustment, random: Random): Promise<void> {
    const { method, port, headers, body, path: target } = this.#requestOf(adjustment, random)
    await new Promise<void>((resolve) => {
      const options = { host: '127.0.0.1', port, method, path: target, agent: false } as const
      const outgoing = request({ ...options, headers: [...headers, 'Content-Length', String(body.length)] })
      outgoing.once('error', () => {})
      outgoing.once('close', resolve)
      // Half of them when the response arrives, so that they were applied; the others at any moment.
      if (random.chance(0.5)) outgoing.once('response', () => outgoing.destroy())
      else setTimeout(() => outgoing.destroy(), random.integer(1, 30))
      outgoing.end(body)
    })
  }

  /** Repeats it with the same key, at either process, until there is a response that is not "still running" or "try again". */
  async adjust(adjustment: Adjustment, random: Random): Promise<HttpResponse> {
    for (;;) {
      const response = await this.#client.sendUntilAccepted(this.#requestOf(adjustment, random))
      if (response.status === 409 && response.text.includes('idempotency_conflict')) continue
      if (response.headers['idempotent-replayed'] === 'true') this.replayed += 1
      return response
    }
  }

  async quantity(id: number): Promise<bigint> {
    const response = await this.#client.sendUntilAccepted({
      port: this.#port(1),
      path: `${path}/${id}?fields=qty_available`,
      headers: this.#headers(),
    })
    const text = /^\{"data":\{"qty_available":(-?[\d.]+)\}\}$/.exec(response.text)?.[1]
    if (text === undefined)
      throw new Error(`product ${id}: ${response.status} ${response.text.slice(0, 200)}`)
    return millionthsOf(text)
  }

  #requestOf({ id, text, key }: Adjustment, random: Random) {
    return {
      port: this.#port(random.integer(0, this.#servers.length - 1)),
      method: 'POST',
      path: `${path}/${id}/adjust`,
      headers: [...this.#headers(), 'Idempotency-Key', key],
      body: `{"qty_available":${text}}`,
    }
  }

  #headers(): string[] {
    return [...headersFor(account, this.#key), 'Content-Type', 'application/json']
  }

  #port(server: number): number {
    return this.#servers[server]?.port ?? 0
  }
}

function decimalOf(millionths: bigint): string {
  const digits = String(millionths < 0n ? -millionths : millionths).padStart(decimals + 1, '0')
  return `${millionths < 0n ? '-' : ''}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

function millionthsOf(text: string): bigint {
  const [, sign = '', integer = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(text) ?? []
  if (integer === '') throw new Error(`${text} has more than ${decimals} digits after the point`)
  return BigInt(`${sign}${integer}${fraction.padEnd(decimals, '0')}`)
}
