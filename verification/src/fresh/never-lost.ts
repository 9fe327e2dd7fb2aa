import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { importRecords } from '../../../server/src/import/import-records.ts'
import type { Check, Context } from '../check.ts'
import { Client } from '../client.ts'
import { inParallel } from '../parallel.ts'
import { grouped } from '../progress.ts'
import { Random } from '../random.ts'
import { Service } from '../service.ts'
import { headersOf } from './checker.ts'
import { partnerPath } from './read.ts'

const account = 'walked'
const walksAtOnce = 4

/** Walking all pages by their numbers while records are added behind: each that was there is met, and once. */
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
      const house = { client, ports, key, ownerUrl: service.postgres.url, records }
      return await measure(context, house)
    } finally {
      client.close()
      await service.stop()
    }
  },
}

interface House {
  readonly client: Client
  readonly ports: readonly number[]
  readonly key: string
  readonly ownerUrl: string
  /** What is there throughout: the ids from 1 to this. */
  readonly records: number
}

async function measure(context: Context, house: House) {
  const walks = context.size(20, 3)
  const progress = context.progress('walks', walks)
  const growth = new Growth(house, context.seed)
  const sum = { lost: 0, repeated: 0, pages: 0, met: 0, inserted: 0, still: 0 }
  try {
    await inParallel(walks, walksAtOnce, async (index) => {
      const before = growth.inserted
      const walk = await walkThrough(context, house, index)
      for (const check of ['lost', 'repeated', 'pages', 'met'] as const) sum[check] += walk[check]
      if (growth.inserted === before) sum.still += 1
      progress.step()
    })
  } finally {
    sum.inserted = await growth.end()
    progress.end()
  }
  return {
    value: `${sum.lost} lost, ${sum.repeated} repeated in ${walks} walks`,
    // A walk during which nothing was added shows nothing.
    ok: sum.lost + sum.repeated + sum.still === 0,
    note: `${grouped(sum.pages)} pages, ${grouped(sum.met)} records met; ${grouped(sum.inserted)} added meanwhile`,
  }
}

interface Page {
  readonly data: readonly { readonly id: number }[]
  readonly pagination: { readonly nextPage: number | null }
}

/** Every second walk has a filter, with half of the records. Each page is asked of any process. */
async function walkThrough(context: Context, { client, ports, key, records }: House, index: number) {
  const random = new Random(context.seed, 45, index)
  const limit = context.size(1_000, 100)
  const step = index % 2 === 0 ? 1 : 2
  const filter = step === 1 ? '' : '&filter=is_customer=true'
  const times = new Uint8Array(records + 1)
  const added = new Set<number>()
  const walk = { lost: 0, repeated: 0, pages: 0, met: 0 }
  for (let page: number | null = 1; page !== null; ) {
    const path = `${partnerPath}?fields=id,name&limit=${limit}&page=${page}${filter}`
    const answer = await client.ask({
      port: random.pick(ports),
      path,
      headers: headersOf({ name: account, key }),
    })
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text.slice(0, 300)}`)
    const { data, pagination }: Page = JSON.parse(answer.text)
    for (const { id } of data) {
      if (id <= records) times[id] = (times[id] ?? 0) + 1
      else if (added.has(id)) walk.repeated += 1
      else added.add(id)
    }
    walk.pages += 1
    walk.met += data.length
    page = pagination.nextPage
  }
  for (let id = step; id <= records; id += step) {
    const met = times[id] ?? 0
    if (met === 0) walk.lost += 1
    else walk.repeated += met - 1
  }
  return walk
}

/** Adds records with higher ids all the time: one by one over HTTP, and some at a time by imports. */
class Growth {
  readonly #house: House
  readonly #random: Random
  readonly #ended: Promise<unknown>
  #going = true
  inserted = 0

  constructor(house: House, seed: number) {
    this.#house = house
    this.#random = new Random(seed, 46)
    this.#ended = Promise.all([this.#create(), this.#create(), this.#import()])
    // Told by `end`; until then it is nobody's.
    this.#ended.catch(() => {})
  }

  async end(): Promise<number> {
    this.#going = false
    await this.#ended
    return this.inserted
  }

  async #create(): Promise<void> {
    const { client, ports, key } = this.#house
    while (this.#going) {
      const answer = await client.ask({
        port: this.#random.pick(ports),
        method: 'POST',
        path: partnerPath,
        headers: [...headersOf({ name: account, key }), 'Content-Type', 'application/json'],
        body: '{"name":"added"}',
      })
      if (answer.status !== 201) throw new Error(`create: ${answer.status} ${answer.text.slice(0, 300)}`)
      this.inserted += 1
      await sleep(this.#random.integer(0, 40))
    }
  }

  /** Far above what creates have reached, and further with each: an id that is taken would be an update. */
  async #import(): Promise<void> {
    const { ownerUrl, records } = this.#house
    for (let first = records * 10; this.#going; first += 1_000_000) {
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
