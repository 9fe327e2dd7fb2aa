import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { withClient } from '../../../server/src/postgres/client.ts'
import type { Change, ReceivedMessage, Receiver, Response } from '../../../server/test/webhook-receiver.ts'
import type { Check, Context } from '../check.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { waitUntil } from '../wait-until.ts'
import { account, addWebhook, startWebhookFixture, type WebhookFixture } from './webhook-fixture.ts'
import { type WriterKind, type Writing, writeOnce } from './writers.ts'

const program = fileURLToPath(new URL('webhook-sender.ts', import.meta.url))
const writers: readonly WriterKind[] = ['create', 'patch', 'delete', 'batch', 'import']
const senders = 3
/** More than a sender waits for a response. */
const senderTimeoutMs = 2000
const filter = 'active=true'

/**
 * Processes that deliver webhooks are killed again and again while others write, and receivers fail at random, also after they
 * have processed a message. In the end each receiver must have what the table has, and no record may have gone back to an
 * earlier version.
 */
export const webhookKills: Check = {
  name: 'webhook_kills',
  bound: '= 0 lost, 0 back',
  async run(context) {
    const fixture = await startWebhookFixture()
    try {
      return await measure(context, fixture)
    } finally {
      await fixture.stop()
    }
  },
}

/** What a receiver has: the last version of each record. It ignores messages whose id it knows. */
class Copy {
  readonly records = new Map<number, { readonly version: number; readonly name: unknown }>()
  readonly #versions = new Map<number, number>()
  readonly #ids = new Set<string>()
  back = 0
  messages = 0
  repeated = 0

  apply({ id, data }: ReceivedMessage): void {
    this.messages += 1
    for (const { id: record, version } of data.changes ?? []) {
      if (version < (this.#versions.get(record) ?? 0)) this.back += 1
      this.#versions.set(record, version)
    }
    if (this.#ids.has(id)) {
      this.repeated += 1
      return
    }
    this.#ids.add(id)
    for (const change of data.changes ?? []) this.#apply(change)
  }

  #apply({ id, version, record }: Change): void {
    if (record === undefined) this.records.delete(id)
    else this.records.set(id, { version, name: record['name'] })
  }
}

async function measure(context: Context, fixture: WebhookFixture) {
  const { service, receiver, client, key, environment } = fixture
  const { port } = await service.serve({ ...environment, QUARTERMASTER_WEBHOOK_DELIVERY: 'off' })
  const copies = new Map<string, { readonly copy: Copy; readonly filter: string | null }>()
  for (const one of [null, null, null, null, null, filter, filter, filter]) {
    const id = await addWebhook(fixture, port, { filter: one, fields: ['name'], since: 'beginning' })
    copies.set(id, { copy: new Copy(), filter: one })
  }
  const random = new Random(context.seed, 80)
  let failing = true
  receiver.respond = async (message): Promise<Response> => {
    await sleep(random.integer(0, 150))
    if (failing && random.chance(0.1)) return { status: 503 }
    copies.get(message.data.webhook)?.copy.apply(message)
    if (!failing || random.chance(0.8)) return { status: 204 }
    // The message was processed, but the sender does not know it: another status, or no response in time.
    if (random.chance(0.2)) await sleep(senderTimeoutMs * 2)
    return { status: 500 }
  }
  const writing: Writing = {
    client,
    ports: [port],
    ownerUrl: service.postgres.url,
    account,
    key,
    records: 300,
  }
  const kills = context.size(100, 8)
  const progress = context.progress('kills', kills)
  const settings = { ...process.env, ...service.environment, ...environment }
  const { writes, last } = await whileWriting(writing, context.seed, () =>
    killSenders(receiver, settings, kills, random, () => progress.step()),
  )
  progress.end()
  failing = false
  try {
    await waitUntil(() => isCaughtUp(service.postgres.url), 600_000, 'not everything was delivered')
  } finally {
    await Promise.all(last.map(kill))
  }
  return await compared(fixture, copies, { kills, writes })
}

/** Returns the processes that run in the end. */
async function killSenders(
  receiver: Receiver,
  env: NodeJS.ProcessEnv,
  kills: number,
  random: Random,
  onKill: () => void,
): Promise<ChildProcess[]> {
  const start = () => spawn(process.execPath, [program], { env, stdio: 'ignore' })
  let left = kills
  const chains = Array.from({ length: senders }, async () => {
    let sender = start()
    while (left > 0) {
      left -= 1
      await someMessages(receiver, random)
      await kill(sender)
      onKill()
      sender = start()
    }
    return sender
  })
  return await Promise.all(chains)
}

/** Processes are killed while they send, not while they start. */
async function someMessages({ messages }: Receiver, random: Random): Promise<void> {
  const count = messages.length + random.integer(2, 12)
  const until = Date.now() + 15_000
  while (messages.length < count && Date.now() < until) await sleep(20)
  await sleep(random.integer(0, 100))
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

async function whileWriting(
  writing: Writing,
  seed: number,
  work: () => Promise<ChildProcess[]>,
): Promise<{ writes: number; last: ChildProcess[] }> {
  const done = new AbortController()
  let writes = 0
  const loops = writers.map(async (kind, at) => {
    const random = new Random(seed, 81, at)
    while (!done.signal.aborted) {
      if (await writeOnce(kind, writing, random)) writes += 1
      await sleep(random.integer(20, 200))
    }
  })
  try {
    const last = await Promise.race([work(), ...loops.map((loop) => loop.then((): ChildProcess[] => []))])
    return { writes, last }
  } finally {
    done.abort()
    await Promise.all(loops)
  }
}

async function isCaughtUp(url: string): Promise<boolean> {
  await sleep(500)
  return withClient(url, async (client) => {
    const { rowCount } = await client.query(
      `select from webhook w join tally t on t.account_id = w.account_id and t.resource = w.resource
       where w.status <> 'active' or (w.position_version, w.position_id) <> (t.version, 9223372036854775807)`,
    )
    return rowCount === 0
  })
}

async function compared(
  { service }: WebhookFixture,
  copies: ReadonlyMap<string, { readonly copy: Copy; readonly filter: string | null }>,
  { kills, writes }: { readonly kills: number; readonly writes: number },
) {
  const { rows } = await withClient(service.postgres.url, (client) =>
    client.query<{ id: number; version: number; name: string; active: boolean }>(
      'select id::float8, version::float8, name, active from product order by id',
    ),
  )
  const lost: string[] = []
  for (const [id, { copy, filter: selects }] of copies) {
    const expected = new Map(
      rows.filter(({ active }) => selects === null || active).map((row) => [row.id, row]),
    )
    for (const record of new Set([...expected.keys(), ...copy.records.keys()])) {
      const [right, got] = [expected.get(record), copy.records.get(record)]
      if (right?.version !== got?.version || right?.name !== got?.name)
        lost.push(`${id}: product ${record} is ${JSON.stringify(right)}, received ${JSON.stringify(got)}`)
    }
  }
  const all = [...copies.values()].map(({ copy }) => copy)
  const sum = (count: (copy: Copy) => number) => all.reduce((total, copy) => total + count(copy), 0)
  const back = sum((copy) => copy.back)
  return {
    value: `${lost.length} lost, ${back} back, ${kills} kills`,
    samples: Math.min(
      rows.length,
      copies.size,
      sum((copy) => copy.messages),
    ),
    ok: lost.length === 0 && back === 0 && rows.length > 0 && sum((copy) => copy.repeated) > kills / 10,
    note: [
      `${grouped(writes)} writes, ${copies.size} endpoints, ${grouped(rows.length)} records, ${grouped(sum((copy) => copy.messages))} messages, ${sum((copy) => copy.repeated)} of them repeated`,
      ...lost.slice(0, 5),
    ].join('\n'),
  }
}
