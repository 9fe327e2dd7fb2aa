import { setTimeout as sleep } from 'node:timers/promises'
import type { Check, Context } from './check.ts'
import { Client, type HttpResponse, headersFor } from './client.ts'
import { inParallel } from './parallel.ts'
import { grouped } from './progress.ts'
import { Random } from './random.ts'
import { RetryingSender } from './retrying-sender.ts'
import { ServerKills } from './server-kills.ts'
import { type ServerProcess, Service } from './service.ts'

const postsPerKey = 20
const account = 'once'
const path = '/api/v1/resources/partner'

/** Each Idempotency-Key creates one partner, however often it is sent and while servers are killed. */
export const exactlyOnce: Check = {
  name: 'exactly_once',
  bound: '1 partner per key',
  async run(context) {
    // Only server processes are killed, not the database: commits survive that without fsync, which is faster.
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
  const killsMin = context.size(10, 3)
  const wrong: string[] = []
  const ids = new Map<string, Set<number>>()
  const sender = new RetryingSender(client, servers)
  const chaos = new ServerKills(servers, context.seed)
  const progress = context.progress('creates', keys * postsPerKey)
  await inParallel(keys * 5, 5, async (index) => {
    // On a busy machine a server takes so long to start that more keys are sent before it can be killed often enough.
    if (index >= keys && chaos.kills >= killsMin) return
    const name = `partner ${index}`
    const found = new Set<number>()
    ids.set(name, found)
    await inParallel(postsPerKey, postsPerKey, async (copy) => {
      const create = {
        method: 'POST',
        path,
        headers: [
          ...headersFor(account, key),
          'Content-Type',
          'application/json',
          'Idempotency-Key',
          `key of ${name}`,
        ],
        body: JSON.stringify({ name }),
      }
      const response = await sender.send(create, new Random(context.seed, 7, index, copy))
      if (response.status === 201) found.add(idOf(response))
      else wrong.push(`${name}: ${response.status} ${response.text.slice(0, 200)}`)
      progress.step()
    })
    // Without this pause, a fast machine would finish before the first kill.
    await sleep(100)
  })
  progress.end()
  await chaos.end()
  for (const [name, found] of ids)
    if (found.size !== 1) wrong.push(`${name} has the ids ${[...found].join()}`)
  wrong.push(...(await verifyPartners(client, key, servers[0]?.port ?? 0, ids)))
  const note = [
    `${chaos.kills} kills, ${grouped(sender.retries)} retries (${sender.reasons()})`,
    ...wrong.slice(0, 10),
  ].join('\n')
  const value = `${wrong.length} wrong of ${grouped(ids.size)} keys × ${postsPerKey}`
  return {
    value,
    samples: Math.min(ids.size, chaos.kills, sender.retries),
    ok: wrong.length === 0 && chaos.kills >= killsMin && sender.retries > 0,
    note,
  }
}

interface Partners {
  readonly data: readonly { readonly id: number; readonly name: string }[]
  readonly meta: { readonly total: number }
}

/** Reads the list: every name must be in it once, with the acknowledged id, and nothing else. */
async function verifyPartners(
  client: Client,
  key: string,
  port: number,
  ids: ReadonlyMap<string, ReadonlySet<number>>,
): Promise<string[]> {
  const response = await client.sendUntilAccepted({
    port,
    path: `${path}?fields=id,name&limit=1000`,
    headers: headersFor(account, key),
  })
  if (response.status !== 200) return [`the list: ${response.status} ${response.text.slice(0, 200)}`]
  const { data, meta }: Partners = JSON.parse(response.text)
  const wrong = meta.total === ids.size ? [] : [`${meta.total} partners for ${ids.size} keys`]
  for (const [name, acknowledged] of ids) {
    const found = data.filter((partner) => partner.name === name).map(({ id }) => id)
    if (found.length !== 1 || !acknowledged.has(found[0] ?? 0))
      wrong.push(`${name} is stored as ${found.join() || 'nothing'}`)
  }
  return wrong
}

/** The id, alone or within `data`: the specification allows both. */
function idOf({ text }: HttpResponse): number {
  const body: { data?: { id?: number } } | number = JSON.parse(text)
  return typeof body === 'number' ? body : (body.data?.id ?? 0)
}
