import { setTimeout as sleep } from 'node:timers/promises'
import type { Check, Context } from '../check.ts'
import { Client, type HttpResponse, headersFor } from '../client.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import { DeclaredStates } from './declared-states.ts'

const account = 'declaring'
const path = '/api/v1/inventory/product'
const names = ['x_a', 'x_b', 'x_c'] as const
const readers = 6
const writers = 3
const products = 30

/**
 * Declares and deletes fields, always with the same three names, while clients read and write through three processes. A response must
 * have exactly the fields of a moment between its request and itself, and only values that were written to this declaration of a name.
 */
export const declarationsUnderLoad: Check = {
  name: 'declarations_under_load',
  bound: '0 stale, mixed or 5xx',
  async run(context) {
    const service = await Service.start()
    const client = new Client(100)
    try {
      const headers = headersFor(account, await service.account(account))
      const ports = []
      for (let n = 0; n < 3; n++) ports.push((await service.serve()).port)
      const trial = new Trial(client, ports, headers)
      return await measure(context, trial)
    } finally {
      client.close()
      await service.stop()
    }
  },
}

async function measure(context: Context, trial: Trial) {
  const changes = context.size(100, 20)
  for (let n = 0; n < products; n++) await trial.create(new Random(context.seed, 72, n))
  const over = new AbortController()
  const repeat = async (work: () => Promise<void>) => {
    while (!over.signal.aborted) await work()
  }
  const load = [
    ...Array.from({ length: readers }, (_, n) => {
      const random = new Random(context.seed, 73, n)
      return repeat(() => trial.read(random))
    }),
    ...Array.from({ length: writers }, (_, n) => {
      const random = new Random(context.seed, 74, n)
      return repeat(() => (random.chance(0.2) ? trial.create(random) : trial.change(random)))
    }),
  ]
  const progress = context.progress('declarations and deletions', changes)
  const random = new Random(context.seed, 75)
  for (let n = 0; n < changes; n++) {
    await trial.changeDefinitions(random)
    await sleep(random.integer(50, 250))
    progress.step()
  }
  progress.end()
  over.abort()
  await Promise.all(load)
  const { wrong, counts } = trial
  return {
    value: `${wrong.length} of ${grouped(counts.responses)} responses`,
    samples: Math.min(counts.responses, counts.values, counts.notModified, counts.rejected),
    ok: wrong.length === 0,
    note: [
      `${changes} changes; ${grouped(counts.values)} values seen, ${grouped(counts.notModified)} times 304, ${counts.rejected} writes named a field that had been deleted, ${counts.sent - counts.responses} were sent again to a busy process`,
      ...wrong.slice(0, 10),
    ].join('\n'),
  }
}

interface Product {
  readonly id: number
  readonly [member: string]: unknown
}

class Trial {
  readonly wrong: string[] = []
  readonly counts = { sent: 0, responses: 0, values: 0, notModified: 0, rejected: 0 }
  readonly #client: Client
  readonly #ports: readonly number[]
  readonly #headers: readonly string[]
  readonly #states = new DeclaredStates()
  readonly #tags = new Map<string, { readonly etag: string; readonly text: string }>()
  readonly #ids: number[] = []
  /** Writes in flight, by the field that they name. */
  readonly #named = new Map<string, Set<Promise<unknown>>>()

  constructor(client: Client, ports: readonly number[], headers: readonly string[]) {
    this.#client = client
    this.#ports = ports
    this.#headers = headers
  }

  /** Declares a field with a name that has none, or deletes one. */
  async changeDefinitions(random: Random): Promise<void> {
    const name = random.pick(names)
    const isDeclared = this.#states.current.some((field) => field.name === name)
    // A value that was sent for the earlier declaration could be written to the new one.
    if (!isDeclared) await Promise.allSettled(this.#named.get(name) ?? new Set<Promise<unknown>>())
    const after = isDeclared ? this.#states.without(name) : this.#states.with(name)
    await this.#states.change(after, async () => {
      const body = JSON.stringify({ resource: 'product', name, type: 'text' })
      const { status, text } = isDeclared
        ? await this.#send(random, 'DELETE', `/manage/v1/fields/product.${name}`)
        : await this.#send(random, 'POST', '/manage/v1/fields', body)
      if (status !== (isDeclared ? 204 : 201)) throw new Error(`${name}: ${status} ${text.slice(0, 300)}`)
    })
  }

  /** A list or a record, often with the ETag of an earlier response of any process. */
  async read(random: Random): Promise<void> {
    const target = random.chance(0.5) ? `${path}?limit=1000` : `${path}/${random.pick(this.#ids)}`
    const tag = random.chance(0.6) ? this.#tags.get(target) : undefined
    const { floor } = this.#states
    const response = await this.#send(random, 'GET', target, undefined, tag?.etag)
    const isKnown = response.status === 304 && tag !== undefined
    if (isKnown) this.counts.notModified += 1
    const text = isKnown ? tag.text : response.text
    if (response.status !== 200 && !isKnown) return this.#unexpected(`GET ${target}`, response)
    if (!isKnown) this.#tags.set(target, { etag: String(response.headers['etag']), text })
    const { data }: { data: Product | Product[] } = JSON.parse(text)
    this.#judge(`${response.status} of ${target}`, [data].flat(), floor)
  }

  async create(random: Random): Promise<void> {
    await this.#write(random, 'POST', path, { name: 'product' })
  }

  async change(random: Random): Promise<void> {
    await this.#write(random, 'PATCH', `${path}/${random.pick(this.#ids)}`, {})
  }

  /** Writes a value that names the declaration which it is for, in half of the cases. */
  async #write(random: Random, method: string, target: string, body: object): Promise<void> {
    const { floor, current } = this.#states
    const field = random.chance(0.5) && current.length > 0 ? random.pick(current) : undefined
    const value = field === undefined ? {} : { [field.name]: `${field.declaration}` }
    const sent = JSON.stringify({ ...body, qty_available: random.integer(0, 9), ...value })
    const response = await this.#inFlight(field?.name ?? '', this.#send(random, method, target, sent))
    const { status, text } = response
    const isRejected = status === 400 && text.includes('"member_unknown"')
    if (isRejected && field !== undefined && this.#states.lacked(field.name, floor)) this.counts.rejected += 1
    else if (status === 201 || status === 200) this.#written(method, text, floor)
    else this.#unexpected(`${method} ${target} ${sent}`, response)
  }

  async #inFlight<T>(name: string, sending: Promise<T>): Promise<T> {
    const others = this.#named.get(name) ?? new Set()
    this.#named.set(name, others.add(sending))
    try {
      return await sending
    } finally {
      others.delete(sending)
    }
  }

  #written(method: string, text: string, floor: number): void {
    const { data }: { data: Product } = JSON.parse(text)
    if (method === 'POST') this.#ids.push(data.id)
    else this.#judge(`response to ${method}`, [data], floor)
  }

  #judge(what: string, records: readonly Product[], floor: number): void {
    const fields = records.map((record) => Object.entries(record).filter(([name]) => name.startsWith('x_')))
    this.counts.values += fields.flat().filter(([, value]) => value !== null).length
    const fault = this.#states.faultOf(fields, floor)
    if (fault !== undefined) this.wrong.push(`${what}: ${fault}`)
  }

  #unexpected(what: string, { status, text }: HttpResponse): void {
    this.wrong.push(`${what}: ${status} ${text.slice(0, 300)}`)
  }

  async #send(
    random: Random,
    method: string,
    target: string,
    body?: string,
    etag?: string,
  ): Promise<HttpResponse> {
    const headers = [
      ...this.#headers,
      ...(body === undefined ? [] : ['Content-Type', 'application/json']),
      ...(etag === undefined ? [] : ['If-None-Match', etag]),
    ]
    const sent = { port: random.pick(this.#ports), method, path: target, headers }
    const response = await this.#client.sendUntilAccepted(
      body === undefined ? sent : { ...sent, body },
      () => (this.counts.sent += 1),
    )
    this.counts.responses += 1
    return response
  }
}
