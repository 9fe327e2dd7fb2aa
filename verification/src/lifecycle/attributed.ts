import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { importRecords } from '../../../server/src/import/import-records.ts'
import type { Check, Context } from '../check.ts'
import { Client, headersFor } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { RetryingSender } from '../retrying-sender.ts'
import { ServerKills } from '../server-kills.ts'
import { Service } from '../service.ts'
import { AuthorModel, type Reader, wrongAuthors } from './author-model.ts'
import { Writer, type WriterKey } from './author-writes.ts'

const account = 'signed'
const keysCount = 20

/**
 * Keys write at random over two processes that are killed; an import and an archive are between them. The senders know who wrote each
 * record last. That is compared with every record, with every deletion in the feed, and with the total of each key's filter.
 */
export const attributed: Check = {
  name: 'attributed',
  bound: '0 wrong',
  async run(context) {
    const service = await Service.start()
    const client = new Client(100)
    try {
      return await measure(context, service, client)
    } finally {
      client.close()
      await service.stop()
    }
  },
}

async function measure(context: Context, service: Service, client: Client) {
  const writes = context.size(10_000, 600)
  const rounds = context.size(4, 2)
  const killsMin = context.size(20, 2)
  await service.command(['account', 'create', account])
  const servers = [await service.serve(), await service.serve()]
  const keys: WriterKey[] = []
  for (let n = 0; n < keysCount; n++) {
    const key = await service.key(account)
    const path = '/manage/v1/self'
    const { text } = await client.send({
      port: servers[0]?.port ?? 0,
      path,
      headers: headersFor(account, key),
    })
    keys.push({ key, id: JSON.parse(text).data.key_id })
  }
  const sender = new RetryingSender(client, servers)
  const model = new AuthorModel()
  const reader: Reader = {
    read: (path, random) => sender.send({ path, headers: headersFor(account, keys[0]?.key ?? '') }, random),
    keys: keys.map(({ id }) => id),
  }
  const random = new Random(context.seed, 301)
  const writer = new Writer(sender, account, model)
  await writer.declareSku(keys[0], random)
  const wrong: string[] = []
  const progress = context.progress('writes', writes)
  let kills = 0
  let compared = 0
  for (let round = 0; round < rounds; round++) {
    const cursor = await startOf(reader, random)
    const chaos = new ServerKills(servers, context.seed + round)
    const share = Math.ceil(writes / rounds)
    // On a busy machine a server takes so long to start that more is written before it was killed often enough.
    const killsWanted = Math.ceil(killsMin / rounds)
    await inParallel(share * 5, keysCount, async (index) => {
      if (index >= share && chaos.kills >= killsWanted) return
      const of = new Random(context.seed, 302, round, index)
      await writer.write(of.pick(keys), of)
      progress.step()
    })
    await chaos.end()
    kills += chaos.kills
    await importSome(service, model, random)
    compared += await wrongAuthors(reader, model, cursor, wrong, random)
    if (round % 2 === 0) await restore(service, model)
  }
  progress.end()
  compared += await wrongAuthors(reader, model, undefined, wrong, random)
  const kinds = [...writer.counts].map(([kind, count]) => `${kind} ${grouped(count)}`).join(', ')
  return {
    value: `${wrong.length} wrong of ${grouped(compared)}; ${grouped(writer.written)} writes, ${kills} kills`,
    samples: Math.min(compared, kills, sender.retries, ...writer.counts.values()),
    ok: wrong.length === 0 && writer.failures.length === 0 && kills >= killsMin,
    note: [
      kinds,
      `${grouped(sender.retries)} retries (${sender.reasons()})`,
      ...writer.failures.slice(0, 5),
      ...wrong.slice(0, 20),
    ].join('\n'),
  }
}

async function startOf(reader: Reader, random: Random): Promise<string> {
  const { text } = await reader.read('/api/v1/inventory/product/changes?since=now', random)
  return JSON.parse(text).cursor
}

/** An operator changes records from a file. */
async function importSome(service: Service, model: AuthorModel, random: Random): Promise<void> {
  const ids = random.shuffled(model.ids()).slice(0, 50)
  const name = `imported ${random.digits(12)}`
  const ownerUrl = service.environment['DATABASE_URL'] ?? ''
  const records = ids.map((id) => ({ id, name }))
  await importRecords({ ownerUrl, account, resource: 'product', mode: 'update', records })
  for (const id of ids) model.changed(id, 'import')
}

/** An archive has the authors of its records. Deletions before it are not in the feed any longer. */
async function restore(service: Service, model: AuthorModel): Promise<void> {
  const file = join(service.folder, 'archive.ndjson')
  writeFileSync(file, await service.command(['account', 'export', account]))
  await service.command(['account', 'restore', file, '--replace'])
  model.forgetDeletions()
}
