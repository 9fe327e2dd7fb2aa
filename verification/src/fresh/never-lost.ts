import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { importRecords } from '../../../server/src/import/import-records.ts'
import { limits } from '../../../server/src/limits/limits.ts'
import type { Check, Context } from '../check.ts'
import { Client, headersFor } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import { partnerPath } from './read.ts'
import { send } from './writers.ts'

const account = 'paged'
const concurrentReaders = 4

/**
 * Reading all pages by number returns every record that existed before exactly once, and none twice, while records with higher ids are
 * added and deleted, and the existing ones are changed.
 */
export const neverLost: Check = {
  name: 'never_lost',
  bound: '= 0 lost, 0 repeated',
  async run(context) {
    const service = await Service.start({ shared_buffers: '256MB' })
    const client = new Client()
    try {
      const key = await service.account(account)
      const records = context.size(100_000, 5_000)
      await service.command(['import', 'partner', await partnersFile(service, records), '--account', account])
      const ports = [(await service.serve()).port, (await service.serve()).port]
      const fixture = { client, ports, key, ownerUrl: service.postgres.url, records }
      return await measure(context, fixture)
    } finally {
      client.close()
      await service.stop()
    }
  },
}

interface Fixture {
  readonly client: Client
  readonly ports: readonly number[]
  readonly key: string
  readonly ownerUrl: string
  /** The ids 1 to this number exist from the beginning. */
  readonly records: number
}

async function measure(context: Context, fixture: Fixture) {
  const readers = context.size(20, 3)
  const progress = context.progress('readers', readers)
  const growth = new Growth(fixture, context.seed)
  const sum = {
    lost: 0,
    repeated: 0,
    pages: 0,
    records: 0,
    inserted: 0,
    changed: 0,
    deleted: 0,
    unchanged: 0,
  }
  try {
    await inParallel(readers, concurrentReaders, async (index) => {
      const before = growth.inserted
      const result = await readAllPages(context, fixture, index)
      for (const name of ['lost', 'repeated', 'pages', 'records'] as const) sum[name] += result[name]
      if (growth.inserted === before) sum.unchanged += 1
      progress.step()
    })
  } finally {
    await growth.end()
    Object.assign(sum, { inserted: growth.inserted, changed: growth.changed, deleted: growth.deleted })
    progress.end()
  }
  return {
    value: `${sum.lost} lost, ${sum.repeated} repeated by ${readers} readers`,
    // A reader during which nothing was added would prove nothing.
    samples: Math.min(sum.records, sum.inserted),
    ok: sum.lost + sum.repeated + sum.unchanged === 0,
    note: `${grouped(sum.pages)} pages, ${grouped(sum.records)} records read; ${grouped(sum.inserted)} added, ${grouped(sum.changed)} changed and ${grouped(sum.deleted)} deleted meanwhile`,
  }
}

interface Page {
  readonly data: readonly { readonly id: number }[]
  readonly pagination: { readonly nextPage: number | null }
}

/** Every second reader has a filter that half of the records match. Each page is requested from a random process. */
async function readAllPages(context: Context, { client, ports, key, records }: Fixture, index: number) {
  const random = new Random(context.seed, 45, index)
  const limit = context.size(1_000, 100)
  const step = index % 2 === 0 ? 1 : 2
  const filter = step === 1 ? '' : '&filter=is_customer=true'
  const times = new Uint8Array(records + 1)
  const added = new Set<number>()
  const result = { lost: 0, repeated: 0, pages: 0, records: 0 }
  for (let page: number | null = 1; page !== null; ) {
    const path = `${partnerPath}?fields=id,name&limit=${limit}&page=${page}${filter}`
    const response = await client.sendUntilAccepted({
      port: random.pick(ports),
      path,
      headers: headersFor(account, key),
    })
    if (response.status !== 200) throw new Error(`${path}: ${response.status} ${response.text.slice(0, 300)}`)
    const { data, pagination }: Page = JSON.parse(response.text)
    for (const { id } of data) {
      // Imports add records before these, so that they move to later pages.
      if (id > limits.externalIdMax) continue
      if (id <= records) times[id] = (times[id] ?? 0) + 1
      else if (added.has(id)) result.repeated += 1
      else added.add(id)
    }
    result.pages += 1
    result.records += data.length
    page = pagination.nextPage
  }
  for (let id = step; id <= records; id += step) {
    const count = times[id] ?? 0
    if (count === 0) result.lost += 1
    else result.repeated += count - 1
  }
  return result
}

/**
 * Continuously adds records with higher ids: one at a time over HTTP, and up to 50 at a time by imports. Deletes some of those
 * that were added over HTTP, and changes the names of earlier records by patches and batches.
 */
class Growth {
  readonly #fixture: Fixture
  readonly #random: Random
  readonly #ended: Promise<unknown>
  readonly #created: number[] = []
  #isRunning = true
  inserted = 0
  changed = 0
  deleted = 0

  constructor(fixture: Fixture, seed: number) {
    this.#fixture = fixture
    this.#random = new Random(seed, 46)
    this.#ended = Promise.all([
      this.#create(),
      this.#create(),
      this.#import(),
      this.#delete(),
      this.#patch(),
      this.#batch(),
    ])
    // Prevents an unhandled rejection; `end` throws the error.
    this.#ended.catch(() => {})
  }

  async end(): Promise<void> {
    this.#isRunning = false
    await this.#ended
  }

  #writes = 0

  async #create(): Promise<void> {
    while (this.#isRunning) {
      const text = await this.#send('POST', '', 'application/json', '{"name":"added"}', 201)
      const { data }: { data: { id: number } } = JSON.parse(text)
      this.#created.push(data.id)
      this.inserted += 1
      await sleep(this.#random.integer(0, 40))
    }
  }

  async #delete(): Promise<void> {
    while (this.#isRunning) {
      const id = this.#created.shift()
      if (id !== undefined) {
        await this.#send('DELETE', `/${id}`, undefined, undefined, 204)
        this.deleted += 1
      }
      await sleep(this.#random.integer(0, 200))
    }
  }

  async #patch(): Promise<void> {
    while (this.#isRunning) {
      const id = this.#random.integer(1, this.#fixture.records)
      await this.#send('PATCH', `/${id}`, 'application/merge-patch+json', this.#anyName(), 200)
      this.changed += 1
      await sleep(this.#random.integer(0, 40))
    }
  }

  async #batch(): Promise<void> {
    while (this.#isRunning) {
      const first = this.#random.integer(1, this.#fixture.records - 50)
      const rows = Array.from({ length: 50 }, (_, at) => `{"id":${first + at},${this.#anyName().slice(1)}\n`)
      const text = await this.#send('POST', '/batch', 'application/x-ndjson', rows.join(''), 200)
      const { $end }: { $end?: { updated: number } } = JSON.parse(text)
      this.changed += $end?.updated ?? 0
      await sleep(this.#random.integer(0, 100))
    }
  }

  #anyName(): string {
    return JSON.stringify({ name: `changed ${this.#random.digits(6)}` })
  }

  async #send(method: string, path: string, type?: string, body?: string, expected = 200): Promise<string> {
    const { client, ports, key } = this.#fixture
    this.#writes += 1
    const sent = {
      method,
      path: partnerPath + path,
      expected,
      ...(path === '/batch' ? { isRepeatable: true } : { key: `write ${this.#writes}` }),
      ...(type === undefined ? {} : { type }),
      ...(body === undefined ? {} : { body }),
    }
    return await send({ name: account, key }, { client, ports, random: this.#random }, sent)
  }

  /** Imports ids far above those of the creates, higher each time: an existing id would be an update. */
  async #import(): Promise<void> {
    const { ownerUrl, records } = this.#fixture
    for (let first = records * 10; this.#isRunning; first += 1_000_000) {
      const rows = Array.from({ length: this.#random.integer(1, 50) }, (_, at) => ({
        id: first + at * 3,
        name: 'imported',
        is_customer: at % 2 === 0,
      }))
      const totals = await importRecords({ ownerUrl, account, resource: 'partner', records: rows })
      this.inserted += totals.inserted
      await sleep(this.#random.integer(0, 100))
    }
  }
}

async function partnersFile(service: Service, records: number): Promise<string> {
  const path = join(service.folder, 'partners.ndjson')
  const file = createWriteStream(path)
  for (let id = 1; id <= records; id++)
    file.write(`${JSON.stringify({ id, name: `partner ${id}`, is_customer: id % 2 === 0 })}\n`)
  file.end()
  await finished(file)
  return path
}
