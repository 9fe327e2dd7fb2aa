import type { Check, Context } from '../check.ts'
import { Client, headersFor } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { RetryingSender } from '../retrying-sender.ts'
import { ServerKills } from '../server-kills.ts'
import { type ServerProcess, Service } from '../service.ts'

const account = 'keys'
const path = '/api/v1/inventory/product'
const keysOfRound = 200
const clients = 20

/**
 * Rounds of 200 keys, each of which 20 clients upsert, half of them in the same order, through two processes that are killed meanwhile.
 * Every third client sends batches by key instead. Each key is one record, and every response names it.
 */
export const keysOneRecord: Check = {
  name: 'keys_one_record',
  bound: '1 record per key',
  async run(context) {
    const service = await Service.start()
    const client = new Client(100)
    try {
      const key = await service.account(account)
      await service.command(['field', 'create', 'product', 'x_sku', 'text', '--unique', '--account', account])
      const servers = [await service.serve(), await service.serve()]
      return await measure(context, client, [...headersFor(account, key)], servers)
    } finally {
      client.close()
      await service.stop()
    }
  },
}

async function measure(
  context: Context,
  client: Client,
  headers: readonly string[],
  servers: readonly ServerProcess[],
) {
  const rounds = context.size(25, 1)
  const killsMin = context.size(20, 2)
  const sender = new RetryingSender(client, servers)
  const kills = new ServerKills(servers, context.seed)
  const wrong: string[] = []
  const progress = context.progress('upserts', rounds * keysOfRound * clients)
  let upserts = 0
  let done = 0
  // On a busy machine a server takes so long to start that more rounds are sent before it can be killed often enough.
  for (; done < rounds || (kills.kills < killsMin && done < 5 * rounds); done++) {
    const prefix = `${String(done).padStart(4, '0')}/`
    const keys = Array.from({ length: keysOfRound }, (_, n) => `${prefix}${n} ä`)
    const ids = new Map(keys.map((value) => [value, new Set<number>()]))
    const found = (value: string, id: number) => {
      ids.get(value)?.add(id)
      upserts += 1
      progress.step()
    }
    await inParallel(clients, clients, async (at) => {
      const random = new Random(context.seed, 71, done, at)
      const upserting: Upserting = {
        sender,
        headers,
        keys: at % 2 === 0 ? keys : random.shuffled(keys),
        random,
        found,
        wrong,
      }
      await (at % 3 === 2 ? upsertBatches(upserting) : upsertEach(upserting))
    })
    wrong.push(...(await compare(client, servers[0]?.port ?? 0, headers, ids, prefix)))
  }
  progress.end()
  await kills.end()
  const note = [
    `${kills.kills} kills, ${grouped(sender.retries)} retries (${sender.reasons()})`,
    ...wrong.slice(0, 10),
  ]
  return {
    value: `${wrong.length} wrong of ${grouped(done * keysOfRound)} keys, ${grouped(upserts)} upserts`,
    samples: Math.min(upserts, kills.kills, sender.retries),
    ok: wrong.length === 0 && kills.kills >= killsMin && sender.retries > 0,
    note: note.join('\n'),
  }
}

interface Upserting {
  readonly sender: RetryingSender
  readonly headers: readonly string[]
  readonly keys: readonly string[]
  readonly random: Random
  /** The id in a response, or 0 if the response does not name it. */
  readonly found: (value: string, id: number) => void
  readonly wrong: string[]
}

async function upsertEach({ sender, headers, keys, random, found, wrong }: Upserting): Promise<void> {
  for (const value of keys) {
    const { status, text } = await sender.send(
      {
        method: 'PATCH',
        path: `${path}/x_sku/${encodeURIComponent(value)}`,
        headers: [...headers, 'Content-Type', 'application/json'],
        body: JSON.stringify({ name: value }),
      },
      random,
    )
    if (status === 200 || status === 201) {
      const { data }: { data: { id: number } } = JSON.parse(text)
      found(value, data.id)
    } else wrong.push(`${value}: ${status} ${text.slice(0, 200)}`)
  }
}

const batchRows = 10

async function upsertBatches({ sender, headers, keys, random, found, wrong }: Upserting): Promise<void> {
  for (let from = 0; from < keys.length; from += batchRows) {
    const values = keys.slice(from, from + batchRows)
    const rows = values.map((value) => ({ x_sku: value, name: value }))
    const sent = {
      method: 'POST',
      path: `${path}/batch?key=x_sku`,
      headers: [...headers, 'Content-Type', 'application/json'],
      body: JSON.stringify({ rows }),
    }
    const { status, text } = await sender.send(sent, random)
    if (status === 200 && text.includes('"rejected":0')) for (const value of values) found(value, 0)
    else wrong.push(`batch of ${values[0]}: ${status} ${text.slice(0, 300)}`)
  }
}

interface Products {
  readonly data: readonly { readonly id: number; readonly x_sku: string; readonly name: string }[]
}

/** Each key of the round must be stored once, with the id of every response; and nothing else. */
async function compare(
  client: Client,
  port: number,
  headers: readonly string[],
  ids: ReadonlyMap<string, ReadonlySet<number>>,
  prefix: string,
): Promise<string[]> {
  const stored = new Map<string, number[]>()
  const filter = encodeURIComponent(`name*"${prefix}"`)
  const response = await readUntilReady(
    client,
    port,
    headers,
    `${path}?fields=id,x_sku,name&limit=1000&filter=${filter}`,
  )
  const { data }: Products = JSON.parse(response)
  const wrong: string[] = []
  for (const { id, x_sku: value, name } of data) {
    stored.set(value, [...(stored.get(value) ?? []), id])
    if (name !== value || !ids.has(value)) wrong.push(`the record ${id} has ${value} and the name ${name}`)
  }
  for (const [value, named] of ids) {
    const found = stored.get(value) ?? []
    const isNamed = [...named].every((id) => id === 0 || id === found[0])
    if (found.length !== 1 || !isNamed)
      wrong.push(
        `${value} is stored as ${found.join() || 'nothing'}, and responses named ${[...named].join()}`,
      )
  }
  return wrong
}

async function readUntilReady(
  client: Client,
  port: number,
  headers: readonly string[],
  list: string,
): Promise<string> {
  for (;;) {
    try {
      const { status, text } = await client.sendUntilAccepted({ port, path: list, headers })
      if (status !== 200) throw new Error(`the list: ${status} ${text.slice(0, 200)}`)
      return text
    } catch (error) {
      // The server was killed, and starts again.
      if (!(error instanceof Error && 'code' in error)) throw error
    }
  }
}
