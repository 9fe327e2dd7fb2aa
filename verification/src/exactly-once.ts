import { setTimeout as sleep } from 'node:timers/promises'
import type { Check, Context } from './check.ts'
import { type Answer, Client } from './client.ts'
import { inParallel } from './parallel.ts'
import { grouped } from './progress.ts'
import { Random } from './random.ts'
import { type ServerProcess, Service } from './service.ts'

const postsPerKey = 20
const account = 'once'
const path = '/api/v1/resources/partner'

/** However often a create is sent, and whatever dies meanwhile, there is one partner per Idempotency-Key. */
export const exactlyOnce: Check = {
  name: 'exactly_once',
  bound: '1 partner per key',
  async run(context) {
    // Commits are kept over a kill of the servers, not of the database: without fsync it is the same, and faster.
    const service = await Service.start()
    const client = new Client(400)
    try {
      const key = await service.account(account)
      const servers = [await service.serve(), await service.serve()]
      return await measure(context, client, key, servers)
    } finally {
      client.close()
      await service.stop()
    }
  },
}

async function measure(context: Context, client: Client, key: string, servers: readonly ServerProcess[]) {
  const keys = context.size(200, 40)
  const wrong: string[] = []
  const ids = new Map<string, Set<number>>()
  const sender = new Sender(client, servers, key)
  const chaos = new Chaos(servers, context.seed)
  const progress = context.progress('creates', keys * postsPerKey)
  await inParallel(keys, 5, async (index) => {
    const name = `partner ${index}`
    const found = new Set<number>()
    ids.set(name, found)
    await inParallel(postsPerKey, postsPerKey, async (copy) => {
      const answer = await sender.create(name, new Random(context.seed, 7, index, copy))
      if (answer.status === 201) found.add(idOf(answer))
      else wrong.push(`${name}: ${answer.status} ${answer.text.slice(0, 200)}`)
      progress.step()
    })
    // Paced, so that a fast machine is not done before the first kill.
    await sleep(100)
  })
  progress.end()
  const kills = await chaos.end()
  for (const [name, found] of ids)
    if (found.size !== 1) wrong.push(`${name} has the ids ${[...found].join()}`)
  wrong.push(...(await countPartners(client, key, servers[0]?.port ?? 0, ids)))
  const note = [
    `${kills} kills, ${grouped(sender.retries)} retries (${sender.reasons()})`,
    ...wrong.slice(0, 10),
  ].join('\n')
  const value = `${wrong.length} wrong of ${grouped(keys)} keys × ${postsPerKey}`
  return { value, ok: wrong.length === 0 && kills >= context.size(10, 3) && sender.retries > 0, note }
}

/** A client that tries again until it knows: after a broken connection, 409 and 5xx, at either server. */
class Sender {
  readonly #client: Client
  readonly #servers: readonly ServerProcess[]
  readonly #key: string
  readonly #reasons = new Map<string, number>()
  retries = 0

  constructor(client: Client, servers: readonly ServerProcess[], key: string) {
    this.#client = client
    this.#servers = servers
    this.#key = key
  }

  async create(name: string, random: Random): Promise<Answer> {
    const until = Date.now() + 120_000
    for (;;) {
      const { port } = random.pick(this.#servers)
      const headers = [
        ...headersOf(this.#key),
        'Content-Type',
        'application/json',
        'Idempotency-Key',
        `key of ${name}`,
      ]
      let reason: string
      try {
        const answer = await this.#client.ask({
          port,
          method: 'POST',
          path,
          headers,
          body: JSON.stringify({ name }),
        })
        if (answer.status !== 409 && answer.status < 500) return answer
        if (Date.now() > until) return answer
        reason = String(answer.status)
      } catch (error) {
        if (Date.now() > until) throw error
        reason = codeOf(error)
      }
      this.retries += 1
      this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1)
      await sleep(random.integer(20, 200))
    }
  }

  reasons(): string {
    return [...this.#reasons].map(([reason, count]) => `${reason}: ${grouped(count)}`).join(', ')
  }
}

/** Kills one server after the other at random moments, and starts it again; one is always up. */
class Chaos {
  readonly #ended: Promise<void>
  #going = true
  #kills = 0

  constructor(servers: readonly ServerProcess[], seed: number) {
    this.#ended = this.#go(servers, new Random(seed, 8))
  }

  async end(): Promise<number> {
    this.#going = false
    await this.#ended
    return this.#kills
  }

  async #go(servers: readonly ServerProcess[], random: Random): Promise<void> {
    while (this.#going) {
      await sleep(random.integer(50, 400))
      if (!this.#going) return
      const server = random.pick(servers)
      await server.kill()
      this.#kills += 1
      await server.start()
    }
  }
}

interface Partners {
  readonly data: readonly { readonly id: number; readonly name: string }[]
  readonly meta: { readonly total: number }
}

/** What is really there: every name once, under the id that was told, and nothing else. */
async function countPartners(
  client: Client,
  key: string,
  port: number,
  ids: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<string[]> {
  const answer = await client.ask({
    port,
    path: `${path}?fields=id,name&limit=1000`,
    headers: headersOf(key),
  })
  if (answer.status !== 200) return [`the list: ${answer.status} ${answer.text.slice(0, 200)}`]
  const { data, meta }: Partners = JSON.parse(answer.text)
  const wrong = meta.total === ids.size ? [] : [`${meta.total} partners for ${ids.size} keys`]
  for (const [name, told] of ids) {
    const found = data.filter((partner) => partner.name === name).map(({ id }) => id)
    if (found.length !== 1 || !told.has(found[0] ?? 0))
      wrong.push(`${name} is there as ${found.join() || 'none'}`)
  }
  return wrong
}

function headersOf(key: string): string[] {
  return ['Host', `${account}.localhost`, 'Authorization', `Bearer ${key}`]
}

/** Either envelope that the specification allows. */
function idOf({ text }: Answer): number {
  const body: { data?: { id?: number } } | number = JSON.parse(text)
  return typeof body === 'number' ? body : (body.data?.id ?? 0)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'broken'
}
